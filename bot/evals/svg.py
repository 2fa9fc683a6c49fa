"""Charts as inline SVG, coloured by CSS classes of the page, so light and dark both work. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from bot.evals.markup import Html, element, joined

WIDTH = 560.0  # user units; text is 15 of them high, so it can be read when a phone shrinks it
EDGE = 20.0
BINS = 20
SETTLED = 0.1  # of the horizontal axis of curves
_RIDGE, _BAR = 50.0, 24.0  # height of a row, and of its tallest bar
_SLANT = 86.0  # room above the rows for slanted labels
_AXIS = 46.0  # room below for ticks and the axis' name
_REACHES = ((0.1, 0.02), (0.2, 0.05), (0.3, 0.05), (0.5, 0.1), (1.0, 0.2))  # (end, step) of y


@dataclass(frozen=True, slots=True)
class Row:
    """Values from 0 to 1 of one kind. `tone` is the CSS class of its bars."""

    label: str
    values: tuple[float, ...]
    tone: str


@dataclass(frozen=True, slots=True)
class Mark:
    """A vertical line at a value from 0 to 1."""

    label: str
    at: float


@dataclass(frozen=True, slots=True)
class Curve:
    """A line through (x, y), both shares from 0 to 1. `tone` is its CSS class."""

    label: str
    points: tuple[tuple[float, float], ...]
    tone: str


@dataclass(frozen=True, slots=True)
class Dot:
    label: str
    x: float
    y: float
    apart: bool = False  # filled, and labelled below


def histograms(description: str, rows: Sequence[Row], marks: Iterable[Mark], axis: str) -> Html:
    """A histogram for each row over one axis from 0 to 1; each is as high as its fullest bin."""
    bottom = _SLANT + len(rows) * _RIDGE
    drawn = [_ridge(row, _SLANT + (place + 1) * _RIDGE) for place, row in enumerate(rows)]
    lines = [_mark(mark, bottom) for mark in marks]
    ticks = [_tick(_x(step / 5), bottom, f"{step / 5:.1f}") for step in range(6)]
    return _svg(description, bottom + _AXIS, *drawn, *lines, *ticks, _axis_name(axis, bottom))


def curves(
    description: str, lines: Sequence[Curve], dots: Sequence[Dot], axis: str, upright: str
) -> Html:
    """Lines and points over shares: x from 0 to 100 %, y as far as anything goes from x = 10 %.

    Before that a share is of so few that it jumps; a line that leaves the chart runs along its top.
    """
    top, bottom = 34.0, 330.0
    heights = [y for line in lines for x, y in line.points if x >= SETTLED]
    highest = max([*heights, *(dot.y for dot in dots)], default=0.0)
    reach, step = next((r, s) for r, s in _REACHES if highest <= r)

    def place(x: float, y: float) -> tuple[float, float]:
        return _x(x, 46.0), bottom - min(y / reach, 1.0) * (bottom - top)

    levels = [step * count for count in range(round(reach / step) + 1)]
    grid = [_level(place(0, y)[1], f"{y:.0%}") for y in levels]
    ticks = [_tick(place(count / 5, 0)[0], bottom, f"{count * 20}%") for count in range(6)]
    drawn = [_path([place(*point) for point in line.points], line.tone) for line in lines]
    turns = sorted(dots, key=lambda dot: (dot.apart, dot.x))
    spots = [_dot(dot, *place(dot.x, dot.y), n % 2 == 0) for n, dot in enumerate(turns)]
    name = element("text", upright, x=4, y=18, class_="name")
    return _svg(
        description, bottom + _AXIS, *grid, *ticks, *drawn, *spots, name, _axis_name(axis, bottom)
    )


def stacked(description: str, rows: Mapping[str, Mapping[str, int]], names: Sequence[str]) -> Html:
    """One full bar a row, shared out among `names`, which are also the CSS classes."""
    drawn = [
        _shares(label, counts, names, place * _RIDGE)
        for place, (label, counts) in enumerate(rows.items())
    ]
    return _svg(description, len(rows) * _RIDGE + 6, *drawn)


def _ridge(row: Row, base: float) -> Html:
    counts = [0] * BINS
    for value in row.values:
        counts[min(int(max(value, 0.0) * BINS), BINS - 1)] += 1
    most = max(counts, default=0)
    width = (WIDTH - 2 * EDGE) / BINS
    bars = [
        _box(EDGE + place * width, base, width - 1, count / most * _BAR, row.tone)
        for place, count in enumerate(counts)
        if count
    ]
    line = element("line", x1=EDGE, x2=WIDTH - EDGE, y1=base, y2=base, class_="base")
    label = element("text", row.label, x=EDGE, y=base - _BAR - 6, class_="label")
    return joined(*bars, line, label)


def _box(x: float, base: float, width: float, height: float, tone: str) -> Html:
    return element("rect", x=x, y=base - height, width=width, height=height, class_=tone)


def _mark(mark: Mark, bottom: float) -> Html:
    x = _x(mark.at)
    line = element("line", x1=x, x2=x, y1=_SLANT, y2=bottom, class_="mark")
    turn = f"translate({x:.1f} {_SLANT - 5:.1f}) rotate(-38)"
    return joined(line, element("text", mark.label, transform=turn))


def _tick(x: float, bottom: float, text: str) -> Html:
    line = element("line", x1=x, x2=x, y1=bottom, y2=bottom + 5, class_="base")
    label = element("text", text, x=x, y=bottom + 20, text_anchor="middle", class_="tick")
    return joined(line, label)


def _level(y: float, text: str) -> Html:
    line = element("line", x1=46, x2=WIDTH - EDGE, y1=y, y2=y, class_="grid")
    return joined(line, element("text", text, x=42, y=y + 5, text_anchor="end", class_="tick"))


def _axis_name(text: str, bottom: float) -> Html:
    return element("text", text, x=WIDTH / 2, y=bottom + 41, text_anchor="middle", class_="name")


def _path(points: Sequence[tuple[float, float]], tone: str) -> Html:
    steps = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
    return element("polyline", points=steps, class_=tone)


def _dot(dot: Dot, x: float, y: float, above: bool) -> Html:
    """Neighbours have their labels above and below by turns, so that they do not meet."""
    circle = element("circle", cx=x, cy=y, r=6, class_="apart" if dot.apart else "dot")
    place = y - 12 if above and not dot.apart else y + 24
    return joined(circle, element("text", dot.label, x=x, y=place, text_anchor="middle"))


def _shares(label: str, counts: Mapping[str, int], names: Sequence[str], top: float) -> Html:
    total = sum(counts.values())
    x, bars = EDGE, []
    for name in names:
        width = (WIDTH - 2 * EDGE) * counts.get(name, 0) / max(total, 1)
        if width:
            bars.append(_box(x, top + 44, max(width - 1, 1), 18, name))
        x += width
    return joined(element("text", label, x=EDGE, y=top + 19, class_="label"), *bars)


def _x(value: float, left: float = EDGE) -> float:
    return left + value * (WIDTH - left - EDGE)


def _svg(description: str, height: float, *content: str) -> Html:
    return element(
        "svg",
        *content,
        viewBox=f"0 0 {WIDTH:.0f} {height:.0f}",
        role="img",
        aria_label=description,
    )
