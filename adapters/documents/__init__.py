"""Documents that are not Markdown: each converter turns one format into it."""

from __future__ import annotations

from collections.abc import Mapping

from bot.ingest.parse import Converter


def create() -> Mapping[str, Converter]:
    """The converters of this package by file suffix. Their libraries load on first use."""
    from adapters.documents.html import convert as html  # noqa: PLC0415
    from adapters.documents.rst import convert as rst  # noqa: PLC0415

    return {".html": html, ".htm": html, ".rst": rst}
