"""Pictures with matplotlib, which is an optional extra."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from bot.errors import SettingsError, StorageError
from bot.plots import Line, Panel, Plot, Plots, Ridge

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

PIXELS_AN_INCH = 100
WIDTH = 12.0  # inches
HEIGHT_OF_RIDGE, HEIGHT_OF_PANEL, HEIGHT_OF_REST = 0.85, 1.55, 1.5
BINS = 40
PEAK = 0.72  # of a ridge's height; the rest keeps ridges apart
COLOURS = ("#d9822b", "#2b6cb0")  # told apart by colour-blind readers too
INK, FAINT = "#222222", "#8a8a8a"


class MatplotlibPlots(Plots):
    def save(self, plot: Plot, file: Path) -> None:
        figure = _figure(plot)
        try:
            figure.savefig(file, format="png", dpi=PIXELS_AN_INCH)
        except OSError as error:
            raise StorageError(
                f"The picture {str(file)!r} cannot be written: {error.strerror or error}.",
                "Name a file in a folder that exists and can be written to.",
            ) from None


def _figure(plot: Plot) -> Figure:
    from matplotlib.figure import Figure  # noqa: PLC0415 - half a second that only a plot pays
    from matplotlib.layout_engine import ConstrainedLayoutEngine  # noqa: PLC0415

    rows = sum(len(panel.ridges) for panel in plot.panels)
    height = HEIGHT_OF_REST + rows * HEIGHT_OF_RIDGE + len(plot.panels) * HEIGHT_OF_PANEL
    layout = ConstrainedLayoutEngine(rect=(0.01, 0.01, 0.98, 0.9), w_pad=0.1)
    figure = Figure(figsize=(WIDTH, height), layout=layout, facecolor="white")
    figure.text(0.02, 0.982, plot.title, fontsize=15, fontweight="bold", color=INK, va="top")
    figure.text(0.02, 0.955, plot.note, fontsize=10.5, color=INK, va="top", linespacing=1.4)
    shares = [len(panel.ridges) + HEIGHT_OF_PANEL / HEIGHT_OF_RIDGE for panel in plot.panels]
    grid = figure.subplots(len(plot.panels), 1, squeeze=False, height_ratios=shares)
    for axes, panel in zip(grid[:, 0], plot.panels, strict=True):
        _draw(axes, panel, plot)
    _legend(figure, plot)
    return figure


def _draw(axes: Axes, panel: Panel, plot: Plot) -> None:
    count = len(panel.ridges)
    axes.set_title(panel.title, fontsize=13, fontweight="bold", loc="left", pad=58, color=INK)
    axes.set_xlim(0, 1)
    axes.set_ylim(-0.12, count)
    for place, ridge in enumerate(panel.ridges):
        _ridge(axes, ridge, count - 1 - place)
    for line in panel.lines:
        _line(axes, line, count)
    axes.set_yticks(
        [count - 1 - place + 0.3 for place in range(count)],
        [ridge.label for ridge in panel.ridges],
        fontsize=10,
    )
    axes.tick_params(axis="y", length=0)
    axes.set_xticks([at for at, _ in plot.first.ticks], [text for _, text in plot.first.ticks])
    axes.set_xlabel(plot.first.label, fontsize=10)
    axes.spines[["top", "right", "left"]].set_visible(False)
    second = axes.secondary_xaxis(-0.2)
    second.set_xticks([at for at, _ in plot.second.ticks], [text for _, text in plot.second.ticks])
    second.set_xlabel(plot.second.label, fontsize=10, color=FAINT)
    second.tick_params(colors=FAINT)
    second.spines["bottom"].set_color(FAINT)


def _ridge(axes: Axes, ridge: Ridge, base: int) -> None:
    colour = COLOURS[ridge.group % len(COLOURS)]
    axes.axhline(base, color=INK, linewidth=0.8)
    if not ridge.values:
        axes.text(0.01, base + 0.2, "none yet", fontsize=10, style="italic", color=FAINT)
        return
    counts, edges = np.histogram(ridge.values, bins=BINS, range=(0, 1))
    axes.stairs(
        base + counts / counts.max() * PEAK,
        edges,
        baseline=base,
        fill=True,
        color=colour,
        alpha=0.75,
    )
    axes.vlines(ridge.values, base - 0.07, base - 0.01, color=colour, linewidth=0.7, alpha=0.6)


def _line(axes: Axes, line: Line, count: int) -> None:
    from matplotlib.patheffects import withStroke  # noqa: PLC0415

    axes.vlines(line.at, -0.1, count, color=INK, linewidth=1.1, linestyle=(0, (4, 3)))
    axes.annotate(
        line.label,
        (line.at, count),
        xytext=(0, 3),
        textcoords="offset points",
        rotation=30,
        ha="left",
        va="bottom",
        fontsize=10,
        color=INK,
        annotation_clip=False,
    )
    halo = withStroke(linewidth=3, foreground="white")
    for place, word in enumerate(line.beside):
        axes.annotate(
            word,
            (line.at, count - 1 - place + 0.62),
            xytext=(3, 0),
            textcoords="offset points",
            fontsize=10,
            fontweight="bold",
            color=INK,
            path_effects=[halo],
        )


def _legend(figure: Figure, plot: Plot) -> None:
    from matplotlib.lines import Line2D  # noqa: PLC0415
    from matplotlib.patches import Patch  # noqa: PLC0415

    handles: list[Patch | Line2D] = [
        Patch(color=COLOURS[place % len(COLOURS)], alpha=0.75, label=label)
        for place, label in enumerate(plot.groups)
    ]
    handles.append(Line2D([], [], color=INK, linestyle=(0, (4, 3)), label="threshold"))
    figure.legend(
        handles=handles, loc="outside lower center", ncols=len(handles), frameon=False, fontsize=10
    )


def create() -> Plots:
    """The factory that bot/registry.py names. Raises SettingsError when matplotlib is missing."""
    if find_spec("matplotlib") is None:
        raise SettingsError(
            "A plot needs the package matplotlib, which is not installed.",
            'Run `pip install ".[plot]"` in the folder of Belay, or leave out --plot.',
        )
    return MatplotlibPlots()
