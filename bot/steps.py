"""The first steps that a document tells to take, quoted word for word."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import takewhile

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
    """`heading` is the section's path. `whole` is False when the document goes on."""

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
    """A numbered procedure if there is one, else commands, else a list, else how it begins.

    Steps of the `matched` passage, and sections that say what to do, come first. None for a
    document that holds nothing to be quoted.
    """
    found = [_Place(passage, at, unit) for at, passage in enumerate(document)
             for unit in units(passage.text)]  # fmt: skip
    if not found:
        return None
    near = [place for place in found if matched is not None and place.passage.id == matched.id]
    listed = [place for place in near if place.is_step] or [p for p in found if p.is_step]
    if not listed:
        return _steps((near or found)[: bounds.sentences], bounds)
    first = min(listed, key=lambda place: place.rank)
    return _steps(list(_run(found[found.index(first) :])), bounds)


@dataclass(frozen=True, slots=True)
class _Place:
    passage: Passage
    number: int
    unit: Unit

    @property
    def heading(self) -> tuple[str, ...]:
        return (*self.passage.heading, *self.unit.heading)[-1:] or (self.passage.title,)

    @property
    def is_step(self) -> bool:
        return self.unit.shape in _TIERS

    @property
    def rank(self) -> tuple[bool, int, int, int]:
        tier = _TIERS.index(self.unit.shape)
        told = any(map(_TO_DO.search, (*self.unit.heading, self.unit.lead)))
        return not (told or not tier), tier, self.number, self.unit.place


def _run(places: Sequence[_Place]) -> Iterator[_Place]:
    """A procedure alone; commands and items with those that follow in their section."""
    first = places[0]
    if first.unit.shape is Shape.PROCEDURE:
        yield first
        return
    yield from takewhile(
        lambda place: (
            (place.passage.id, place.unit.heading) == (first.passage.id, first.unit.heading)
        ),
        places,
    )


def _steps(places: Sequence[_Place], bounds: StepBounds) -> Steps:
    first = places[0]
    pieces: list[str] = []
    lead = ""
    for place in places:
        if place.unit.lead and place.unit.lead != lead:
            pieces.append(place.unit.lead)
        same_list = bool(pieces) and place.unit.shape is Shape.LIST and place.unit.lead == lead
        lead = place.unit.lead
        if same_list and pieces[-1] != lead:
            pieces[-1] += f"\n{place.unit.text}"
        else:
            pieces.append(place.unit.text)
    text = "\n\n".join(pieces)
    bounded = _bounded(text, bounds.characters)
    return Steps(first.passage, _path(first), bounded, bounded == text)


def _path(place: _Place) -> tuple[str, ...]:
    return place.unit.heading or place.passage.heading


def _bounded(text: str, limit: int) -> str:
    """`text`, cut between blocks; one block alone is never cut."""
    kept = blocks(text)
    while len(kept) > 1 and len(join(kept)) > limit:
        kept.pop()
    shown = join(kept).rstrip()
    return text if shown == text.rstrip() else f"{shown}\n\n{_CUT}"
