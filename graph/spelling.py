"""Near spellings of an unknown word among the words of the index."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

WORTH = 0.8
"""What a corrected word is worth against the word itself."""

Shelves = Mapping[tuple[str, int], list[str]]

_LONG = 9  # letters from which two edits are forgiven
_SHORTEST = 5  # shorter words have too many neighbours one edit away


def distance(left: str, right: str, limit: int) -> int:
    """Edit distance with adjacent swaps counted once (optimal string alignment), up to `limit`."""
    left, right = _differing(left, right)
    if abs(len(left) - len(right)) > limit:
        return limit + 1
    if not left or not right:
        return max(len(left), len(right))
    before: list[int] = []
    previous: list[int] = []
    row = list(range(len(right) + 1))
    for i, a in enumerate(left, 1):
        before, previous, row = previous, row, [i]
        for j, b in enumerate(right, 1):
            cost = min(previous[j] + 1, row[j - 1] + 1, previous[j - 1] + (a != b))
            if i > 1 and j > 1 and a == right[j - 2] and left[i - 2] == b:
                cost = min(cost, before[j - 2] + 1)
            row.append(cost)
        if min(row) > limit:
            return limit + 1
    return row[-1]


def _differing(left: str, right: str) -> tuple[str, str]:
    """What is left of two words without their common beginning and end."""
    shorter = min(len(left), len(right))
    start = 0
    while start < shorter and left[start] == right[start]:
        start += 1
    end = 0
    while end < shorter - start and left[-1 - end] == right[-1 - end]:
        end += 1
    return left[start : len(left) - end], right[start : len(right) - end]


def near_spellings(stem: str, known: Shelves) -> list[str]:
    """Known stems one edit away (two from nine letters on) with the same first letter."""
    if len(stem) < _SHORTEST or not stem.isalpha():
        return []
    limit = 2 if len(stem) >= _LONG else 1
    return [
        item
        for length in range(len(stem) - limit, len(stem) + limit + 1)
        for item in known.get((stem[0], length), ())
        if distance(stem, item, limit) <= limit
    ]


def shelved(known: Iterable[str]) -> Shelves:
    """Words by first letter and length, so that few are compared."""
    shelves: dict[tuple[str, int], list[str]] = {}
    for item in known:
        if item.isalpha():
            shelves.setdefault((item[0], len(item)), []).append(item)
    return shelves
