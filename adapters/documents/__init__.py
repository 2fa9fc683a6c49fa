"""Documents that are not Markdown: each converter turns one format into it."""

from __future__ import annotations

from collections.abc import Mapping

from bot.ingest.parse import Converted, Converter


def create() -> Mapping[str, Converter]:
    """The converters of this package by file suffix. Their libraries load on first use."""
    return {".html": _html, ".htm": _html, ".rst": _rst}


def _html(text: str) -> Converted:
    from adapters.documents.html import convert  # noqa: PLC0415 - 0.1 s

    return convert(text)


def _rst(text: str) -> Converted:
    from adapters.documents.rst import convert  # noqa: PLC0415 - 0.1 s

    return convert(text)
