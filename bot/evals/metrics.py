"""Arithmetic of evaluation: recall, AUROC, quantiles. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil

from bot.evals.rows import Part


def any_part_at(parts: Sequence[Part], ranking: Sequence[str], k: int) -> bool:
    """True when one of the first `k` documents holds one of the needed facts."""
    top = frozenset(ranking[:k])
    return any(part.documents & top for part in parts)


def all_parts_at(parts: Sequence[Part], ranking: Sequence[str], k: int) -> bool:
    """True when the first `k` documents hold every needed fact."""
    top = frozenset(ranking[:k])
    return bool(parts) and all(part.documents & top for part in parts)


def auroc(positive: Sequence[float], negative: Sequence[float]) -> float | None:
    """The chance that a positive outscores a negative, ties counted half; None without either."""
    if not positive or not negative:
        return None
    wins = sum((p > n) + 0.5 * (p == n) for p in positive for n in negative)
    return wins / (len(positive) * len(negative))


def share(flags: Sequence[bool]) -> float | None:
    return sum(flags) / len(flags) if flags else None


def quantile(values: Sequence[float], q: float) -> float:
    """The smallest value that at least `q` of all do not exceed; 0 for none."""
    ordered = sorted(values)
    return ordered[max(ceil(q * len(ordered)) - 1, 0)] if ordered else 0.0
