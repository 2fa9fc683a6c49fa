"""Tables as text: values separated by commas, semicolons, tabs or bars."""

from __future__ import annotations

import csv
import sys
from collections import Counter
from collections.abc import Iterator
from itertools import islice

from adapters.documents.tables import Page, Row, write
from bot.ingest.frontmatter import Issue
from bot.ingest.parse import ConversionFailed, Converted

_DELIMITERS = (",", ";", "\t", "|")
_SAMPLE = 100  # rows
_DECLARED = "sep="  # the first line by which Excel is told the delimiter


def convert(text: str, max_rows: int, max_columns: int) -> Converted:
    """The table with its header. Raises ConversionFailed for what is no table at all."""
    lines = text.split("\n")
    skipped = 1 if lines[0].lower().startswith(_DECLARED) else 0
    delimiter = lines[0][len(_DECLARED) :][:1] if skipped else _delimiter(lines)
    csv.field_size_limit(sys.maxsize)
    issues = []
    try:
        body = lines[skipped:]
        stray = _stray_quote(body, delimiter or ",")
        if stray:
            issues.append(
                Issue(stray + skipped, "a quotation mark without its end was read as text")
            )
        found = _rows(body, delimiter or ",", skipped, quoted=not stray)
        rows = list(islice(found, max_rows + 1))
    except csv.Error as error:
        raise ConversionFailed("not readable as a table") from error
    if len(rows) > max_rows:
        rows = rows[:max_rows]
        issues.append(Issue(0, f"rows after the first {max_rows} were not read"))
    if any(len(row.cells) > max_columns for row in rows):
        issues.append(Issue(0, f"columns after the first {max_columns} were not read"))
        rows = [Row(row.cells[:max_columns], row.anchor) for row in rows]
    page = Page()
    write(page, rows)
    return Converted("\n".join(page.lines), issues=tuple(issues), anchors=tuple(page.anchors))


def _stray_quote(lines: list[str], delimiter: str) -> int:
    """The line (from 1) of the record that a quotation mark without its end makes of all that
    follows; 0 for none."""
    reader = csv.reader((f"{line}\n" for line in lines), delimiter=delimiter)
    start, last = 1, 1
    for _ in reader:
        start, last = last, reader.line_num + 1
    swallowed = lines[start - 1 :]
    odd = sum(line.count('"') for line in swallowed) % 2 == 1
    return start if odd and any(line.strip() for line in swallowed[1:]) else 0


def _rows(lines: list[str], delimiter: str, above: int, *, quoted: bool = True) -> Iterator[Row]:
    text = (f"{line}\n" for line in lines)
    reader = (
        csv.reader(text, delimiter=delimiter)
        if quoted
        else csv.reader(text, delimiter=delimiter, quoting=csv.QUOTE_NONE)
    )
    start = 1
    for cells in reader:
        yield Row(tuple(cells), f"L{start + above}")
        start = reader.line_num + 1


def _delimiter(lines: list[str]) -> str:
    """The one that cuts most rows into the same number of cells, more than one."""
    best, most = ",", 0.0
    for candidate in _DELIMITERS:
        try:
            sample = list(islice(_rows(lines, candidate, 0), _SAMPLE))
        except csv.Error:
            continue
        widths = Counter(len(row.cells) for row in sample if len(row.cells) > 1)
        if not widths:
            continue
        width, agreeing = widths.most_common(1)[0]
        score = agreeing / len(sample) + width / 1000
        if score > most:
            best, most = candidate, score
    return best
