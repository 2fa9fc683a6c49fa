"""Excel workbooks as Markdown: a section for each sheet, the rows as a table with its header.

Values are those that Excel saved; formulas are never computed and macros never looked at.
"""

from __future__ import annotations

import datetime as dt
import io
import re
from collections.abc import Iterator
from typing import Any

from openpyxl import load_workbook
from openpyxl.utils import get_column_letter

from adapters.documents.package import office_parts
from adapters.documents.tables import Page, Row, write
from bot.ingest.frontmatter import Issue
from bot.ingest.links import in_a_link
from bot.ingest.parse import Converted
from bot.ingest.reader import ReadingLimits, Refused
from bot.ingest.report import Reason

_UNSAVED = re.compile(rb"</f>\s*(?:<v\s*/>|<v>\s*</v>)?\s*</c>|<f[^>]*/>\s*(?:<v\s*/>)?\s*</c>")
_ZEROS = re.compile(r"0{2,}")
_DIGITS = 15  # significant digits that Excel keeps


def convert(data: bytes, limits: ReadingLimits) -> Converted:
    """The visible sheets, at most `limits.rows` rows each. Raises Refused."""
    parts = office_parts(data, limits)
    book = load_workbook(io.BytesIO(data), read_only=True, data_only=True, keep_links=False)
    page, issues = Page(), _unsaved(parts)
    try:
        for name in book.sheetnames:
            sheet = book[name]
            if not hasattr(sheet, "iter_rows"):
                issues.append(Issue(0, f"chart {name!r} left out"))
            elif sheet.sheet_state != "visible":
                issues.append(Issue(0, f"hidden sheet {name!r} left out"))
            else:
                issues += _sheet(page, name, sheet, limits)
    finally:
        book.close()
    if not page.lines and not issues:
        raise Refused(Reason.NO_TEXT, "every sheet is empty")
    title = book.properties.title or ""
    return Converted(
        "\n".join(page.lines), title, issues=tuple(issues), anchors=tuple(page.anchors)
    )


def _sheet(page: Page, name: str, sheet: Any, limits: ReadingLimits) -> Iterator[Issue]:
    sheet.reset_dimensions()  # what a file says of its size need not be true
    rows: list[Row] = []
    place = name if name.isalnum() else f"'{name}'"
    wide = False
    for number, cells in enumerate(sheet.iter_rows(), start=1):
        if number > limits.rows:
            yield Issue(0, f"sheet {name!r}: rows after the first {limits.rows} were not read")
            break
        wide = wide or len(cells) > limits.columns
        texts = tuple(shown(cell.value, _format(cell)) for cell in cells[: limits.columns])
        rows.append(Row(texts, in_a_link(f"{place}!A{number}")))
    if wide:
        last = get_column_letter(limits.columns)
        yield Issue(0, f"sheet {name!r}: columns after {last} were not read")
    if any(any(row.cells) for row in rows):
        page.text(f"## {name}", in_a_link(f"{place}!A1"))
        page.text("")
        write(page, rows)


def _format(cell: Any) -> str:
    return getattr(cell, "number_format", None) or "General"


def shown(value: Any, number_format: str) -> str:
    """A value as people read it in the sheet, in the notation of ISO 8601 for dates."""
    if isinstance(value, bool):
        return "TRUE" if value else "FALSE"
    if isinstance(value, int | float):
        return _number(value, number_format)
    if isinstance(value, dt.datetime):
        whole = value.time() == dt.time()
        return value.date().isoformat() if whole else value.isoformat(" ", "minutes")
    if isinstance(value, dt.time):
        return value.isoformat("minutes" if not value.second else "seconds")
    return "" if value is None else str(value)


def _number(value: float, number_format: str) -> str:
    if "%" in number_format:
        return f"{_plain(value * 100)}%"
    if _ZEROS.fullmatch(number_format) and float(value).is_integer():
        return f"{int(value):0{len(number_format)}d}"
    return _plain(value)


def _plain(value: float) -> str:
    if isinstance(value, int) or float(value).is_integer():
        return str(int(value))
    return f"{value:.{_DIGITS}g}"


def _unsaved(parts: dict[str, bytes]) -> list[Issue]:
    """Formulas whose value was never saved: the program that wrote them did not compute."""
    count = sum(
        len(_UNSAVED.findall(xml))
        for name, xml in parts.items()
        if name.startswith("xl/worksheets/")
    )
    if not count:
        return []
    message = f"formulas without a saved value: {count}; open the file in Excel and save it"
    return [Issue(0, message)]
