"""`belay calibration`: what the scale of relevance is fitted on, and what the thresholds do."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterable
from pathlib import Path

from bot.app import open_index
from bot.calibration import (
    NAMES,
    QUANTILES,
    Kind,
    Overview,
    Sample,
    hints,
    overview,
    to_json,
)
from bot.errors import SourceError
from bot.settings import Settings
from bot.terminal import Terminal
from bot.traces import TraceLog
from graph.relevance import relevance

_LABELS = {
    Kind.EVERYDAY: "everyday",
    Kind.FOREIGN: "other documents",
    Kind.ASKED: "asked here",
}
_LEGEND = (
    "everyday: questions of daily life that no team's documents answer",
    "other documents: sentences of one document, asked of all the others",
    "asked here: the last questions of this home, as they were scored when they were asked",
)
_ORIGINS = {
    "fitted": "on this index",
    "blended": "on this index, mixed with the scale that ships with Belay",
    "shipped": "not yet: this is the scale that ships with Belay",
}


async def calibration(
    settings: Settings, terminal: Terminal, plot: Path | None, as_json: bool
) -> None:
    view = await _overview(settings)
    if plot is not None:
        await _draw(view, plot)
    if as_json:
        terminal.plain(json.dumps(to_json(view), ensure_ascii=False, indent=2))
    else:
        _show(terminal, view)
    if plot is not None:
        terminal.note(f"drawn: {plot}")


async def _overview(settings: Settings) -> Overview:
    """Raises SourceError when there is nothing calibrated to show."""
    traces = await TraceLog(settings.home).all()
    index = await open_index(settings)
    try:
        info = await index.info()
        if not info.chunks:
            raise SourceError(
                "No documents are indexed, so nothing is calibrated.",
                "Index a folder first: belay sync ~/runbooks",
            )
        if info.profile_revision < 0:
            raise SourceError(
                "The first sync was cut short, so nothing is calibrated.", "Run: belay sync"
            )
        profile = await index.profile()
    finally:
        await index.close()
    return overview(profile, info.chunks, traces, settings.policy())


async def _draw(view: Overview, file: Path) -> None:
    from bot.calibration_plot import picture
    from bot.plots import Plots
    from bot.registry import factory

    plots: Plots = factory("plots")()
    await asyncio.to_thread(plots.save, picture(view), file)


def _show(terminal: Terminal, view: Overview) -> None:
    fitted = view.calibration
    terminal.plain(f"embedder    {view.embedder}")
    terminal.plain(f"chunks      {view.chunks}, {fitted.chunks} when the scale was fitted")
    terminal.plain(f"fitted      {fitted.fitted_at:%Y-%m-%d %H:%M} UTC, {_ORIGINS[fitted.origin]}")
    terminal.plain(f"questions   {view.asked} asked here\n")
    _show_anchors(terminal, view)
    terminal.plain("")
    _show_samples(terminal, view.samples)
    terminal.plain("")
    _show_passing(terminal, view)
    terminal.plain("\n" + "\n".join(_LEGEND))
    for hint in hints(view):
        terminal.plain(f"\nhint: {hint}")


def _show_anchors(terminal: Terminal, view: Overview) -> None:
    fitted = view.calibration
    rows = [
        (
            NAMES[asked],
            NAMES[held],
            *(f"{value:.3f}" for value in (anchor.m, anchor.g, words.m, words.g)),
            "",
            "",
        )
        for (asked, held), anchor in fitted.dense.items()
        for words in (fitted.lexical[asked, held],)
    ]
    rows += [
        (NAMES[asked], "all", "", "", "", "", f"{anchor.m:.3f}", f"{anchor.g:.3f}")
        for asked, anchor in fitted.final.items()
    ]
    columns = ("questions", "chunks", "cosine m", "g", "words m", "g", "fused m", "g")
    title = "Anchors: median m of the negatives, and the distance g above it that counts as one"
    terminal.table(columns, rows, title)


def _show_samples(terminal: Terminal, samples: Iterable[Sample]) -> None:
    columns = ("questions", "kind", "n", *(f"{share:.0%} are under" for share in QUANTILES))
    rows = [
        (
            NAMES[item.language],
            _LABELS[item.kind],
            str(len(item.u)),
            *(_score(item.quantile(share)) for share in QUANTILES),
        )
        for item in samples
    ]
    terminal.table(columns, rows, "Best passage of each question: relevance (u)")


def _show_passing(terminal: Terminal, view: Overview) -> None:
    lines = view.thresholds
    columns = ("questions", "kind", "n", *(f"{item.name} {item.relevance:.2f}" for item in lines))
    rows = [
        (
            NAMES[item.language],
            _LABELS[item.kind],
            str(len(item.u)),
            *(_percent(item.reaching(line.relevance)) for line in lines),
        )
        for item in view.samples
    ]
    terminal.table(columns, rows, "Share that each threshold lets through")


def _score(u: float | None) -> str:
    return "-" if u is None else f"{relevance(u):.2f} ({u:.2f})"


def _percent(value: float | None) -> str:
    return "-" if value is None else f"{value:.0%}"
