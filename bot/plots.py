"""Pictures of distributions. adapters/plots.py draws them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol


@dataclass(frozen=True, slots=True)
class Ridge:
    """One kind of values: a histogram of its own on the shared axis. Equal groups, equal colour."""

    label: str
    values: tuple[float, ...]
    group: int  # index into Plot.groups


@dataclass(frozen=True, slots=True)
class Line:
    """A vertical line through every ridge, with a word beside each of them."""

    label: str
    at: float
    beside: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Panel:
    title: str
    ridges: tuple[Ridge, ...]
    lines: tuple[Line, ...]


@dataclass(frozen=True, slots=True)
class Axis:
    label: str
    ticks: tuple[tuple[float, str], ...]  # (place on the first axis, text)


@dataclass(frozen=True, slots=True)
class Plot:
    """Histograms over 0 to 1. `second` is another scale for the same axis."""

    title: str
    note: str
    groups: tuple[str, ...]  # for the legend
    panels: Sequence[Panel]
    first: Axis
    second: Axis


class Plots(Protocol):
    def save(self, plot: Plot, file: Path) -> None:
        """Writes a PNG. Raises StorageError when the file cannot be written."""
