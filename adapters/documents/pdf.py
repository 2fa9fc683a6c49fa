"""PDF as Markdown: the text layer, page by page.

A page without text is named, never guessed at. Headings come from the bookmarks, or else from
lines that are set clearly larger than the text; where neither is there, the pages are the
sections.
"""

from __future__ import annotations

import io
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import groupby
from typing import Any

from pypdf import PdfReader
from pypdf.errors import DependencyError, PdfReadError
from pypdf.generic import Destination

from adapters.documents.pdf_lines import Line, Sheet, joined, lines_of, markdown, without_repeats
from bot.ingest.frontmatter import Issue
from bot.ingest.parse import Converted
from bot.ingest.reader import ReadingLimits, Refused
from bot.ingest.report import Reason

_LEVELS = 4  # of headings by size
_LARGER = 1.15  # than the text: smaller differences are set for emphasis
_LONGEST = 120  # characters of a heading
_SHARE = 0.25  # of all lines; where more are large, size says nothing
_FOUND = 0.5  # of the bookmarks that must be found as lines to be trusted
_SENTENCE = re.compile(r"[.,;:!?]$")
_BOOKMARKS = 2000
_NO_TEXT = "no text layer (a scan or a picture?)"


def convert(data: bytes, limits: ReadingLimits) -> Converted:
    """The text of at most `limits.pages` pages. Raises Refused."""
    reader = _opened(data)
    try:
        count = len(reader.pages)
    except (PdfReadError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise Refused(Reason.BROKEN, "its pages cannot be found") from error
    sheets, broken = _sheets(reader, min(count, limits.pages))
    issues = list(_named(broken, "not readable"))
    if count > limits.pages:
        issues.append(
            Issue(0, f"pages {limits.pages + 1} to {count} were not read, limit {limits.pages}")
        )
    levels = _bookmarked(reader, sheets) or _sizes(sheets)
    sheets = without_repeats(_with_headings(sheets, levels))
    issues = [
        *_named(
            [sheet.number for sheet in sheets if not (sheet.lines or sheet.number in broken)],
            _NO_TEXT,
        ),
        *issues,
    ]
    sheets = joined(sheets)
    return _written(sheets, _title(reader), issues)


def _opened(data: bytes) -> PdfReader:
    try:
        reader = PdfReader(io.BytesIO(data), strict=False)
        if reader.is_encrypted and not reader.decrypt(""):
            raise Refused(Reason.ENCRYPTED, "save a copy without a password")
    except DependencyError as error:
        raise Refused(Reason.ENCRYPTED, "save a copy without encryption") from error
    except (PdfReadError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise Refused(Reason.BROKEN, "not readable as PDF; save or export it again") from error
    return reader


def _sheets(reader: PdfReader, count: int) -> tuple[list[Sheet], list[int]]:
    sheets: list[Sheet] = []
    broken: list[int] = []
    for number in range(1, count + 1):
        try:
            lines = lines_of(reader.pages[number - 1])
        except (MemoryError, RecursionError):
            raise
        except Exception:  # pypdf raises whatever a broken page makes it trip over
            broken.append(number)
            lines = []
        sheets.append(Sheet(number, tuple(lines)))
    return sheets, broken


def _named(numbers: Sequence[int], message: str) -> Iterator[Issue]:
    """`pages 3-5, 9: no text layer`"""
    runs = []
    for _, run in groupby(enumerate(numbers), key=lambda item: item[1] - item[0]):
        pages = [page for _, page in run]
        runs.append(str(pages[0]) if len(pages) == 1 else f"{pages[0]}-{pages[-1]}")
    if runs:
        word = "page" if len(numbers) == 1 else "pages"
        yield Issue(0, f"{word} {', '.join(runs)}: {message}")


Levels = Mapping[tuple[int, int], int]
"""Page and line of each heading, with its level."""


def _sizes(sheets: Sequence[Sheet]) -> Levels:
    """Headings by their size: each larger size is a level of its own."""
    places = [
        (sheet.number, index, line) for sheet in sheets for index, line in enumerate(sheet.lines)
    ]
    weights: dict[float, int] = {}
    for *_, line in places:
        weights[line.size] = weights.get(line.size, 0) + len(line.text)
    if not weights:
        return {}
    body = max(weights, key=lambda size: weights[size])
    large = [place for place in places if place[2].size >= body * _LARGER and _titled(place[2])]
    if not large or len(large) > max(1, len(places) * _SHARE):
        return {}
    sizes = sorted({line.size for *_, line in large}, reverse=True)
    return {(page, index): min(sizes.index(line.size) + 1, _LEVELS) for page, index, line in large}


def _with_headings(sheets: Sequence[Sheet], levels: Levels) -> list[Sheet]:
    return [
        replace(
            sheet,
            lines=tuple(
                replace(line, level=levels.get((sheet.number, index), 0))
                for index, line in enumerate(sheet.lines)
            ),
        )
        for sheet in sheets
    ]


def _titled(line: Line) -> bool:
    text = line.text.strip()
    letters = any(ch.isalpha() for ch in text)
    return letters and len(text) <= _LONGEST and not _SENTENCE.search(text) and not line.code


def _bookmarked(reader: PdfReader, sheets: Sequence[Sheet]) -> Levels:
    """Headings by the bookmarks, when most of them are lines of the pages they lead to."""
    try:
        marks = list(_outline(reader, reader.outline, 1))[:_BOOKMARKS]
    except (MemoryError, RecursionError):
        raise
    except Exception:  # broken bookmarks are none
        return {}
    pages = {sheet.number: sheet for sheet in sheets}
    found: dict[tuple[int, int], int] = {}
    for title, page, level in marks:
        for index, line in enumerate(pages[page].lines if page in pages else ()):
            if _folded(line.text) == _folded(title) and (page, index) not in found:
                found[(page, index)] = level
                break
    return found if len(found) > len(marks) * _FOUND else {}


def _outline(reader: PdfReader, items: Any, level: int) -> Iterator[tuple[str, int, int]]:
    for item in items:
        if isinstance(item, list):
            yield from _outline(reader, item, level + 1)
        elif isinstance(item, Destination):
            page = reader.get_destination_page_number(item)
            if page is not None and page >= 0:
                yield str(item.title), page + 1, min(level, 6)


def _folded(text: str) -> str:
    return " ".join(text.split()).casefold()


def _title(reader: PdfReader) -> str:
    """The title as written down in the file, unless a program put its own words there."""
    try:
        title = reader.metadata.title if reader.metadata else None
    except (PdfReadError, ValueError, KeyError, TypeError, AttributeError):
        return ""
    text = " ".join((title or "").split())
    junk = re.search(r"^microsoft |^untitled|\.(?:docx?|pptx?|xlsx?|pdf|indd|tex)$", text, re.I)
    return "" if junk else text


def _written(sheets: Sequence[Sheet], title: str, issues: Sequence[Issue]) -> Converted:
    lines: list[str] = []
    breaks: list[int] = []
    anchors: list[tuple[int, str]] = []
    headed = any(line.level for sheet in sheets for line in sheet.lines)
    for sheet in sheets:
        breaks.append(len(lines))
        anchors.append((len(lines), f"page={sheet.number}"))
        text = list(markdown(sheet))
        if text and not headed and len(sheets) > 1:
            lines += [f"## Page {sheet.number}", ""]
        if text:
            lines += [*text, ""]
    return Converted("\n".join(lines), title, 1, tuple(issues), tuple(anchors), tuple(breaks))
