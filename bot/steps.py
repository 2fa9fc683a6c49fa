"""The first steps that a document tells to take, quoted word for word."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from graph.blocks import blocks, join
from graph.model import Passage
from graph.units import Shape, Unit, units

_TO_DO = re.compile(
    r"\b(?:steps?|what to do|to do|first|mitigat\w*|fix\w*|resolution|resolve|procedure|remediat\w*"
    r"|actions?|respon\w*|diagnos\w*|check\w*|recover\w*|restor\w*|restart\w*|quick)\b"
    r"|что делать|действи|шаг|провер|решени|устран|диагност|восстанов|порядок|перв",
    re.IGNORECASE,
)
_TIERS = (Shape.PROCEDURE, Shape.COMMANDS, Shape.LIST)
_CUT = "[…]"


@dataclass(frozen=True, slots=True)
class Steps:
    """`heading` is the section's path. `whole` is False when there are more steps."""

    passage: Passage
    heading: tuple[str, ...]
    text: str
    whole: bool


@dataclass(frozen=True, slots=True)
class StepBounds:
    characters: int = 1500
    sentences: int = 4  # of a document without steps


def first_steps(
    document: Sequence[Passage], matched: Passage | None, bounds: StepBounds
) -> Steps | None:
    """The first section that says what to do, from its first step on; without one the first
    procedure, commands or list; without any how the document begins.

    Steps in the `matched` passage come before all others. None for a document that holds nothing
    to be quoted.
    """
    found = [
        _Place(passage, number, unit)
        for number, passage in enumerate(document)
        for unit in units(passage.text)
    ]
    near = [place for place in found if matched is not None and place.passage.id == matched.id]
    steps = [place for place in near if place.is_step] or [p for p in found if p.is_step]
    if steps:
        rest = found[found.index(min(steps, key=lambda place: place.rank)) :]
        section = [*_section(rest)]
        more = any(place.is_step for place in rest[len(section) :])
        return _quoted(section, bounds, more=more)
    start = (near or found)[: bounds.sentences]
    return _quoted(start, bounds) if start else None


@dataclass(frozen=True, slots=True)
class _Place:
    passage: Passage
    number: int
    unit: Unit

    @property
    def heading(self) -> tuple[str, ...]:
        return self.unit.heading or self.passage.heading

    @property
    def is_step(self) -> bool:
        return self.unit.shape in _TIERS

    @property
    def rank(self) -> tuple[bool, int, int, int]:
        """Sections that say what to do in reading order; others by what they hold."""
        told = any(_TO_DO.search(part) for part in (*self.heading[-1:], self.unit.lead))
        tier = 0 if told else _TIERS.index(self.unit.shape)
        return not told, tier, self.number, self.unit.place


def _section(places: Sequence[_Place]) -> Iterator[_Place]:
    """The rest of the first place's section, in its passage."""
    first = places[0]
    for place in places:
        if (place.passage.id, place.heading) != (first.passage.id, first.heading):
            return
        yield place


def _quoted(places: Sequence[_Place], bounds: StepBounds, *, more: bool = False) -> Steps:
    pieces: list[str] = []
    before: Unit | None = None
    for place in places:
        unit = place.unit
        if before is not None and _goes_on(before, unit):
            pieces[-1] += (" " if unit.shape is Shape.SENTENCE else "\n") + _text(unit)
        else:
            table = unit.shape is Shape.ROW and unit.columns
            pieces += [unit.lead] if unit.lead else []
            pieces.append(f"{_head(unit)}\n{_text(unit)}" if table else _text(unit))
        before = unit
    text = "\n\n".join(pieces)
    shown = _bounded(text, bounds.characters)
    return Steps(places[0].passage, places[0].heading, shown, shown == text and not more)


def _goes_on(before: Unit, unit: Unit) -> bool:
    """Whether both are of one paragraph, list or table."""
    if before.shape is not unit.shape:
        return False
    if unit.shape is Shape.LIST:
        return before.lead == unit.lead
    if unit.shape is Shape.ROW:
        return before.columns == unit.columns
    return unit.shape is Shape.SENTENCE


def _text(unit: Unit) -> str:
    return _row(unit.cells) if unit.shape is Shape.ROW else unit.text


def _head(unit: Unit) -> str:
    return f"{_row(unit.columns)}\n{_row(['---'] * len(unit.columns))}"


def _row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _bounded(text: str, limit: int) -> str:
    """`text`, cut between blocks; one block alone is never cut."""
    if len(text) <= limit:
        return text
    kept = blocks(text)
    while len(kept) > 1 and len(join(kept)) > limit:
        kept.pop()
    return f"{join(kept).rstrip()}\n\n{_CUT}"
