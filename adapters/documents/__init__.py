"""Documents that are not Markdown: each converter turns one format into it.

Text formats are converted here; PDF, Office documents and archives by a process of their own.
"""

from __future__ import annotations

from collections.abc import Mapping

from bot.ingest.parse import Converted, Converter
from bot.ingest.reader import Reader, ReadingLimits


def create(limits: ReadingLimits | None = None) -> Mapping[str, Converter]:
    """The converters of text by file suffix. Their libraries load on first use."""
    rows = (limits or ReadingLimits()).rows
    columns = (limits or ReadingLimits()).columns

    def table(text: str) -> Converted:
        from adapters.documents.separated import convert  # noqa: PLC0415 - not for every process

        return convert(text, rows, columns)

    return {
        ".html": _html,
        ".htm": _html,
        ".rst": _rst,
        ".confluence": _confluence,
        ".ipynb": _notebook,
        ".csv": table,
        ".tsv": table,
    }


def create_reader(limits: ReadingLimits | None = None) -> Reader:
    """The reader of PDF, Office documents and archives; its process starts on first use."""
    from adapters.documents.process import ReaderProcess  # noqa: PLC0415 - the worker needs none

    return ReaderProcess(limits or ReadingLimits())


def _html(text: str) -> Converted:
    from adapters.documents.html import convert  # noqa: PLC0415 - 0.1 s

    return convert(text)


def _rst(text: str) -> Converted:
    from adapters.documents.rst import convert  # noqa: PLC0415 - 0.1 s

    return convert(text)


def _confluence(text: str) -> Converted:
    from adapters.documents.confluence import convert  # noqa: PLC0415 - 0.1 s

    return convert(text)


def _notebook(text: str) -> Converted:
    from adapters.documents.notebook import convert  # noqa: PLC0415 - not for every process

    return convert(text)
