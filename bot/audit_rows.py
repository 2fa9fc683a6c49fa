"""The audit as rows of plain values: for JSON, for a file, for a spreadsheet."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TextIO

from bot.audit import AuditRecord
from bot.errors import StorageError
from bot.votes import Tally

Row = dict[str, Any]

_FORMULA = ("=", "+", "-", "@", "\t", "\r")


def row(record: AuditRecord, tally: Tally) -> Row:
    place = record.place
    return {
        "question_id": record.question_id,
        "at": record.at.isoformat(),
        "person": record.person,
        "place": f"{place.platform}:{place.id}",
        "thread": place.thread,
        "place_kind": place.kind,
        "place_title": place.title,
        "way": record.way,
        "question": record.question,
        "resolved": record.resolved,
        "tenant": record.rights.tenant,
        "levels": list(record.rights.levels),
        "labels": [list(labels) for labels in record.rights.readers],
        "outcome": record.outcome.value,
        "relevance": round(record.relevance, 4),
        "retrieved": [
            {"id": hit.chunk_id, "document": hit.document, "relevance": round(hit.relevance, 4)}
            for hit in record.hits
        ],
        "cited": list(record.cited),
        "milliseconds": round(record.milliseconds, 1),
        "model_calls": record.model_calls,
        "votes_up": tally.up,
        "votes_down": tally.down,
    }


def _jsonl(file: TextIO, rows: Sequence[Row]) -> None:
    file.writelines(f"{json.dumps(item, ensure_ascii=False)}\n" for item in rows)


def _csv(file: TextIO, rows: Sequence[Row]) -> None:
    writer = csv.writer(file)
    writer.writerow(COLUMNS)
    writer.writerows([[_cell(item[name]) for name in COLUMNS] for item in rows])


COLUMNS = (
    *("question_id", "at", "person", "place", "thread", "place_kind", "place_title", "way"),
    *("question", "resolved", "tenant", "levels", "labels", "outcome", "relevance", "retrieved"),
    *("cited", "milliseconds", "model_calls", "votes_up", "votes_down"),
)
"""Of a CSV file. Several values in a cell are divided by spaces; `retrieved` holds ids."""

FORMATS: dict[str, Callable[[TextIO, Sequence[Row]], None]] = {".jsonl": _jsonl, ".csv": _csv}
"""By the end of a file's name."""


def export(path: Path, rows: Sequence[Row]) -> None:
    """Writes `rows` in the format that the name ends in. Raises StorageError."""
    try:
        with path.open("w", encoding="utf-8", newline="") as file:
            FORMATS[path.suffix.lower()](file, rows)
    except OSError as error:
        message = f"{path} cannot be written: {error.strerror}"
        raise StorageError(message, "Name a file in a folder that you may write to.") from error


def _cell(value: Any) -> Any:
    """A cell that no spreadsheet takes for a formula: questions come from anybody."""
    if isinstance(value, list):
        value = " ".join(_item(item) for item in value)
    dangerous = isinstance(value, str) and value.startswith(_FORMULA)
    return f"'{value}" if dangerous else value


def _item(value: Any) -> str:
    if isinstance(value, dict):
        return str(value["id"])
    return ",".join(value) if isinstance(value, list) else str(value)
