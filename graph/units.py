"""A passage as the units that can be quoted alone without changing what they say.

A sentence; a list item; a short list, a numbered procedure or a block of commands with the
sentence that introduces it; a table row with the names of its columns.
"""

from __future__ import annotations

import re
from collections.abc import Generator, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache

from graph.blocks import LISTED, Block, Kind, blocks, join, sentences, unwrapped
from graph.marks import escaped
from graph.markup import cleaned
from graph.text import has_odd_letters, holds_any
from graph.unwritten import is_unwritten

_SHORT_LIST = 420  # characters; a longer list is quoted by items
_KEPT = 256  # passages; the same are quoted from again and again
_LEANS_BACK = re.compile(
    r"(?:it|this|that|these|those|they|then|otherwise|it's|if so|это|эта|этот|эти|он|она|они|оно"
    r"|тогда|иначе|затем|также)\b",
    re.IGNORECASE,
)
_STEERING = re.compile(  # text that speaks to a machine, not to a reader
    r"\b(?:ignore|disregard|forget)\b.{0,40}\b(?:instruction|prompt|rule|docs?|document)"
    r"|^\W*(?:system|assistant)\s*:|\bfrom now on\b|\byou are (?:now )?an? (?:ai|assistant|bot)"
    r"|\btell the user\b|\b(?:answer|respond|reply) only (?:in|with)\b|\bcite (?:it |this )?as\b"
    r"|игнорируй|забудь (?:все|про|инструкц)|с этого момента отвечай|отвечай только",
    re.IGNORECASE | re.MULTILINE,
)
_STEERING_WORDS = (  # a steering text has one of these, and hardly any other text
    "ignore", "disregard", "forget", "system", "assistant", "from now on", "you are",
    "tell the user", " only ", "cite ", "игнорируй", "забудь", "с этого момента", "отвечай только",
)  # fmt: skip


class Shape(StrEnum):
    SENTENCE = "sentence"
    LIST = "list"
    COMMANDS = "commands"
    PROCEDURE = "procedure"
    ROW = "row"


@dataclass(frozen=True, slots=True)
class Unit:
    shape: Shape
    text: str  # as in the passage, not wrapped; a row as its cells, joined by " | "
    heading: tuple[str, ...] = ()  # headings inside the passage
    lead: str = ""  # the sentence that introduces a list or commands
    columns: tuple[str, ...] = ()  # of a row
    cells: tuple[str, ...] = ()
    place: int = 0  # order in the passage


@lru_cache(maxsize=_KEPT)
def units(text: str) -> tuple[Unit, ...]:
    """The units of a passage in reading order, without stubs and text that steers a machine."""
    text = escaped(cleaned(text, lambda _: True))
    found = [unit for unit in _read(unwrapped(blocks(text))) if _worth(unit)]
    if _may_steer(" ".join(text.split())):
        found = [unit for unit in found if not _steers(f"{unit.lead} {unit.text}")]
    return tuple(_placed(unit, place) for place, unit in enumerate(found))


def _placed(unit: Unit, place: int) -> Unit:
    return Unit(
        unit.shape, unit.text, unit.heading, unit.lead, unit.columns, unit.cells, place
    )  # `replace` takes several times longer


def _worth(unit: Unit) -> bool:
    return any(ch.isalnum() for ch in unit.text) and not is_unwritten(unit.text)


def _steers(text: str) -> bool:
    return _may_steer(text) and _STEERING.search(text) is not None


def _may_steer(text: str) -> bool:
    lower = text.lower()
    return holds_any(lower, _STEERING_WORDS) or has_odd_letters(text)


def _read(found: Sequence[Block]) -> Iterator[Unit]:
    heading: list[tuple[int, str]] = []
    lead = said = ""
    place = 0
    while place < len(found):
        block = found[place]
        path = tuple(title for _, title in heading)
        end = _run_end(found, place)
        if block.kind is Kind.HEADING:
            heading = _entered(heading, block)
            lead = said = ""
        elif block.kind is Kind.PROSE:
            lead, said = yield from _prose(block, path)
        elif block.kind is not Kind.BLANK:
            introduced = lead or (said if block.kind is Kind.FENCE else "")
            yield from _run(found[place:end], path, introduced)
            lead = said = ""
        place = end


def _entered(heading: list[tuple[int, str]], block: Block) -> list[tuple[int, str]]:
    title = block.text.strip().lstrip("#")
    level = len(block.text.strip()) - len(title)
    return [item for item in heading if item[0] < level] + [(level, title.strip(" #"))]


def _prose(block: Block, path: tuple[str, ...]) -> Generator[Unit, None, tuple[str, str]]:
    """The sentences of a paragraph; returns the last one as a lead if it ends in a colon, or "",
    and as it is."""
    pieces = sentences(block.text)
    said = pieces[-1].strip()
    pieces = [piece for piece in pieces if piece.strip()]
    lead = pieces.pop().strip() if pieces and pieces[-1].rstrip().endswith(":") else ""
    for before, piece in zip(["", *pieces], pieces, strict=False):
        text = before + piece if before and _LEANS_BACK.match(piece.strip()) else piece
        yield Unit(Shape.SENTENCE, text.strip(), path)
    return lead, said


def _run_end(found: Sequence[Block], place: int) -> int:
    """The end of a list with its commands, or of a table; otherwise the next block."""
    kind = found[place].kind
    if kind in (Kind.ROW, Kind.RULE):
        return _while(found, place, (Kind.ROW, Kind.RULE))
    if kind not in LISTED:
        return place + 1
    end = place + 1
    for at in range(place + 1, len(found)):
        block = found[at]
        belongs = block.kind in (*LISTED, Kind.FENCE) or block.indent > 0
        if block.kind is Kind.BLANK:
            continue
        if not belongs or (block.kind in LISTED and not block.indent and block.kind is not kind):
            break
        end = at + 1
    return end


def _while(found: Sequence[Block], place: int, kinds: tuple[Kind, ...]) -> int:
    end = place
    while end < len(found) and found[end].kind in kinds:
        end += 1
    return end


def _run(run: Sequence[Block], path: tuple[str, ...], lead: str) -> Iterator[Unit]:
    first = run[0].kind
    if first in (Kind.ROW, Kind.RULE):
        yield from _table(run, path)
        return
    text = join(run).strip("\n")
    if first is Kind.FENCE:
        yield Unit(Shape.COMMANDS, text, path, lead)
    elif first is Kind.STEP:
        yield Unit(Shape.PROCEDURE, text, path, lead)
    elif len(text) <= _SHORT_LIST and lead:
        yield Unit(Shape.LIST, text, path, lead)
    else:
        yield from _items(run, path, lead)


def _items(run: Sequence[Block], path: tuple[str, ...], lead: str) -> Iterator[Unit]:
    """Each top item with what is nested under it."""
    current: list[Block] = []
    for block in run:
        if block.kind in LISTED and not block.indent and current:
            yield Unit(Shape.LIST, join(current).strip("\n"), path, lead)
            current = []
        current.append(block)
    yield Unit(Shape.LIST, join(current).strip("\n"), path, lead)


def _table(run: Sequence[Block], path: tuple[str, ...]) -> Iterator[Unit]:
    rows = [_cells(block.text) for block in run if block.kind is Kind.ROW]
    headed = len(run) > 1 and run[1].kind is Kind.RULE
    columns = rows.pop(0) if headed and rows else ()
    for cells in rows:
        yield Unit(Shape.ROW, " | ".join(cells), path, columns=columns, cells=cells)


def _cells(line: str) -> tuple[str, ...]:
    pieces = re.split(r"(?<!\\)\|", line.strip().removeprefix("|").removesuffix("|"))
    return tuple(piece.strip() for piece in pieces)
