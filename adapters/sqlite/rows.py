"""Values of the domain as rows of SQLite, and back."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from adapters.stored_text import (
    access_from_json,
    moment_from_text,
    moment_to_text,
    passage_from_json,
    passage_to_json,
)
from bot.ports import Chunk, FileRecord, FileState, SourceRecord, Stored, SyncState
from graph.model import SourceType
from graph.ports import Vector
from graph.terms import Fields, TermCounts

Row = tuple[Any, ...]


def ids_json(ids: Iterable[int | str]) -> str:
    """A list as one parameter, for `IN (SELECT value FROM json_each(?))`."""
    return json.dumps(list(ids), ensure_ascii=False)


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


def stored_from_row(row: Row) -> Stored:
    access, content_hash, duplicate, passage, terms, body, heading, name, folders, vector = row
    chunk = Chunk(
        passage=passage_from_json(passage, "[]"),
        access=access_from_json(access),
        fields=Fields(*(tuple(field.split()) for field in (body, heading, name, folders))),
        terms=TermCounts.from_bytes(terms),
        vector=vector_from_bytes(vector),
        content_hash=content_hash,
    )
    return Stored(chunk, not duplicate)


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
        moment_to_text(record.updated_at),
    )


def file_from_row(row: Row) -> FileRecord:
    path, fingerprint, state, reason, detail, chunks, title, updated_at = row
    return FileRecord(
        path,
        fingerprint,
        FileState(state),
        reason,
        detail,
        chunks,
        title,
        moment_from_text(updated_at),
    )


def source_to_row(record: SourceRecord) -> Row:
    return (
        record.name,
        record.kind,
        record.location,
        record.state,
        moment_to_text(record.last_run),
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
        last_run=moment_from_text(last_run),
        files=files,
        chunks=chunks,
        skipped=skipped,
        message=message,
    )
