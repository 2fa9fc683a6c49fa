"""Rows of Markdown tables that have more cells than the header.

GitHub's rules drop such cells. Models write commands with pipes into tables, and a reader must
not lose half of one: pipes inside code spans become part of the cell, other surplus cells join
the last one.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import takewhile

from markdown_it.token import Token

_PIPE = re.compile(r"(?<!\\)\|")
_JOINED = r"\|"


def mend_tables(markdown: str, tokens: Sequence[Token]) -> str:
    """The text with the rows of all its tables mended; `tokens` are of its parse."""
    lines = markdown.split("\n")
    for index, token in enumerate(tokens):
        if token.type == "table_open" and token.map:
            start, stop = token.map
            size = _columns(tokens[index:])
            for at in range(start + 2, stop):
                lines[at] = _mended(lines[at], size)
    return "\n".join(lines)


def _columns(tokens: Sequence[Token]) -> int:
    head = takewhile(lambda token: token.type != "thead_close", tokens)
    return sum(token.type == "th_open" for token in head)


def _cells(row: str) -> list[str]:
    cells = _PIPE.split(row)
    if not cells[0].strip(" \t>"):
        cells = cells[1:]
    return cells[:-1] if len(cells) > 1 and not cells[-1].strip() else cells


def _mended(row: str, size: int) -> str:
    cells = _cells(row)
    if len(cells) <= size:
        return row
    joined: list[str] = []
    for cell in cells:
        if joined and joined[-1].count("`") % 2:
            joined[-1] += _JOINED + cell
        else:
            joined.append(cell)
    kept, surplus = joined[: size - 1], joined[size - 1 :]
    lead = row[: len(row) - len(row.lstrip(" \t>"))]
    return f"{lead}|{'|'.join([*kept, _JOINED.join(surplus)])}|"
