"""The price of answering more: how many answers would be false if more questions were answered.

Selective prediction calls this the risk-coverage curve (El-Yaniv and Wiener, "On the Foundations
of Noise-free Selective Classification", 2010). Pure.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

Scored = tuple[float, bool]  # (score of a question, whether the documents hold its answer)


@dataclass(frozen=True, slots=True)
class Point:
    """Answering every question that scores at least `at`.

    `coverage`: the share of all questions that is answered. `risk`: the share of these that the
    documents hold no answer to; 0 when nothing is answered.
    """

    at: float
    coverage: float
    risk: float


def risk_coverage(scored: Sequence[Scored]) -> list[Point]:
    """One point for each score that occurs, strictest first. Equal scores go together."""
    return [point(scored, at) for at in sorted({score for score, _ in scored}, reverse=True)]


def point(scored: Sequence[Scored], at: float) -> Point:
    answered = [answerable for score, answerable in scored if score >= at]
    return Point(
        at, _share(len(answered), len(scored)), _share(answered.count(False), len(answered))
    )


def _share(part: int, whole: int) -> float:
    return part / whole if whole else 0.0
