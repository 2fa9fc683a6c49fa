"""Jupyter notebooks as Markdown: text cells, code cells as fences, and what they printed."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from bot.ingest.chunk import fenced
from bot.ingest.dialects import common_markdown
from bot.ingest.frontmatter import Issue
from bot.ingest.parse import ConversionFailed, Converted

_OUTPUT = 2000  # characters of one cell's output; what follows is rarely read by anybody
_COLOURS = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")


def convert(text: str) -> Converted:
    """The notebook, format 3 or 4. Raises ConversionFailed when it is none."""
    try:
        book = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise ConversionFailed("not valid JSON") from error
    cells = _cells(book)
    if cells is None:
        raise ConversionFailed("no notebook: it has no cells")
    language = _language(book)
    parts: list[str] = []
    pictures = 0
    for cell in cells:
        parts += _cell(cell, language)
        pictures += sum(_is_picture(output) for output in _list(cell.get("outputs")))
    issues = (Issue(0, f"pictures in outputs left out: {pictures}"),) if pictures else ()
    return Converted("\n\n".join(part for part in parts if part.strip()), issues=issues)


def _cells(book: Any) -> Sequence[Mapping[str, Any]] | None:
    if not isinstance(book, dict):
        return None
    sheets = [sheet for sheet in _list(book.get("worksheets")) if isinstance(sheet, dict)]
    cells = book.get("cells", sheets[0].get("cells") if sheets else None)
    if not isinstance(cells, list):
        return None
    return [cell for cell in cells if isinstance(cell, dict)]


def _cell(cell: Mapping[str, Any], language: str) -> Iterator[str]:
    source = _joined(cell.get("source", cell.get("input")))
    kind = cell.get("cell_type")
    if kind == "code":
        if source.strip():
            yield fenced(source.strip("\n"), language)
        for output in _list(cell.get("outputs")):
            printed = _printed(output).strip("\n")
            if printed.strip():
                yield "Output:\n\n" + fenced(printed, "text")
    elif kind == "heading":
        level = cell.get("level")
        yield f"{'#' * (level if isinstance(level, int) and 0 < level <= 6 else 1)} {source}"  # noqa: PLR2004 - HTML has six
    elif source.strip():
        yield source if kind == "raw" else common_markdown(source)


def _printed(output: Any) -> str:
    """What a cell printed, as text and not too much of it."""
    if not isinstance(output, dict):
        return ""
    if output.get("output_type") in ("error", "pyerr"):
        return f"{output.get('ename', '')}: {output.get('evalue', '')}"
    data = output.get("data")
    plain = data.get("text/plain") if isinstance(data, dict) else None
    text = _COLOURS.sub("", _joined(output.get("text", plain)))
    return text if len(text) <= _OUTPUT else f"{text[:_OUTPUT]}\n…"


def _is_picture(output: Any) -> bool:
    data = output.get("data") if isinstance(output, dict) else None
    return isinstance(data, dict) and any(str(kind).startswith("image/") for kind in data)


def _language(book: Mapping[str, Any]) -> str:
    about = book.get("metadata")
    if isinstance(about, dict):
        for name, key in (("language_info", "name"), ("kernelspec", "language")):
            part = about.get(name)
            if isinstance(part, dict) and isinstance(part.get(key), str):
                return re.sub(r"[^\w+#-]", "", part[key])
    return "python"


def _joined(source: Any) -> str:
    if isinstance(source, list):
        return "".join(part for part in source if isinstance(part, str))
    return source if isinstance(source, str) else ""


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []
