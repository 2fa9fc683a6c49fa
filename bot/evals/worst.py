"""The questions that went worst, with what was expected and what was retrieved instead. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from bot.evals.metrics import all_parts_at, any_part_at
from bot.evals.report import is_answered, is_right
from bot.evals.run import SOURCE, Result
from graph.model import Outcome

RETRIEVED = 3  # documents shown of each ranking


class Fault(StrEnum):
    """What went wrong, worst first."""

    FALSE_ANSWER = "answered, though the documents hold no answer"
    OTHER_SOURCE = "answered from other documents than the expected ones"
    REFUSED = "refused, though the documents hold the answer"
    MISSED = "expected documents not among the first"


@dataclass(frozen=True, slots=True)
class Retrieved:
    """A document as it was ranked, by its best passage."""

    document: str
    heading: str
    relevance: float
    expected: bool


@dataclass(frozen=True, slots=True)
class Expected:
    """Any of `documents` holds one needed fact. `place`: of the best one, from 1; None: nowhere."""

    documents: tuple[str, ...]
    place: int | None


@dataclass(frozen=True, slots=True)
class Miss:
    result: Result
    fault: Fault
    expected: tuple[Expected, ...]
    retrieved: tuple[Retrieved, ...]


def misses(results: Sequence[Result]) -> list[Miss]:
    """Every question that went wrong: by fault, then the most confident mistakes first."""
    found = [
        Miss(item, fault, _expected(item), _retrieved(item))
        for item in results
        if (fault := _fault(item)) is not None
    ]
    order = list(Fault)
    return sorted(found, key=lambda miss: (order.index(miss.fault), -miss.result.trace.relevance))


def _fault(item: Result) -> Fault | None:
    if not item.row.answerable:
        return Fault.FALSE_ANSWER if is_answered(item) else None
    if is_answered(item) and not is_right(item):
        return Fault.OTHER_SOURCE
    if item.answer.outcome not in (Outcome.ANSWERED, Outcome.PARTIAL):
        return Fault.REFUSED
    return None if _found(item) else Fault.MISSED


def _found(item: Result) -> bool:
    """As recall counts it: one document among the first 5, of several needed all among 8."""
    parts = item.row.parts
    if len(parts) > 1:
        return all_parts_at(parts, item.ranking, 8)
    return any_part_at(parts, item.ranking, 5)


def _expected(item: Result) -> tuple[Expected, ...]:
    found = []
    for part in item.row.parts:
        places = [item.ranking.index(name) + 1 for name in part.documents if name in item.ranking]
        found.append(Expected(tuple(sorted(part.documents)), min(places, default=None)))
    return tuple(found)


def _retrieved(item: Result) -> tuple[Retrieved, ...]:
    wanted = frozenset().union(*(part.documents for part in item.row.parts))
    best: dict[str, Retrieved] = {}
    for row in item.trace.candidates:
        name = row.document.removeprefix(SOURCE + "/")
        best.setdefault(name, Retrieved(name, row.heading, row.relevance, name in wanted))
    return tuple(best.values())[:RETRIEVED]
