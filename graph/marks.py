"""Citation marks: `[n]` in an answer points at the n-th passage that was given.

Models write marks in many styles; all are brought to `[n]`. Marks inside code are no marks, and
`\\[3\\]` (a bracketed number of a quoted document) is none either.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import lru_cache

from graph.blocks import Kind, blocks, code_spans

MARK = re.compile(r"\[(?<![\\!]\[)(\d{1,3})\](?!\()")
_NUMBERS = r"\d{1,3}(?:\s*(?:,|;|&|-|–|and|и)\s*(?:source\s*|\^|#)?\d{1,3})*"
_WORD = (
    r"(?:sources?|src|refs?|references?|docs?|documents?|passages?|citations?"
    r"|источник[а-я]*|документ[а-я]*|фрагмент[а-я]*|ист\.|см\.)"
)
_STYLES = re.compile(
    rf"(?<![\\!])\[\s*(?:\^|#|{_WORD}[\s:#№]*)?({_NUMBERS})\s*\^?(?:†[^\]\n]*)?\](?!\()"
    rf"|(?<![\\!\w])\[\[\^?({_NUMBERS})\]\](?!\()|［\s*({_NUMBERS})\s*］"
    rf"|【\s*(?:{_WORD}\s*)?({_NUMBERS})(?:[†:][^】]*)?】"
    rf"|\(\s*{_WORD}[\s:#№]*({_NUMBERS})\s*\)"
    rf"|(?<![\\!])\[\s*\^?({_NUMBERS})\s*\]\([^)\s]*\)",
    re.IGNORECASE,
)
_ANYWHERE = re.compile("")
_OPENING = re.compile(r"[\[［【(]")
_SOURCE_LIST = re.compile(
    r"(?:#+\s*)?[*_]*(?:sources?|references?|citations?|источники|ссылки|литература)[*_]*:?[*_]*",
    re.IGNORECASE,
)
_LIST_LINE = re.compile(
    r"\s*(?:[-*+]\s*)?(?:\[\^?\d{1,3}\]|\d{1,3}[.)])(?:\s|:).*|\s*[-*+]\s.*|\s*"
)
_FOOTNOTE = re.compile(r"^ {0,3}\[\^?\d{1,3}\]:\s.*$")
_BRACKETED = re.compile(r"\[(?<!\\\[)(\^?\d{1,3})\]")
_LONGEST_RANGE = 12
_KEPT = 64  # texts whose marks are remembered: one answer is asked for them many times
_FIRST_PRIVATE = 0xE000
_PRIVATE = re.compile("[\ue000-\uf8ff]")


def in_prose(text: str, change: Callable[[str], str], where: re.Pattern[str] | None = None) -> str:
    """`text` with `change` applied to everything that is not code.

    `where` finds what `change` would change: a text without it need not be taken apart.
    """
    if where is None or _PRIVATE.search(text):
        where = _ANYWHERE
    if not where.search(text):
        return text
    return "\n".join(
        _outside_spans(block.text, change)
        if block.kind is not Kind.FENCE and where.search(block.text)
        else block.text
        for block in blocks(text)
    )


def _outside_spans(text: str, change: Callable[[str], str]) -> str:
    """Code spans are one private character each while `change` sees the text."""
    text = _PRIVATE.sub("", text)
    if "`" not in text:
        return change(text)
    pieces: list[str] = []
    spans: list[str] = []
    place = 0
    for start, end, _ in code_spans(text):
        pieces += [text[place:start], chr(_FIRST_PRIVATE + len(spans))]
        spans.append(text[start:end])
        place = end
    changed = change("".join([*pieces, text[place:]]))
    return _PRIVATE.sub(lambda match: spans[ord(match.group()) - _FIRST_PRIVATE], changed)


def prose_of(text: str) -> str:
    """Everything outside code."""
    pieces: list[str] = []

    def keep(piece: str) -> str:
        pieces.append(piece)
        return piece

    in_prose(text, keep)
    return "\n".join(pieces)


def normalise_marks(text: str) -> str:
    """Every known style of mark as `[n]`; the model's own list of sources goes.

    `[1, 2]`, `[1-3]`, `[^1]`, `[source 2]`, `(source 2)`, `(источник 2)`, `【1】`, `[1](link)`.
    """
    kept = [line for line in _without_source_list(text).split("\n") if not _FOOTNOTE.match(line)]
    return in_prose("\n".join(kept), lambda piece: _STYLES.sub(_canonical, piece), _OPENING)


def _canonical(match: re.Match[str]) -> str:
    numbers = next(group for group in match.groups() if group)
    return "".join(f"[{number}]" for number in _listed(numbers))


def _listed(numbers: str) -> list[int]:
    found: list[int] = []
    for part in re.split(r"[,;&]|and|и", numbers):
        first, *rest = [int(digits) for digits in re.findall(r"\d+", part)]
        last = rest[-1] if rest else first
        found += range(first, min(last, first + _LONGEST_RANGE) + 1) if last > first else [first]
    return found


def _without_source_list(text: str) -> str:
    """Cuts a closing "Sources:" heading with its list; the real list is made from the marks."""
    lines = text.rstrip().split("\n")
    for place in range(len(lines) - 1, 0, -1):
        if _SOURCE_LIST.fullmatch(lines[place].strip()):
            return "\n".join(lines[:place]).rstrip()
        if not _LIST_LINE.fullmatch(lines[place]):
            break
    return text


def used(text: str) -> list[int]:
    """The marks of `text`, each once, in order of first use."""
    return list(_used(text))


@lru_cache(maxsize=_KEPT)
def _used(text: str) -> tuple[int, ...]:
    if not MARK.search(text):
        return ()
    return tuple(dict.fromkeys(int(number) for number in MARK.findall(prose_of(text))))


def renumbered(text: str, numbers: Mapping[int, int]) -> str:
    """`text` with each mark replaced as `numbers` says; a mark without an entry is removed."""
    if all(numbers.get(number) == number for number in used(text)):
        return text

    def replace(match: re.Match[str]) -> str:
        number = numbers.get(int(match.group(1)))
        return f"[{number}]" if number else ""

    return in_prose(text, lambda piece: _tidy(MARK.sub(replace, piece), piece), MARK)


def _tidy(piece: str, before: str) -> str:
    """Repairs the white space and doubled marks that a removal leaves."""
    if piece == before:
        return piece
    piece = re.sub(r"(\[\d+\])(?:[ \t]*\1)+", r"\1", piece)
    piece = re.sub(r"[ \t]+([.,;:!?])(?=\s|$)", r"\1", piece)
    return re.sub(r"(?<=\S)[ \t]{2,}(?=\S)", " ", piece)


def without_marks(text: str) -> str:
    return in_prose(text, lambda piece: MARK.sub("", piece), MARK)


def escaped(text: str) -> str:
    """`text` with bracketed numbers escaped, so that a quotation holds no marks."""
    return in_prose(text, lambda piece: _BRACKETED.sub(r"\\[\1\\]", piece), _BRACKETED)
