"""What makes no sense any more when a statement has left an answer: its table, lead or heading."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from graph.blocks import LISTED, Block, Kind, sentences
from graph.marks import used, without_marks
from graph.model import Language
from graph.text import has_words

STEP_REMOVED: dict[Language, str] = {"en": "step removed", "ru": "шаг удалён"}


def without_remains(before: Sequence[Block], after: Sequence[Block | None]) -> list[Block]:
    """The blocks of `after` that still have something to say. None stands for one of `before`
    that was removed."""
    left = list(after)
    _drop_broken_tables(before, left)
    _drop_stray_marks(before, left)
    _drop_leads(before, left)
    return _without_empty_headings([block for block in left if block is not None])


def _next_solid(found: Sequence[Block | None], start: int) -> Block | None:
    return next((block for block in found[start:] if block and block.kind is not Kind.BLANK), None)


def _is_listing(block: Block | None) -> bool:
    return block is not None and block.kind in (*LISTED, Kind.FENCE, Kind.ROW)


def _is_marker(block: Block | None) -> bool:
    starts = tuple(f"[{words}:" for words in STEP_REMOVED.values())
    return block is not None and block.text.lstrip().startswith(starts)


def _drop_stray_marks(before: Sequence[Block], after: list[Block | None]) -> None:
    """A line of marks alone goes with the statement or the commands that it stood under."""
    for place, block in enumerate(after):
        if block is None or block.kind is not Kind.PROSE or has_words(without_marks(block.text)):
            continue
        earlier = [n for n in range(place) if before[n].kind is not Kind.BLANK]
        if used(block.text) and earlier and after[earlier[-1]] is None:
            after[place] = None


def _drop_broken_tables(before: Sequence[Block], after: list[Block | None]) -> None:
    """A table without its header or without rows goes as a whole."""
    place = 0
    while place < len(before):
        end = place
        while end < len(before) and before[end].kind in (Kind.ROW, Kind.RULE):
            end += 1
        rows = [n for n in range(place, end) if before[n].kind is Kind.ROW]
        if end - place > 1 and rows and (after[rows[0]] is None or _only_header(rows, after)):
            after[place:end] = [None] * (end - place)
        place = max(end, place + 1)


def _only_header(rows: list[int], after: list[Block | None]) -> bool:
    return len(rows) > 1 and all(after[n] is None for n in rows[1:])


def _drop_leads(before: Sequence[Block], after: list[Block | None]) -> None:
    """ "Run this:" goes when what it announced is gone."""
    for place, block in enumerate(after):
        if block is None or block.kind not in (Kind.PROSE, *LISTED):
            continue
        if not without_marks(block.text).rstrip().endswith(":"):
            continue
        announced = _next_solid(before, place + 1)
        following = _next_solid(after, place + 1)
        shown = _is_listing(following) or _is_marker(following)
        if _is_listing(announced) and not shown:
            text = "".join(sentences(block.text)[:-1]).rstrip()
            after[place] = replace(block, text=text) if text else None


def _without_empty_headings(found: list[Block]) -> list[Block]:
    kept: list[Block] = []
    following: Block | None = None
    for block in reversed(found):
        if block.kind is Kind.HEADING and not _heads(block, following):
            continue
        following = following if block.kind is Kind.BLANK else block
        kept.append(block)
    return kept[::-1]


def _heads(heading: Block, following: Block | None) -> bool:
    if following is None or following.kind is not Kind.HEADING:
        return following is not None
    return following.level > heading.level
