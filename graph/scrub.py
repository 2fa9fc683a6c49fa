"""What a web search may be told: the question without anything that names the company's inside.

Hosts, addresses, ids, secrets, paths, people and pasted logs go; public error codes and product
names stay. When too little is left to search for, nothing is sent at all.
"""

from __future__ import annotations

import ipaddress
import re

from graph.internal_names import TOKEN, public_part
from graph.text import WORD, content_words, fold, normalise, parts, stem

QUERY_CHARACTERS = 200
_INPUT_CHARACTERS = 8000
_SHORT_NAME = 3  # characters; a shorter private name is only looked for as a whole word
_FEW_LINES = 3
_LONGEST_ENDING = 3
_ENDINGS = "аеиоуыэюяйь"
_ENOUGH_WORDS = 2  # content words, once something was taken out

_FENCE = re.compile(r"(`{3,}|~{3,}).*?(?:\1|\Z)", re.DOTALL)
_LOG_LINE = re.compile(
    r"\s*[\[(]?\d{4}[-/.]\d\d[-/.]\d\d[T ]\d\d:\d\d"  # 2024-05-01 12:00
    r"|\s*[\[(]?\d\d:\d\d:\d\d"
    r"|[A-Z][a-z]{2} +\d+ \d\d:\d\d"  # syslog
    r"|[IWEF]\d{4} \d\d:"  # klog
    r"|\s*[\[(<]?(?:TRACE|DEBUG|INFO|NOTICE|WARN|WARNING|ERROR|FATAL|CRITICAL|PANIC)\b[\])> ]"
    r"|\s+at \S|\s*File \"|Traceback |goroutine \d|Caused by:|\s*[{\[]\"|\s*[|>] "
    r"|\s*(?:\S+@\S+|[~/]\S*)?\s?[$#] \S"
)
_KEY_WORD = (
    r"(?:pass(?:word|wd|phrase)?|pwd|secret|token|credentials?|api[ _-]?key|access[ _-]?key"
    r"|парол[ьяюе]м?|токен\w?|секрет\w?|ключ\w?)"
)
_SPANS = tuple(
    re.compile(pattern, flags)
    for pattern, flags in (
        (r"\S{100,}", 0),  # no public name is that long
        (r"-----BEGIN [^-]*-----.*?(?:-----END [^-]*-----|\Z)", re.DOTALL),
        (r"<[@#!][^>\s]*(?:\|[^>]*)?>", 0),  # chat mentions
        (r"\b[a-z][a-z0-9+.\-]*://\S+|\bwww\.\S+", re.I),
        (r"\b\d{6,12}:[\w-]{20,}", 0),  # bot tokens
        (r"\b(?:bearer|basic)\s+[\w.~+/=-]{8,}", re.I),
        (rf"(?<=\b)(?:{_KEY_WORD})\s*=\s*\S+", re.I),
        (rf"\b{_KEY_WORD}(?:\s*:|\s+is|\s+это|\s+[-–—])?\s+(?=\S*[\d!@#$%^&*])\S{{4,}}", re.I),
        (rf"\b{_KEY_WORD}:\S+", re.I),
        (r"(?<!\w)(?:gh[pousr]_|github_pat_|glpat-|xox[a-z]-|xapp-|sk-|hf_|AKIA|AIza|eyJ)\S+", 0),
        (r"[\w.+%\-]*@[\w.\-]+", 0),  # mail, user@host, @handle
        (r"(?<!\w)(?:[a-z]:\\|\\\\)\S+", re.I),
        (r"(?<!\w)~[\w-]*/\S*|\$\{?\w+\}?/\S*", 0),
        (r"\b(?:[0-9a-f]{2}[:-]){5}[0-9a-f]{2}\b|\b(?:[0-9a-f]{4}\.){2}[0-9a-f]{4}\b", re.I),
        (r"(?<![\w#&])#(?=[^\W\d_])[\w-]{2,}", 0),  # channels
        (r"\b\d{4}[ -]\d{6}\b|\b\d{2} \d{2} \d{6}\b", 0),  # passports
        (r"(?<!\w)\+\d[\d ()\-]{7,}\d|\b\d{3,}(?:[ \-]\d{2,}){2,}\b", 0),  # telephone, card
        (r"\barn:\S+|(?<!\w)[\w.\-]+:\d{2,5}/\S*", re.I),
        (r"\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b", re.I),
    )
)
_ABSOLUTE_PATH = re.compile(r"(?<![\w/.])/[\w.@:+\-]+(?:/[\w.@:+\-]*)*")
_SYSTEM_PATH = re.compile(
    r"/(?:etc|proc|sys|dev|usr|bin|sbin|lib|var/(?:log|lib|run))(?:/[\w.\-]+){0,3}"
)
_RELATIVE_PATH = re.compile(r"[\w.\-]+(?:/[\w.\-]+){2,}(?::[\w.\-]+)?")
_IPV6 = re.compile(r"(?<!\w)[0-9A-Fa-f]*:[0-9A-Fa-f.]*:[0-9A-Fa-f:.]*(?:%\w+)?(?:/\d+)?(?!\w)")
_HOST_AND_PORT = re.compile(rf"({TOKEN.pattern})(:\d{{1,5}}\b)?")
_OPERATORS = re.compile(r"[\"“”«»`*~^|\\]+|\b(?:site|inurl|intitle|filetype):\S*", re.I)
_CYRILLIC = re.compile(r"[а-я]")
_EDGES = "=/\\-@<>|[]{}'\"&_"


def scrub(query: str, private_names: frozenset[str]) -> str:
    """The query to send, at most QUERY_CHARACTERS long; "" when nothing worth searching remains.

    None of `private_names` is in the result: whatever the case, inside identifiers too, and in
    the inflected forms of Russian names. A name under three characters counts as a whole word.
    """
    asked = _question_lines(normalise(query[:_INPUT_CHARACTERS]))
    text = _OPERATORS.sub(" ", _without_spans(asked))
    text = _HOST_AND_PORT.sub(_public, text)
    text = _tidy(_without_names(_tidy(text), private_names))
    words = content_words(text)
    whole = len(words) == len(content_words(query))
    if not words or (not whole and len(words) < _ENOUGH_WORDS):
        return ""
    text = _cut(text)
    return "" if _betrays(text, private_names) else text


def _question_lines(text: str) -> str:
    """The person's own lines: fenced blocks and pasted log lines are cut."""
    text = _FENCE.sub("\n", text)
    lines = [line for line in text.split("\n") if line.strip()]
    if len(lines) > 1:
        lines = [line for line in lines if not _LOG_LINE.match(line)]
    if len(lines) > _FEW_LINES:
        lines = [line for line in lines if "?" in line] or lines[:1]
    return "\n".join(lines)


def _without_spans(text: str) -> str:
    for pattern in _SPANS:
        text = pattern.sub(" ", text)
    text = _IPV6.sub(lambda match: " " if _is_address(match.group()) else match.group(), text)
    text = _ABSOLUTE_PATH.sub(
        lambda match: match.group() if _SYSTEM_PATH.fullmatch(match.group()) else " ", text
    )
    return _RELATIVE_PATH.sub(_kept_path, text)


def _public(match: re.Match[str]) -> str:
    kept = public_part(match[1])
    return kept + (match[2] or "") if kept else " "


def _is_address(text: str) -> bool:
    try:
        ipaddress.ip_address(text.partition("/")[0].partition("%")[0])
    except ValueError:
        return False
    return True


def _kept_path(match: re.Match[str]) -> str:
    """System paths were judged already; other paths of three parts and more are somebody's."""
    before = match.string[match.start() - 1 : match.start()]
    return match.group() if before == "/" else " "


def _without_names(text: str, names: frozenset[str]) -> str:
    """Drops every space-separated word that holds a private name or a part of one that spans
    several words."""
    wanted = [name for name in map(_pieces, names) if name]
    words = text.split()
    dropped = {
        place for place, word in enumerate(words) if any(_holds(word, name) for name in wanted)
    }
    flat = [(piece, place) for place, word in enumerate(words) for piece in _pieces(word)]
    for name in wanted:
        for start in range(len(flat) - len(name) + 1):
            run = flat[start : start + len(name)]
            if all(_same_word(piece, part) for (piece, _), part in zip(run, name, strict=True)):
                dropped.update(place for _, place in run)
    return " ".join(word for place, word in enumerate(words) if place not in dropped)


def _pieces(text: str) -> list[str]:
    return [fold(piece) for word in WORD.findall(text) for piece in parts(word)]


def _same_word(word: str, name: str) -> bool:
    """True for a form of `name`: the same stem, or a Russian ending of up to three letters."""
    if word == name or stem(word) == stem(name):
        return True
    base = name.rstrip(_ENDINGS)
    base = base if len(base) >= _SHORT_NAME else name[:_SHORT_NAME]
    return (
        _CYRILLIC.search(name) is not None
        and word.startswith(base)
        and len(base) >= _SHORT_NAME
        and len(word) - len(base) <= _LONGEST_ENDING
    )


def _holds(word: str, name: list[str]) -> bool:
    joined = "".join(name)
    if len(joined) < _SHORT_NAME:
        return joined in _pieces(word)
    return joined in "".join(ch for ch in fold(word) if ch.isalnum())


def _tidy(text: str) -> str:
    """One line of words: punctuation that lost its word goes."""
    words = (word.rstrip(_EDGES).lstrip(_EDGES.replace("/", "")) for word in text.split())
    return " ".join(word for word in words if any(ch.isalnum() for ch in word))


def _cut(text: str) -> str:
    if len(text) <= QUERY_CHARACTERS:
        return text
    return text[:QUERY_CHARACTERS].rsplit(" ", 1)[0]


def _betrays(text: str, names: frozenset[str]) -> bool:
    """The last guard, on the plain letters: names of symbols or scripts that words do not show."""
    plain = normalise(text).casefold()
    return any(
        len(name) >= _SHORT_NAME and name in plain
        for name in (normalise(name).strip().casefold() for name in names)
    )
