"""A Markdown text as the blocks a reader sees: paragraphs, list items, table rows, commands.

Joining the blocks with line breaks gives the text back, so a block can be dropped or replaced
without touching its neighbours.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache
from itertools import pairwise


class Kind(StrEnum):
    PROSE = "prose"
    STEP = "step"  # an item of a numbered list
    ITEM = "item"  # an item of a plain list
    ROW = "row"  # a table row
    RULE = "rule"  # the line under a table's header, a horizontal rule
    HEADING = "heading"
    FENCE = "fence"  # commands, output: text inside is no prose
    BLANK = "blank"


LISTED = (Kind.STEP, Kind.ITEM)
ORDINAL = re.compile(r"\s*(?:\d{1,3}[.)]|[-*+•])\s+")
"""The number or bullet of a list item."""


@dataclass(frozen=True, slots=True)
class Block:
    kind: Kind
    text: str  # its lines as written, without the last line break

    @property
    def indent(self) -> int:
        return len(self.text) - len(self.text.lstrip(" "))

    @property
    def level(self) -> int:
        """Of a heading, 1 to 6."""
        text = self.text.lstrip()
        return len(text) - len(text.lstrip("#"))

    @property
    def code(self) -> str:
        """The lines inside a fence."""
        lines = self.text.split("\n")
        if not _FENCE.match(lines[0]):
            return self.text
        closed = len(lines) > 1 and _FENCE.match(lines[-1])
        return "\n".join(lines[1:-1] if closed else lines[1:])


_FENCE = re.compile(r" *(?:[-*+]\s+|\d+[.)]\s+)?(`{3,}|~{3,})")
_STEP = re.compile(r"\s*\d{1,3}[.)](?:\s|$)")
_ITEM = re.compile(r"\s*[-*+•](?:\s|$)")
_HEADING = re.compile(r"\s{0,3}#{1,6}(?:\s|$)")
_RULE = re.compile(r"\s*\|?\s*:?-{3,}:?\s*(?:\|\s*:?-{2,}:?\s*)*\|?\s*$|\s*(?:\*\s*){3,}$")
_ROW = re.compile(r"\s*\|.*\|\s*$")
_INDENTED_CODE = re.compile(r"(?: {4,}|\t)\S")
_MARKS = frozenset("`~-*+•#|:")  # of fences, items, headings, rules and rows
_WRAPPED = 60  # columns; a shorter line was probably meant to end there
_KEPT = 256  # texts: a passage, and an answer while it grows, are taken apart many times


def blocks(text: str) -> list[Block]:
    """The blocks of `text` in reading order; a fence that is never closed reaches the end."""
    return list(_blocks(text))


@lru_cache(maxsize=_KEPT)
def _blocks(text: str) -> tuple[Block, ...]:
    found: list[Block] = []
    lines = text.split("\n")
    place = 0
    while place < len(lines):
        kind = _kind(lines, place, found)
        end = _end(lines, place, kind)
        found.append(Block(kind, "\n".join(lines[place:end])))
        place = end
    return tuple(found)


def join(parts: Iterable[Block]) -> str:
    return "\n".join(part.text for part in parts)


def unwrapped(found: Iterable[Block]) -> list[Block]:
    """The blocks without the line breaks that only kept their source narrow.

    A messenger shows every line break; lines of commands, tables and quotations keep theirs.
    """
    wrapped = (Kind.PROSE, *LISTED)
    return [
        Block(block.kind, _unwrapped(block.text))
        if block.kind in wrapped and "\n" in block.text
        else block
        for block in found
    ]


def _unwrapped(text: str) -> str:
    lines = text.split("\n")
    kept = lines[:1]
    for before, line in pairwise(lines):
        meant = before.endswith(("  ", "\\")) or line.lstrip().startswith(">")
        if meant or len(before) < _WRAPPED:
            kept.append(line)
        else:
            kept[-1] = f"{kept[-1].rstrip()} {line.lstrip()}"
    return "\n".join(kept)


def _is_marked(text: str) -> bool:
    """True when a line begins with what may make it more than prose; most lines do not."""
    return text[0] in _MARKS or text[0].isdecimal()


def _kind(lines: list[str], place: int, before: list[Block]) -> Kind:
    line = lines[place]
    text = line.lstrip()
    if not text:
        return Kind.BLANK
    if not _is_marked(text):
        code = len(line) > len(text) and _INDENTED_CODE.match(line) and not _inside_list(before)
        return Kind.FENCE if code else _unmarked_kind(lines, place)
    if _FENCE.match(line):
        return Kind.FENCE
    listed = _listed(line)
    if listed:
        return listed
    if _INDENTED_CODE.match(line) and not _inside_list(before):
        return Kind.FENCE
    return _plain_kind(lines, place)


def _plain_kind(lines: list[str], place: int) -> Kind:
    line = lines[place]
    if _HEADING.match(line):
        return Kind.HEADING
    if _RULE.match(line):
        return Kind.RULE
    return Kind.ROW if _ROW.match(line) else _unmarked_kind(lines, place)


def _unmarked_kind(lines: list[str], place: int) -> Kind:
    """The header of a table whose rows have no bars around them, or prose."""
    following = lines[place + 1] if place + 1 < len(lines) else ""
    heads = "|" in lines[place] and "|" in following and _RULE.match(following)
    return Kind.ROW if heads else Kind.PROSE


def _listed(line: str) -> Kind | None:
    if _STEP.match(line):
        return Kind.STEP
    return Kind.ITEM if _ITEM.match(line) and not _RULE.match(line) else None


def _inside_list(before: list[Block]) -> bool:
    """Indented text continues a list item; after anything else it is code."""
    for block in reversed(before):
        if block.kind is not Kind.BLANK and not block.text.startswith(" "):
            return block.kind in LISTED
    return False


def _end(lines: list[str], place: int, kind: Kind) -> int:
    if kind is Kind.FENCE:
        return _fence_end(lines, place)
    if kind not in (Kind.PROSE, *LISTED):
        return place + 1
    end = place + 1
    while end < len(lines) and _continues(lines, end):
        end += 1
    return end


def _continues(lines: list[str], place: int) -> bool:
    line = lines[place]
    text = line.lstrip()
    if not text or not _is_marked(text):
        return bool(text) and _unmarked_kind(lines, place) is Kind.PROSE
    fresh = _FENCE.match(line) or _listed(line)
    return not fresh and _plain_kind(lines, place) is Kind.PROSE


def _fence_end(lines: list[str], place: int) -> int:
    opening = _FENCE.match(lines[place])
    if opening is None:
        end = place + 1
        while end < len(lines) and _INDENTED_CODE.match(lines[end]):
            end += 1
        return end
    mark = opening.group(1)
    for end in range(place + 1, len(lines)):
        closing = lines[end].strip()
        if closing.startswith(mark) and not closing.strip(mark[0]):
            return end + 1
    return len(lines)


# Sentences

# It begins with a set of characters, so that scanning is fast.
_SENTENCE_END = re.compile(
    r"[.!?…:](?:(?<=:)(?=\s*$)|(?<!:)[.!?…]*[\"'»”)*_]*(?:[ \t]*\[\d+\])*)(?=\s|$)"
)
_ABBREVIATION = re.compile(
    r"(?:\b(?:e\.g|i\.e|etc|vs|cf|approx|no|fig|min|max|dr|mr|ms"
    r"|т\.\s?е|т\.\s?д|т\.\s?п|т\.\s?к|др|см|стр|рис|напр|руб|мин|сек)|\b\w)\.$",
    re.IGNORECASE,
)
_LONGEST_ABBREVIATION = 10  # characters
_MARKER = re.compile(r"\s*(?:\d+[.)]|[-*+])")
_SPAN = re.compile(r"(``*)(?!`).*?(?<!`)\1(?!`)", re.DOTALL)


def sentences(text: str) -> list[str]:
    """`text` cut after each sentence, trailing marks and white space included.

    Joining the pieces gives the text back. Code spans and abbreviations are not cut.
    """
    spans = [(start, end) for start, end, _ in code_spans(text)]
    pieces: list[str] = []
    start = 0
    for match in _SENTENCE_END.finditer(text):
        end = match.end()
        inside = spans and any(left < match.start() < right for left, right in spans)
        if inside or _goes_on(text, start, match.start(), end):
            continue
        while end < len(text) and text[end].isspace():
            end += 1
        pieces.append(text[start:end])
        start = end
    return [*pieces, text[start:]] if start < len(text) else pieces


def _goes_on(text: str, start: int, stop: int, end: int) -> bool:
    near = max(start, stop - _LONGEST_ABBREVIATION)
    shortened = text[stop] == "." and _ABBREVIATION.search(text, near, stop + 1)
    if shortened and not text[stop:end].endswith("]"):
        following = text[end:].lstrip()[:1]
        return not following.isupper() or len(text[start:stop].split()) < 2  # noqa: PLR2004
    return _MARKER.fullmatch(text, start, end) is not None


def code_spans(text: str) -> list[tuple[int, int, str]]:
    """(start, end, content) of each inline code span."""
    if "`" not in text:
        return []
    return [
        (match.start(), match.end(), match.group().strip("`").strip())
        for match in _SPAN.finditer(text)
    ]
