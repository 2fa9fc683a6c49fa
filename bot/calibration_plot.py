"""The words and places of the calibration's picture. Pure; adapters/plots.py draws it."""

from __future__ import annotations

from itertools import groupby

from bot.calibration import NAMES, Kind, Overview, Sample, Threshold
from bot.plots import Axis, Line, Panel, Plot, Ridge
from graph.model import LANGUAGES, Language
from graph.relevance import relevance

TITLE = "How well questions match the documents, and which of them each threshold lets through"
NOTE = (
    "Each question counts once, by its best passage. Those right of a dashed line reach that "
    "threshold;\nthe percentage at the line is their share of the row. Good thresholds keep most "
    "of the orange left and most of the blue right."
)
LABELS = {
    Kind.EVERYDAY: "everyday questions\nthat no document answers",
    Kind.FOREIGN: "sentences of a document,\nasked of all the others",
    Kind.ASKED: "questions asked here",
}
GROUPS = (
    "not answered by the documents: the negatives that the scale was fitted on",
    "asked here lately",
)
FIRST = "relevance of the best passage"
SECOND = "the same as u, which has no upper end"
_TICKS = tuple(round(step / 10, 1) for step in range(11))
_U_TICKS = (-2, -1, 0, 1, 2, 3)


def picture(view: Overview) -> Plot:
    return Plot(
        title=TITLE,
        note=NOTE,
        groups=GROUPS,
        panels=tuple(_panel(view, language) for language in LANGUAGES),
        first=Axis(FIRST, tuple((place, f"{place:.1f}") for place in _TICKS)),
        second=Axis(SECOND, tuple((relevance(u), f"{u:d}") for u in _U_TICKS)),
    )


def _panel(view: Overview, language: Language) -> Panel:
    samples = [item for item in view.samples if item.language == language]
    ridges = tuple(
        Ridge(
            f"{LABELS[item.kind]} ({len(item.u)})",
            tuple(relevance(value) for value in item.u),
            int(item.kind is Kind.ASKED),
        )
        for item in samples
    )
    lines = tuple(
        _line(list(same), samples) for _, same in groupby(view.thresholds, lambda t: t.relevance)
    )
    return Panel(f"Questions in {NAMES[language]}", ridges, lines)


def _line(same: list[Threshold], samples: list[Sample]) -> Line:
    """One line for thresholds of equal value."""
    value = same[0].relevance
    shares = [item.reaching(value) for item in samples]
    return Line(
        f"{', '.join(item.name for item in same)} {value:.2f}",
        value,
        tuple("" if share is None else f"{share:.0%}" for share in shares),
    )
