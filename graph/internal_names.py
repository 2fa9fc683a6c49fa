"""Which words of a question name something inside a company, judged by their shape.

A host, an id or a ticket looks like `db-orders-02`, `7d9f8b6c5d`, `PAY-1234`; a public identifier
looks like `CrashLoopBackOff`, `ERR_CONNECTION_RESET`, `ORA-01555`, `net.ipv4.tcp_tw_reuse`. Where
a shape can be both, it counts as internal: a search loses one word, a company loses nothing.
"""

from __future__ import annotations

import re
from itertools import pairwise

TOKEN = re.compile(r"[^\W_]+(?:[._\-]+[^\W_]+)*")
"""A word with its inner dots, underscores and hyphens."""


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_PUBLIC_DOTTED = _words(
    "node.js next.js vue.js asp.net vb.net socket.io draw.io k8s.io kubernetes.io docker.io"
    " cert-manager.io github.com gitlab.com"
)
_EXTENSIONS = _words(
    "conf cfg ini yaml yml json toml xml env lock log md txt rst csv html css py js ts go java rs"
    " rb php c h cpp cs kt sh bash ps1 sql tf hcl service socket timer pid sock so dll exe jar war"
    " tar gz zip pem crt key"
)
_CONFIG_ROOTS = _words(
    "net vm fs kernel user java javax jdk jvm sun spark hadoop hive spring server client broker"
    " producer consumer max min log spec status metadata data cluster index indices discovery"
    " innodb git http https ssl security core remote branch"
)
# First parts after which a number is a standard, an encoding, a code or a version.
_NUMBERED_PUBLICLY = _words(
    "utf iso koi8 sha md aes rsa x86 http https tls ssl rfc cve ghsa kb ora tns pep ieee ecma cp"
    " windows python java gpt e err error errno exit code status signal sqlstate pgsql"
    " layer tier phase step level top ipv base cwe pci soc nist jsr jep"
)
_ROLES = (
    "web|app|db|srv|server|node|host|vm|prod|stage|staging|stg|dev|test|worker|master|gw|lb|dc"
    "|bastion|jump|proxy|mx|dns|ci|runner|build|nas|esxi?|hv|cache|queue|primary|replica"
)
_ROLE = re.compile(_ROLES)
_NUMBERED_ROLE = re.compile(rf"(?:{_ROLES})\d{{1,4}}|[^\W\d]{{2,}}0\d{{1,3}}")
_PUBLIC_SINGLE = frozenset({"db2", "web2", "web3"})
_ENVIRONMENTS = _words("prod production prd staging stage stg uat preprod")
_PREFIXES = _words("non pre post to in like only ready grade multi single blue green is the a")
_REGION = re.compile(
    r"(?:us|eu|ap|sa|ca|me|af|il|cn)(?:-gov)?-(?:north|south|east|west|central)+-?\d[a-f]?"
    r"|(?:us|europe|asia|australia)-(?:north|south|east|west|central)+\d(?:-[a-f])?"
)
_VERSION = re.compile(
    r"(?:[^\W\d_]+-?)?v?\d+(?:\.\d+|\.x){1,2}[a-z]{0,2}"  # 1.29, python-3.11, TLS1.3, 802.11ac
    r"(?:[-.](?:rc|alpha|beta|dev|post|lts|ga)\.?\d*)?"
    r"|[a-z]{1,2}\d[a-z]{0,3}\.(?:\d*xlarge|large|medium|small|micro|nano|metal)"
)
_ERROR_CODE = re.compile(
    r"(?:ERR|ERROR|E|HTTP|SSL|TLS|NS|WIN|STATUS|SIG|PR|SEC|MOZILLA)_[A-Z0-9_]+"
)
_ABBREVIATION = re.compile(r"[^\W\d_](?:\.[^\W\d_])+")
_HEX = re.compile(r"[0-9a-f]+")
_PUBLIC_HEX_CODE = re.compile(r"0x[0-9a-f]{1,8}")
_CHAT_ID = re.compile(r"[UCWDGTB](?=[A-Z0-9]*\d)[A-Z0-9]{8,10}")
_CYRILLIC = re.compile(r"[а-яё]")
_CYRILLIC_ZONES = _words("рф рус онлайн сайт москва дети орг бел укр қаз")
_SHORT_NUMBER, _LONG_NUMBER, _SHORT_HEX, _LONG_HEX, _LONG_MIXED = 4, 7, 7, 12, 16
_RANDOM_CHANGES = 3
_IPV4_LABELS = 4


def public_part(token: str) -> str:
    """What of a TOKEN may leave the house: all, its last label, or "" for an internal name."""
    if "." in token:
        return _dotted(token)
    if "-" in token or "_" in token:
        return "" if _joined_is_internal(token) else token
    return "" if _single_is_internal(token) else token


def _dotted(token: str) -> str:
    low, labels = token.lower(), token.split(".")
    last = labels[-1]
    if all(label.isdigit() for label in labels):
        return "" if len(labels) >= _IPV4_LABELS else token
    if low in _PUBLIC_DOTTED or _VERSION.fullmatch(low) or _ABBREVIATION.fullmatch(low):
        return token
    if _CYRILLIC.search(low):  # a full stop without a space after it, or a host
        return "" if low.rsplit(".", 1)[-1] in _CYRILLIC_ZONES else " ".join(filter(None, labels))
    if _is_mixed_case(last):  # a class in its package
        return "" if _single_is_internal(last) else last
    if len(labels) == 2 and last.lower() in _EXTENSIONS:  # noqa: PLR2004 - name and suffix
        return token if public_part(labels[0]) else ""
    return token if labels[0].lower() in _CONFIG_ROOTS and low == token else ""


def _is_mixed_case(word: str) -> bool:
    return not word.islower() and not word.isupper() and word.isalnum() and word[:1].isalpha()


def _joined_is_internal(token: str) -> bool:
    low = token.lower()
    parts = re.split(r"[-_]+", low)
    if any(_is_random(part) for part in parts) or _names_environment(parts):
        return True
    if not any(ch.isdigit() for ch in low) or _REGION.fullmatch(low):
        return False
    if _is_numbered_publicly(parts) or _ERROR_CODE.fullmatch(token):
        return False
    if all(part.isdigit() for part in parts):
        return len(parts) > 2 or max(map(len, parts)) > _SHORT_NUMBER  # noqa: PLR2004 - a range
    if parts[0].isdigit() and all(part.isalpha() for part in parts[1:]):  # 5-minute
        return False
    return _looks_numbered(parts, metric="_" in token and "-" not in token)


def _names_environment(parts: list[str]) -> bool:
    """True for payments-api-prod and staging_orders; not for non-prod and pre-production."""
    others = [part for part in parts if part not in _ENVIRONMENTS]
    return len(others) < len(parts) and any(part not in _PREFIXES for part in others)


def _is_numbered_publicly(parts: list[str]) -> bool:
    """True for sha-256 and windows-cp-1251; not for db-cp-01, where cp is part of a place."""
    if parts[0] in _NUMBERED_PUBLICLY:
        return True
    of_a_machine = _ROLE.fullmatch(parts[0]) or parts[-1].startswith("0")
    return parts[-2] in _NUMBERED_PUBLICLY and not of_a_machine


def _looks_numbered(parts: list[str], metric: bool) -> bool:
    """True for names with a running number, a numbered role or a random tail."""
    if parts[-1].isdigit() or any(_NUMBERED_ROLE.fullmatch(part) for part in parts):
        return True
    if any(_alternates(part) for part in parts):
        return True
    return not metric and len(parts) > 2  # noqa: PLR2004 - word and version, as in api-v2


def _single_is_internal(token: str) -> bool:
    low = token.lower()
    if low.isdigit():
        return len(low) >= _LONG_NUMBER
    if low.startswith("0x"):
        return not _PUBLIC_HEX_CODE.fullmatch(low)
    if _CHAT_ID.fullmatch(token) or _is_random(low):
        return True
    return low not in _PUBLIC_SINGLE and _NUMBERED_ROLE.fullmatch(low) is not None


def _is_random(low: str) -> bool:
    """True for hashes, keys and tokens: long runs that mix digits and letters."""
    if _HEX.fullmatch(low) and not low.isdigit():
        return len(low) >= _LONG_HEX or (_has_both(low) and len(low) >= _SHORT_HEX)
    return _has_both(low) and len(low) >= _LONG_MIXED


def _alternates(part: str) -> bool:
    """True for a generated tail such as x2k4q: digits and letters change places three times."""
    kinds = [ch.isdigit() for ch in part]
    return sum(a != b for a, b in pairwise(kinds)) >= _RANDOM_CHANGES


def _has_both(word: str) -> bool:
    return any(ch.isdigit() for ch in word) and any(ch.isalpha() for ch in word)
