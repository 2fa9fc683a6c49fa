"""Values of the domain as rows of SQLite, and back."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from functools import lru_cache
from typing import Any

import numpy as np

from bot.ports import Chunk, FileRecord, FileState, SourceRecord, SyncState
from graph.model import Access, Passage, SourceType, Status
from graph.ports import Vector

Row = tuple[Any, ...]
_KEPT = 2048  # passages, about 10 KB each


def ids_json(ids: Iterable[int | str]) -> str:
    """A list as one parameter, for `IN (SELECT value FROM json_each(?))`."""
    return json.dumps(list(ids), ensure_ascii=False)


def access_to_json(access: Access) -> str:
    """The same text for equal values, so that each is stored once."""
    value = {
        "tenant": access.tenant,
        "audience": access.audience,
        "labels": sorted(access.labels),
        "status": access.status,
        "effective_from": _moment_to_text(access.effective_from),
        "effective_until": _moment_to_text(access.effective_until),
        "source_type": access.source_type,
    }
    if access.place:  # left out else, as in files that were written before there were places
        value["place"] = access.place
    return json.dumps(value, ensure_ascii=False)


def access_from_json(text: str) -> Access:
    value = json.loads(text)
    return Access(
        tenant=value["tenant"],
        audience=value["audience"],
        labels=frozenset(value["labels"]),
        status=Status(value["status"]),
        effective_from=_moment(value["effective_from"]),
        effective_until=_moment(value["effective_until"]),
        source_type=SourceType(value["source_type"]),
        place=value.get("place", ""),
    )


def passage_to_json(passage: Passage) -> str:
    """All of a passage but `also_at`, which the index knows better."""
    value = asdict(passage)
    del value["also_at"]
    if not passage.behind:
        del value["behind"]
    return json.dumps(value, ensure_ascii=False, default=datetime.isoformat)


@lru_cache(maxsize=_KEPT)
def passage_from_json(text: str, places: str) -> Passage:
    """The passage of `text`; `places` is a JSON list. Passages asked for often are remembered."""
    value = json.loads(text)
    for name in ("updated_at", "effective_from", "effective_until"):
        value[name] = _moment(value[name])
    value["source_type"] = SourceType(value["source_type"])
    value["status"] = Status(value["status"])
    value["heading"] = tuple(value["heading"])
    value["lines"] = tuple(value["lines"])
    value["behind"] = tuple((source, path) for source, path in value.get("behind", ()))
    return Passage(**value, also_at=tuple(json.loads(places)))


@dataclass(frozen=True, slots=True)
class ChunkRow:
    """A chunk as it lies in `chunks`, `contents` and `vectors`. Equal rows: nothing to write."""

    passage_id: str
    access_id: int
    language: str
    content_hash: str
    passage: str
    terms: bytes
    body: str
    heading: str
    name: str
    folders: str
    vector: bytes

    @classmethod
    def of(cls, chunk: Chunk, access_id: int) -> ChunkRow:
        return cls(
            passage_id=chunk.passage.id,
            access_id=access_id,
            language=chunk.passage.language,
            content_hash=chunk.content_hash,
            passage=passage_to_json(chunk.passage),
            terms=chunk.terms.to_bytes(),
            body=" ".join(chunk.fields.body),
            heading=" ".join(chunk.fields.heading),
            name=" ".join(chunk.fields.name),
            folders=" ".join(chunk.fields.folders),
            vector=np.asarray(chunk.vector, dtype="<f4").tobytes(),
        )


def vector_from_bytes(data: bytes) -> Vector:
    return np.frombuffer(data, dtype="<f4")


def file_to_row(source: str, record: FileRecord) -> Row:
    return (
        source,
        record.path,
        record.fingerprint,
        record.state,
        record.reason,
        record.detail,
        record.chunks,
        record.title,
        _moment_to_text(record.updated_at),
    )


def file_from_row(row: Row) -> FileRecord:
    path, fingerprint, state, reason, detail, chunks, title, updated_at = row
    return FileRecord(
        path, fingerprint, FileState(state), reason, detail, chunks, title, _moment(updated_at)
    )


def source_to_row(record: SourceRecord) -> Row:
    return (
        record.name,
        record.kind,
        record.location,
        record.state,
        _moment_to_text(record.last_run),
        record.files,
        record.chunks,
        record.skipped,
        record.message,
    )


def source_from_row(row: Row) -> SourceRecord:
    name, kind, location, state, last_run, files, chunks, skipped, message = row
    return SourceRecord(
        name=name,
        kind=SourceType(kind),
        location=location,
        state=SyncState(state),
        last_run=_moment(last_run),
        files=files,
        chunks=chunks,
        skipped=skipped,
        message=message,
    )


def _moment_to_text(moment: datetime | None) -> str | None:
    return None if moment is None else moment.astimezone(UTC).isoformat()


def _moment(text: str | None) -> datetime | None:
    return None if text is None else datetime.fromisoformat(text)
