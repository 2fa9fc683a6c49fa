"""The converters that a document is read with: in this process or another, secrets masked."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from bot.ingest.options import SyncOptions
from bot.ingest.parse import ConversionFailed, Converted, Converter
from bot.ingest.reader import Refused
from bot.ingest.report import Problem
from bot.ingest.secrets import find


def converters_for(suffix: str, text: str, options: SyncOptions) -> Mapping[str, Converter]:
    """Large texts are converted in the reader's process: a hostile one takes no time here."""
    reader = options.reader
    if reader is None or len(text) <= options.in_process:
        return {name: _guarded(convert) for name, convert in options.converters.items()}

    def convert(text: str) -> Converted:
        try:
            return reader.read(suffix, text.encode())
        except Refused as error:
            raise ConversionFailed(str(error)) from error

    return {suffix: convert}


def _guarded(converter: Converter) -> Converter:
    """A file that a parser trips over costs itself, and not the sync."""

    def convert(text: str) -> Converted:
        try:
            return converter(text)
        except ConversionFailed:
            raise
        except Exception as error:  # a parser raises whatever it trips over
            raise ConversionFailed("its markup is broken") from error

    return convert


def masking(
    converters: Mapping[str, Converter], path: str, found: list[Problem]
) -> Mapping[str, Converter]:
    """The converters, with what only shows as a secret without the marks of the format masked: a
    value in the cell behind its name. `found` gets a line for each."""

    def masked(converter: Converter) -> Converter:
        def convert(text: str) -> Converted:
            converted = converter(text)
            markdown, hits = find(converted.markdown)
            found.extend(Problem(path, 0, hit.kind) for hit in hits)
            return replace(converted, markdown=markdown)

        return convert

    return {suffix: masked(converter) for suffix, converter in converters.items()}
