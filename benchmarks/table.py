"""A figure, and a Markdown table of them."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

from bot.evals.metrics import quantile


@dataclass(frozen=True, slots=True)
class Figure:
    """`what` was measured, how much it came to, and the parts of a ratio."""

    what: str
    value: str
    parts: str = ""


def markdown(figures: Sequence[Figure]) -> str:
    rows = ["| figure | value | measured from |", "|---|---|---|"]
    rows += [f"| {figure.what} | {figure.value} | {figure.parts} |" for figure in figures]
    return "\n".join(rows)


def ratio(what: str, above: float, below: float, unit: str) -> Figure:
    value = above / below if below else float("nan")
    return Figure(what, f"{value:.2f}", f"{above:.1f} {unit} ÷ {below:.1f} {unit}")


async def timed(work: Callable[[], Awaitable[object]]) -> float:
    """Milliseconds of wall time."""
    started = time.perf_counter()
    await work()
    return (time.perf_counter() - started) * 1000


def median(values: Sequence[float]) -> float:
    return quantile(values, 0.5)


def span(milliseconds: Sequence[float]) -> str:
    """The median and the 99th percentile."""
    return f"{quantile(milliseconds, 0.5):.0f} / {quantile(milliseconds, 0.99):.0f} ms"
