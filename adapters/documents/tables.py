"""Rows as Markdown: each one can be read without the rest of its table."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

_WIDE = 500  # characters; a longer header cannot be repeated with each piece of a table
_NUMBER = re.compile(r"[-+(]?\s*[\d.,:/\s%€$₽£-]*\d[\d.,:/\s%€$₽£)-]*")
_CELL = 32_767  # characters of one cell, as many as Excel allows


@dataclass(frozen=True, slots=True)
class Row:
    """The cells of one row, as people read them, and the row's place in the file."""

    cells: tuple[str, ...]
    anchor: str


@dataclass(slots=True)
class Page:
    """Markdown lines, and which place of the file some of them stand for."""

    lines: list[str] = field(default_factory=list)
    anchors: list[tuple[int, str]] = field(default_factory=list)

    def text(self, line: str, anchor: str = "") -> None:
        if anchor:
            self.anchors.append((len(self.lines), anchor))
        self.lines.append(line)


def write(page: Page, rows: Sequence[Row]) -> None:
    """Adds `rows` to `page` as tables: a blank row ends one, and a first row without numbers is
    its header. A row with a single cell above a table is its caption."""
    header: tuple[str, ...] = ()
    for found in _blocks(rows):
        block = _without_captions(page, found)
        if not block:
            continue
        first = _trimmed(block[0].cells)
        named = _is_header(first, block)
        header = first if named else header
        body = block[1:] if named else block
        width = max(len(_trimmed(row.cells)) for row in body)
        header = (*header, *(f"column {n + 1}" for n in range(len(header), width)))
        _table(page, header, body)


def cell(text: str) -> str:
    """A value as the text of a table's cell: on one line, its bars escaped."""
    text = " ".join(text.split())[:_CELL]
    return text.replace("\\", "\\\\").replace("|", "\\|") if "|" in text else text


def _blocks(rows: Sequence[Row]) -> list[list[Row]]:
    found: list[list[Row]] = [[]]
    for row in rows:
        if any(text.strip() for text in row.cells):
            found[-1].append(row)
        elif found[-1]:
            found.append([])
    return [block for block in found if block]


def _without_captions(page: Page, block: Sequence[Row]) -> list[Row]:
    rows = list(block)
    wide = any(_filled(row) > 1 for row in rows)
    while rows and _filled(rows[0]) == 1 and (wide or len(rows) == 1):
        text = next(text for text in rows[0].cells if text.strip())
        page.text(cell(text), rows[0].anchor)
        page.text("")
        rows = rows[1:]
    return rows


def _filled(row: Row) -> int:
    return sum(bool(text.strip()) for text in row.cells)


def _trimmed(cells: Sequence[str]) -> tuple[str, ...]:
    texts = list(cells)
    while texts and not texts[-1].strip():
        texts.pop()
    return tuple(cell(text) for text in texts)


def _is_header(first: Sequence[str], block: Sequence[Row]) -> bool:
    """Names only, each of them once: no numbers, no dates."""
    names = [text for text in first if text]
    unique = len({name.casefold() for name in names}) == len(names)
    return len(block) > 1 and unique and not any(_NUMBER.fullmatch(name) for name in names)


def _table(page: Page, header: tuple[str, ...], rows: Sequence[Row]) -> None:
    names = tuple(name or f"column {n + 1}" for n, name in enumerate(header))
    head = f"| {' | '.join(names)} |"
    if len(head) > _WIDE:
        _records(page, names, rows)
        return
    anchor = rows[0].anchor if rows else ""
    page.text(head, anchor)
    page.text(f"| {' | '.join('---' for _ in names)} |")
    for row in rows:
        texts = [cell(text) for text in row.cells[: len(names)]]
        texts += [""] * (len(names) - len(texts))
        page.text(f"| {' | '.join(texts)} |", row.anchor)
    page.text("")


def _records(page: Page, names: Sequence[str], rows: Sequence[Row]) -> None:
    """A list item for each row that names the column of each value."""
    for row in rows:
        pairs = [
            f"{name}: {cell(text)}" for name, text in zip(names, row.cells, strict=False)
            if text.strip()
        ]  # fmt: skip
        page.text(f"- {'; '.join(pairs)}", row.anchor)
    page.text("")
