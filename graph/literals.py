"""What an answer must not invent: commands, code, addresses, paths, names with digits, numbers.

`literals` reads them from a piece of an answer; graph/evidence.py says which the passages hold.
Ordinals of lists, step numbers and citation marks claim nothing.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

from graph import quantities
from graph.blocks import Block, Kind, code_spans
from graph.marks import MARK
from graph.text import has_odd_letters, holds_any, stop_words


class Claim(StrEnum):
    COMMAND = "command"  # a line of a fence: whole in the source, not its beginning
    COMMENT = "comment"  # beside a command: in the source as it is, or holding no unknown literal
    CODE = "code"  # an inline span, or a command without back-quotes
    URL = "url"
    EMAIL = "email"
    ADDRESS = "address"
    HOST = "host"  # any dotted name: hosts, files, settings
    PATH = "path"
    OPTION = "option"
    NAME = "name"  # an identifier with a digit or an underscore
    NUMBER = "number"
    DATE = "date"
    TIME = "time"


@dataclass(frozen=True, slots=True)
class Literal:
    kind: Claim
    text: str


_FOLDS = {
    **dict.fromkeys("“”„«»″", '"'),
    **dict.fromkeys("‘’‚′", "'"),
    **dict.fromkeys("‐‑‒–—−", "-"),
}
_FOLDED = re.compile(f"[{''.join(_FOLDS)}]")
_ESCAPED = re.compile(r"\\([\\`*_{}\[\]()#+\-.!|<>~])")
# Each alternative begins with its character and looks back over it: scanning is then fast.
_EMPHASIS = re.compile(r"\*(?<!\\\*)\**|~~|_(?<![\w`\\]_)_*(?=\S)|_(?<=[^\s\\]_)_*(?![\w`])")
_PROMPT = re.compile(r"^\s*(?:[$%]|\w+@[\w.-]+[:~\w/-]*[$#])\s+")
_COMMENT = re.compile(r"^(?:#+|//|--)\s+(?=\S)|\s#+\s+(?=\S)")

URL = re.compile(
    r"(?<!\w)(?:[a-z][a-z0-9+.-]{1,15}://|www\.|(?:mailto|tel|tg|javascript|data):)[^\s<>\"'`\]|]+",
    re.IGNORECASE,
)
_LINK_SIGNS = ("://", "www.", "mailto:", "tel:", "tg:", "javascript:", "data:")
_EMAIL = re.compile(r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+")
_ADDRESS = re.compile(
    r"(?<![\w.])\d{1,3}(?:\.\d{1,3}){3}(?:/\d{1,2})?(?::\d+)?(?![\w.]*\d)"
    r"|(?<![\w:])(?=[0-9a-f:]*::|(?:[0-9a-f]{1,4}:){5})[0-9a-f:]{3,39}(?:/\d+)?(?![\w:])",
    re.IGNORECASE,
)
_PATH = re.compile(
    r"(?<![\w./:~<])(?:~|\.{1,2})?/[\w.@+-]*[\w@+-](?:/[\w.@+-]*[\w@+-])*/?"
    r"|\b[A-Za-z]:\\[\w.\\-]+"
    r"|(?<![\w./-])[\w.-]+(?:/[\w.-]+)*/[\w-]+\.[A-Za-z]\w{0,7}\b"
    r"|(?<![\w./-])[A-Za-z_][\w.-]*(?:/[\w.-]*\w){2,}"
)
_OPTION = re.compile(r"(?<![\w-])--[A-Za-z][\w-]*|(?<=[\w\"'] )-[A-Za-z]{1,3}(?=[\s,;.)]|$)")
_HOST = re.compile(
    r"(?<![\w@./-])(?:[^\W_](?:[\w-]*[^\W_])?\.)+(?:[a-z]{2,}|рф)\b(?::\d+)?(?:/[^\s)\],;]*)?",
    re.IGNORECASE,
)
_NAME = re.compile(r"(?<![\w.-])[^\W_]\w*(?:[-.:]\w+)*")
# With the characters of which each match has one: most texts have none, and are not searched.
_PATTERNS = (
    (Claim.EMAIL, _EMAIL, "@"),
    (Claim.ADDRESS, _ADDRESS, ".:"),
    (Claim.OPTION, _OPTION, "-"),
)
_LATER_PATTERNS = ((Claim.PATH, _PATH, "/\\"), (Claim.HOST, _HOST, "."))
_AMOUNT = re.compile(r"v?\d+(?:[.,]\d+)*(?:-?[^\W\d_]+)?", re.IGNORECASE)
_VERSION = re.compile(r"(?<![^\W_])v(?=\d)", re.IGNORECASE)
_COMMON = frozenset(  # names that anybody uses for what a passage spells out
    {"k8s", "s3", "ec2", "ipv4", "ipv6", "utf-8", "utf8", "oauth2", "http2", "h2", "x86", "x64"}
    | {"base64", "l4", "l7", "b2b", "2fa"}
)
_ORDINAL = re.compile(r"^[\s>#*_]*\d{1,3}[.)](?=\s|$)")
_DIGIT = re.compile(r"\d")
_STEP_NUMBER = re.compile(
    r"\b(steps?|шаг[а-я]*|пункт[а-я]*)\s+№?\d+(?:\s*(?:-|,|and|to|и|по|до)\s*\d+)*", re.IGNORECASE
)
_TOOLS = (
    r"kubectl|oc|d8 k|helm|docker|podman|crictl|systemctl|service|apt|apt-get|yum|dnf|git"
    r"|terraform|consul|nomad|vault|etcdctl|redis-cli|rabbitmqctl|pg_ctl|ceph"
)
_VERBS = (
    r"get|describe|delete|apply|create|scale|rollout|exec|logs|drain|cordon|uncordon|edit|patch"
    r"|label|taint|restart|stop|start|reload|status|enable|disable|mask|install|uninstall|remove"
    r"|purge|upgrade|rollback|run|rm|kill|prune|push|pull|reset|checkout|revert|rebase|destroy"
)
_BARE = re.compile(
    rf"\b(?:sudo\s+[\w./-]+|(?:{_TOOLS})\s+(?:{_VERBS})\b"
    r"|(?:rm|kill|pkill|killall|chmod|chown|dd|curl|wget)\s+-\S+"
    r"|(?:DROP|TRUNCATE|ALTER)\s+(?:TABLE|DATABASE|INDEX|USER)\b|DELETE\s+FROM\b)"
    r"(?:[ \t]+[^\s,;:!?()`]+)*"
)


def fold(text: str) -> str:
    """One line: NFKC, plain quotes and dashes, single spaces, Markdown escapes undone."""
    return " ".join(_ESCAPED.sub(r"\1", in_plain_signs(text)).split())


def in_plain_signs(text: str) -> str:
    """NFKC, with plain quotes and dashes, as keyboards type them."""
    if text.isascii():
        return text
    normal = unicodedata.normalize("NFKC", text)
    return _FOLDED.sub(lambda match: _FOLDS[match.group()], normal)


def plain(text: str) -> str:
    """Prose as it reads: escapes undone, emphasis and marks gone, characters folded."""
    return _ESCAPED.sub(r"\1", _EMPHASIS.sub("", in_plain_signs(MARK.sub(" ", text))))


def command_lines(code: str) -> list[str]:
    """The commands of a code block: continued lines joined, prompts off, blank lines left out."""
    joined = re.sub(r"[ \t]*\\\n[ \t]*", " ", code)
    return [_PROMPT.sub("", line) for line in joined.split("\n") if line.strip()]


def literals(block: Block, piece: str | None = None) -> list[Literal]:
    """The literals of a block, or of one sentence (`piece`) of it, in no order."""
    if block.kind is Kind.FENCE:
        return list(_of_code(block.code))
    text = block.text if piece is None else piece
    if block.kind is not Kind.PROSE and block.text.startswith(text):
        text = _ORDINAL.sub(" ", text)
    return of_text(text)


def of_text(text: str) -> list[Literal]:
    """The literals of running text with inline code."""
    return [*_of_spans(text), *_of_prose(_without_spans(text))]


def may_command(text: str) -> bool:
    """False for running text in which nothing would be typed, which most sentences are."""
    return "`" in text or "*" in text or _BARE.search(text) is not None  # **rm** -r: a command


def _of_code(code: str) -> Iterator[Literal]:
    for line in command_lines(code):
        comment = _COMMENT.search(line)
        command = fold(line[: comment.start()] if comment else line)
        if command:
            yield Literal(Claim.COMMAND, command)
        if comment:
            yield Literal(Claim.COMMENT, fold(line[comment.end() :]))


def _of_spans(text: str) -> Iterator[Literal]:
    for _, _, content in code_spans(text):
        folded = fold(_PROMPT.sub("", content))
        if folded:
            yield Literal(Claim.URL if URL.fullmatch(folded) else Claim.CODE, folded)


def _without_spans(text: str) -> str:
    pieces: list[str] = []
    place = 0
    for start, end, _ in code_spans(text):
        pieces.append(text[place:start])
        place = end
    return " ` ".join([*pieces, text[place:]])


def _of_prose(text: str) -> Iterator[Literal]:
    if may_link(folded := in_plain_signs(MARK.sub(" ", text))):
        yield from (
            Literal(Claim.URL, match.group().rstrip(".,;:!?)*_")) for match in URL.finditer(folded)
        )
        text = URL.sub(" ", text)
    text = plain(text)
    if _DIGIT.search(text):
        text = _STEP_NUMBER.sub(" ", text)
    for match in _BARE.finditer(text):
        yield Literal(Claim.CODE, fold(_command_part(match.group())))
    for kind, pattern, signs in _PATTERNS:
        if holds_any(text, signs):
            yield from _matches(kind, pattern, text)
            text = pattern.sub(" ", text)
    for kind, moments in ((Claim.DATE, quantities.dates), (Claim.TIME, quantities.times)):
        for moment in list(moments(text)):
            yield Literal(kind, moment.text)
            text = _blanked(text, moment.start, moment.start + len(moment.text))
    for kind, pattern, signs in _LATER_PATTERNS:
        if holds_any(text, signs):
            yield from _matches(kind, pattern, text)
            text = pattern.sub(" ", text)
    yield from _names_and_numbers(text)


def may_link(text: str) -> bool:
    """False for a text without an address, which is nearly every text."""
    return holds_any(text.lower(), _LINK_SIGNS) or has_odd_letters(text)


def _matches(kind: Claim, pattern: re.Pattern[str], text: str) -> Iterator[Literal]:
    for match in pattern.finditer(text):
        yield Literal(kind, match.group().rstrip(".,;:!?)"))


def _blanked(text: str, start: int, end: int) -> str:
    return text[:start] + " " * (end - start) + text[end:]


def _names_and_numbers(text: str) -> Iterator[Literal]:
    for match in _NAME.finditer(text):
        word = match.group()
        if _is_name(word):
            yield Literal(Claim.NAME, word)
            text = _blanked(text, match.start(), match.end())
    for amount in quantities.amounts(_VERSION.sub(" ", text)):
        inherited = amount.unit and amount.text[-1].isdigit()
        yield Literal(Claim.NUMBER, f"{amount.text} {amount.unit}" if inherited else amount.text)


def _is_name(word: str) -> bool:
    if word.isalpha():
        return False
    marked = any(ch.isdigit() for ch in word) or "_" in word
    lettered = any(ch.isalpha() for ch in word)
    return marked and lettered and not _AMOUNT.fullmatch(word) and word.lower() not in _COMMON


def _command_part(text: str) -> str:
    """A command without back-quotes ends where the sentence goes on."""
    words = text.rstrip(".").split()
    head = 2
    for place, word in enumerate(words[head:], start=head):
        if word.lower() in stop_words() or re.search(r"[а-яё]", word, re.IGNORECASE):
            return " ".join(words[:place])
    return " ".join(words)
