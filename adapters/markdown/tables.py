"""Tables on a phone: aligned in monospace when narrow, else one short list for each row."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence

NARROW = 34  # columns of monospace that a small phone shows without wrapping
_GAP = "  "


def aligned(rows: Sequence[Sequence[str]], right: Sequence[bool], width: int = NARROW) -> str:
    """The rows (header first) in columns with a line under the header; "" when wider than `width`.

    `right` says for each column whether it is flush right.
    """
    widths = [max(columns(cell) for cell in column) for column in zip(*rows, strict=True)]
    total = sum(widths) + len(_GAP) * (len(widths) - 1)
    if total > width or any("\n" in cell for row in rows for cell in row):
        return ""
    lines = [_line(row, widths, right) for row in rows]
    rule = _GAP.join("─" * size for size in widths)
    return "\n".join([lines[0], rule, *lines[1:]])


def _line(row: Sequence[str], widths: Sequence[int], right: Sequence[bool]) -> str:
    cells = []
    for cell, size, flush in zip(row, widths, right, strict=True):
        space = " " * (size - columns(cell))
        cells.append(space + cell if flush else cell + space)
    return _GAP.join(cells).rstrip()


def columns(text: str) -> int:
    """How many monospace columns a text takes: wide signs and emoji two, accents none."""
    return sum(_columns(char) for char in text)


def _columns(char: str) -> int:
    if unicodedata.combining(char) or unicodedata.category(char) in ("Mn", "Me", "Cf"):
        return 0
    return 2 if unicodedata.east_asian_width(char) in "WF" else 1
