"""Secrets in documents: masked before anything is embedded, stored or shown.

Values go, names stay: "the password is in DB_PASSWORD" is knowledge, its value is not. Runbooks are
full of placeholders and of names of secrets (`kubectl create secret generic db-creds`), so a value
after "password:" or "token=" is masked only when it looks like one.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise

MASK = "[masked]"

_FILES = re.compile(
    r"\.env(?:\.(?!example$|sample$|template$|dist$).+)?|.+\.env"
    r"|id_(?:rsa|dsa|ecdsa|ed25519)(?:_sk)?(?:\.old|\.bak)?"
    r"|.+\.(?:pem|key|p12|pfx|jks|keystore|kdbx|kdb|ppk|ovpn|tfstate|tfvars|asc|gpg)"
    r"|[._]netrc|\.pgpass|\.my\.cnf|\.npmrc|\.pypirc|\.htpasswd|\.git-credentials|\.dockercfg"
    r"|(?:.+\.)?kubeconfig|credentials|secrets?\.(?:ya?ml|json|toml)|.+\.secrets?\.(?:ya?ml|json)"
    r"|vault[_-]pass(?:word)?(?:\.txt)?",
    re.IGNORECASE,
)
_FOLDERS = frozenset({".git", ".ssh", ".gnupg", ".aws", ".kube"})

_TOKENS = {
    "AWS key": r"(?<![A-Z0-9])(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16}(?![A-Z0-9])",
    "Slack token": r"\bxox[abeoprs]-[\w-]{8,}|\bxapp-\d-[\w-]{8,}",
    "Slack webhook": r"(?<=hooks\.slack\.com/services/)T\w{4,}/B\w{4,}/\w{8,}",
    "webhook": r"(?<=/api/webhooks/)\d{6,}/[\w-]{8,}|(?<=\.webhook\.office\.com/)webhookb2/\S{8,}",
    "age key": r"\bAGE-SECRET-KEY-1[A-Z0-9]{20,}",
    "GitHub token": r"\bgh[oprsu]_[A-Za-z0-9]{20,}|\bgithub_pat_\w{20,}",
    "GitLab token": r"\bgl(?:pat|rt|dt|ptt|cbt|soat)-[\w-]{16,}",
    "API key": r"\bsk-[\w-]{16,}|\b[rs]k_(?:live|test)_\w{10,}|\bAIza[\w-]{30,}"
    r"|\bSG\.[\w-]{16,}\.[\w-]{16,}|\bya29\.[\w-]{20,}|\bdop_v1_[0-9a-f]{32,}",
    "package token": r"\bnpm_[A-Za-z0-9]{30,}|\bpypi-[\w-]{40,}",
    "Vault token": r"\bhv[sbr]\.[\w-]{20,}",
    "Telegram token": r"(?<!\d)\d{8,10}:AA[\w-]{33}(?![\w-])",
    "JSON web token": r"\beyJ[\w-]{8,}\.eyJ[\w-]{8,}\.[\w-]{8,}",
}
_TOKEN = re.compile(
    "|".join(f"(?P<t{number}>{pattern})" for number, pattern in enumerate(_TOKENS.values()))
)
_TOKEN_NAMES = tuple(_TOKENS)

_KEY_BLOCK = re.compile(
    r"(?P<open>-----BEGIN (?:[A-Z0-9]+ ){0,3}PRIVATE KEY(?: BLOCK)?-----)"
    r"(?:(?P<body>(?:[^-]|-(?!----)){0,20000})(?P<close>-----END [A-Z0-9 ]{0,40}-----)"
    r"|(?P<rest>[\w+/=\\]*(?:\n[ \t>|\"']*[\w+/=\\]{4,}[\"',]*[ \t]*(?=\n|\Z))*))"
)
_URL = re.compile(
    r"(?P<head>\b[a-z][a-z0-9+.-]{1,20}://[^\s:/@\"'`<>]{0,100}:)"
    r"(?P<value>[^\s/@\"'`<>][^\s/\"'`]{0,200})(?=@[\w.\[<{$])",
    re.IGNORECASE,
)
_BEARER = re.compile(
    r"(?P<head>\bauthorization[\"']?\s{0,2}[:=]\s{0,2}[\"']?(?:bearer|basic|token)\s)"
    r"(?P<value>[^\s\"'`]{8,2000})",
    re.IGNORECASE,
)
_LOGIN_WORDS = "password|passwd|passphrase|pwd|(?<=[_-])pass(?![a-z])|пароль"
_KEY_WORDS = (
    r"secret|(?<!publickey)token|(?:api|access|private|account|signing|encryption|master)[_-]?key"
    r"|credentials?"
    r"|токен|секрет"
)
_ASSIGNMENT = re.compile(
    rf"(?P<head>(?P<key>(?P<password>{_LOGIN_WORDS})|{_KEY_WORDS})"
    r"(?:[_-]?(?:access|secret|key|value|base|hash)){0,3}"
    r"(?P<mark>[\"'`*_\]]{0,4}\s{0,3}(?:[:=]|:=|=>|\|)[*_]{0,3}\s{0,3}))"
    r"(?P<quote>[\"'`]?)(?P<value>[^\s\"'`|]{4,400})",
    re.IGNORECASE,
)
_OPTION = re.compile(
    rf"(?P<head>(?<![\w-])--(?:[a-z]{{1,20}}-){{0,3}}(?P<key>(?P<password>{_LOGIN_WORDS})"
    rf"|{_KEY_WORDS})(?P<mark>\s{{1,3}}))"
    r"(?P<quote>[\"']?)(?P<value>[^\s\"'`|-][^\s\"'`|]{3,400})",
    re.IGNORECASE,
)
_LOGIN = (
    re.compile(  # curl -u ann:secret, mysql -psecret, sshpass -p secret, login ann password secret
        r"(?P<head>\bcurl\b[^\n|;]{0,300}?\s(?:-u|--user|--proxy-user)[ =]?[\"']?[^\s:\"'`]{1,100}:"
        r"|\b(?:mysql\w*|mariadb[\w-]*)\b[^\n|;]{0,300}?\s-p(?=\S)[\"']?"
        r"|\bsshpass\s+-p\s*[\"']?"
        r"|\blogin\s+\S{1,100}\s+password\s+)"
        r"(?P<value>[^\s\"'`|]{4,200})",
        re.IGNORECASE,
    )
)
_ATTRIBUTE = re.compile(
    rf"(?P<head>\b(?:key|name)=[\"'][^\"'\n]{{0,80}}(?:{_LOGIN_WORDS}|{_KEY_WORDS})[^\"'\n]{{0,40}}[\"']"
    r"\s{1,20}value=[\"'])(?P<value>[^\"'\n]{4,400})",
    re.IGNORECASE,
)
_SENTENCE = re.compile(
    r"(?P<head>\b(?:password|passphrase|пароль)(?P<said>\s+(?:is|was|это)|\s*[-–—])?\s+[\"'`*]{0,3})"
    r"(?P<value>(?=\S{0,40}\d)(?=\S{0,40}[^\W\d_])(?=\S{0,40}[A-ZА-Я!#$%^&])[^\s\"'`|*]{6,100}[^\s\"'`|*.,;:])",
    re.IGNORECASE,
)
_PLACEHOLDER = re.compile(
    r"[<{$%\[(@&*…].*"  # <password>, ${VAR}, %s, [masked], $(command)
    r"|.*(?:\$\{|\$\(|\{\{|\[masked\]|\.\.\.$).*"
    r"|(?P<same>.)(?P=same)*"  # xxxx, ****
    r"|(?:your|my|some|any|new|old|the|example|sample|dummy|fake|insert|replace)[-_].*"
    r"|\w+\(.*|\w+(?:\.\w+)+[\[(].*"  # a call
    r"|(?:https?://|/|\./|~/|[A-Za-z]:\\).*",  # where it is kept
    re.IGNORECASE,
)
_WORD_TEXT = (
    "required optional string none null nil true false yes no unknown empty example sample prompt "
    "password passwd secret token changeme change-me default redacted masked hidden reset expired "
    "expires invalid missing rotate rotation policy text plain file path name bytes int integer "
    "object undefined todo tbd here there with from this that must should vault keychain keepass "
    "1password bitwarden lastpass random generated encrypted"
)
_WORDS = frozenset(_WORD_TEXT.split())
_NAME = re.compile(r"[a-z]+(?:[-_./][a-z0-9]{1,14})*|[A-Z]+(?:_[A-Z0-9]+)+", re.ASCII)
_DOCUMENT = re.compile(r"^[ \t]*(?:---|```|~~~).*$", re.MULTILINE)
_MANIFEST = re.compile(r"^[ \t]*kind:\s*[\"']?Secret[\"']?\s*$", re.MULTILINE)
_DATA = re.compile(
    r"^(?P<indent>[ \t]*)(?:data|stringData):[ \t]*\n"
    r"(?:(?P=indent)[ \t]+.*(?:\n|\Z)|[ \t]*\n)+",
    re.MULTILINE,
)
_ENTRY = re.compile(r"^(?P<head>[ \t]+[\w.-]+:[ \t]+)(?P<value>\S.*)$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Masked:
    """A secret that was found: what it is, and in which line (from 1)."""

    line: int
    kind: str


def is_secret_file(path: str) -> bool:
    """True for key files, credential stores and git data, which are never indexed."""
    parts = [part for part in path.split("/") if part not in ("", ".")]
    return any(part in _FOLDERS for part in parts) or (
        bool(parts) and _FILES.fullmatch(parts[-1]) is not None
    )


def mask(text: str) -> str:
    """`text` with the values of secrets replaced by a mark; its line numbers stay."""
    return find(text)[0]


def hidden(text: str) -> str:
    """A question without the values of secrets: no document holds them, and neither a model nor
    an answer is to repeat them. Unlike MASK the sign is no word that is then looked for."""
    return mask(text).replace(MASK, "***")


def find(text: str) -> tuple[str, tuple[Masked, ...]]:
    """The masked text, and where something was masked."""
    found: list[Masked] = []
    folded = text.lower()
    for hints, pattern, replace in _RULES:
        if any(hint in folded for hint in hints):
            text = _apply(text, pattern, replace, found)
    if _MANIFEST.search(text):
        text = _manifests(text, found)
    return text, tuple(sorted(set(found), key=lambda item: item.line))


Replacement = Callable[[re.Match[str]], "tuple[str, str] | None"]


def _apply(text: str, pattern: re.Pattern[str], replace: Replacement, found: list[Masked]) -> str:
    parts: list[str] = []
    position, line = 0, 1
    for match in pattern.finditer(text):
        result = replace(match)
        if result is None:
            continue
        between = text[position : match.start()]
        line += between.count("\n")
        parts += (between, result[0])
        found.append(Masked(line, result[1]))
        line += match.group().count("\n")
        position = match.end()
    return "".join((*parts, text[position:])) if parts else text


def _key_block(match: re.Match[str]) -> tuple[str, str]:
    lines = "\n" * (match.group("body") or match.group("rest") or "").count("\n")
    return f"{match.group('open')}{MASK}{lines}{match.group('close') or ''}", "private key"


def _token(match: re.Match[str]) -> tuple[str, str]:
    number = int((match.lastgroup or "t0")[1:])
    return MASK, _TOKEN_NAMES[number]


def _value(kind: str) -> Replacement:
    def replace(match: re.Match[str]) -> tuple[str, str] | None:
        value = match.group("value")
        if _PLACEHOLDER.fullmatch(value) or value.lower() in _WORDS:
            return None
        return match.group("head") + MASK, kind

    return replace


def _assignment(match: re.Match[str]) -> tuple[str, str] | None:
    value = match.group("value")
    core = value.rstrip(".,;:)]}>*_\\")
    if not core or _PLACEHOLDER.fullmatch(core) or core.lower() in _WORDS:
        return None
    looks = _like_password if match.group("password") else _like_key
    if not looks(match, core):
        return None
    kind = "password" if match.group("password") else "key or token"
    return match.group("head") + match.group("quote") + MASK + value[len(core) :], kind


def _spoken(match: re.Match[str]) -> tuple[str, str] | None:
    """A password in a sentence: letters, a digit and a sign, or after "is" a capital letter."""
    value, said = match.group("value"), match.group("said")
    strong = any(ch in "!#$%^&" or (said and ch.isupper()) for ch in value)
    return _value("password")(match) if strong else None


def _like_password(match: re.Match[str], value: str) -> bool:
    """One token that ends the line, stands in quotes or is no plain word."""
    firm = bool(match.group("quote")) or "=" in match.group("mark")
    if value.isalpha():
        return firm or (match.group("key").islower() and value.isascii() and _ends_line(match))
    if match.group("mark").strip() and not firm and not _ends_line(match):
        return _mixed(value)
    return firm or _mixed(value) or not _NAME.fullmatch(value)


def _like_key(match: re.Match[str], value: str) -> bool:
    """Long enough, and no name: keys and tokens look random."""
    if len(value) < 8 or _NAME.fullmatch(value):  # noqa: PLR2004
        return False
    return _mixed(value)


def _ends_line(match: re.Match[str]) -> bool:
    rest = match.string[match.end() : match.end() + 3]
    return not rest.strip(" \t\"'`;,") or rest.lstrip(" \t\"'`;,").startswith("\n")


def _mixed(value: str) -> bool:
    classes = (
        any(ch.islower() for ch in value)
        + any(ch.isupper() for ch in value)
        + any(ch.isdigit() for ch in value)
        + any(not ch.isalnum() for ch in value)
    )
    return classes > 1 or (value.isdigit() and len(value) > 15)  # noqa: PLR2004


def _manifests(text: str, found: list[Masked]) -> str:
    """Masks the values under `data` and `stringData` of Kubernetes secrets."""
    borders = [0, *(match.start() for match in _DOCUMENT.finditer(text)), len(text)]
    parts: list[str] = []
    line = 1
    for start, end in pairwise(borders):
        document = text[start:end]
        if _MANIFEST.search(document):
            inside: list[Masked] = []
            document = _apply(document, _DATA, _data(inside), [])
            found += [Masked(item.line + line - 1, item.kind) for item in inside]
        line += document.count("\n")
        parts.append(document)
    return "".join(parts)


def _data(found: list[Masked]) -> Replacement:
    def replace(match: re.Match[str]) -> tuple[str, str]:
        inside: list[Masked] = []
        entries = _apply(match.group(), _ENTRY, _value("value in a Kubernetes secret"), inside)
        above = match.string.count("\n", 0, match.start())
        found.extend(Masked(item.line + above, item.kind) for item in inside)
        return entries, ""

    return replace


_KEY_HINTS = ("passw", "_pass", "-pass", "passphrase", "pwd", "пароль", "secret", "token", "key",
              "credential", "токен", "секрет")  # fmt: skip
_TOKEN_HINTS = ("akia", "asia", "abia", "acca", "xox", "xapp-", "hooks.slack", "gho_", "ghp_",
                "ghr_", "ghs_", "ghu_", "github_pat_", "gl", "sk-", "sk_", "rk_", "aiza", "sg.",
                "ya29.", "dop_", "npm_", "pypi-", "hv", "eyj", ":aa", "webhook",
                "age-secret")  # fmt: skip
_RULES: tuple[tuple[tuple[str, ...], re.Pattern[str], Replacement], ...] = (
    (("private key",), _KEY_BLOCK, _key_block),
    (_TOKEN_HINTS, _TOKEN, _token),
    (("://",), _URL, _value("password in an address")),
    (("authorization",), _BEARER, _value("authorization header")),
    (("curl", "mysql", "mariadb", "sshpass", "login"), _LOGIN, _value("password")),
    (("value=",), _ATTRIBUTE, _value("key or token")),
    (("--",), _OPTION, _assignment),
    (_KEY_HINTS, _ASSIGNMENT, _assignment),
    (("password", "passphrase", "пароль"), _SENTENCE, _spoken),
)
