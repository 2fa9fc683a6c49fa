"""Chunks and counts as they are read back. Each function works inside its caller's transaction."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Sequence

from adapters.sqlite.rows import (
    Row,
    ids_json,
    source_from_row,
    stored_from_row,
    vector_from_bytes,
)
from adapters.stored_text import passage_from_json
from bot.ports import IndexInfo, SourceRecord, Stored
from graph.model import Document, Passage
from graph.ports import Candidate
from graph.terms import TermCounts

# `also_at` lists places under the same access rule only: it never tells of a hidden document.
_PASSAGE = """
passage, (
    SELECT json_group_array(place) FROM (
        SELECT other.source || '/' || other.path AS place FROM chunks AS other
        WHERE other.access_id = chunks.access_id AND other.content_hash = chunks.content_hash
            AND other.id <> chunks.id ORDER BY place
    )
)
"""
_CANDIDATES = f"""
SELECT {_PASSAGE}, vector, terms FROM json_each(?) CROSS JOIN chunks ON chunks.id = value
JOIN contents ON contents.chunk = chunks.id JOIN vectors ON vectors.chunk = chunks.id
WHERE duplicate = 0 AND access_id IN (SELECT value FROM json_each(?))
"""  # noqa: S608 - put together from the constant above
_DOCUMENT = f"""
SELECT {_PASSAGE} FROM chunks JOIN contents ON contents.chunk = chunks.id
WHERE source = ? AND path = ? AND access_id IN (SELECT value FROM json_each(?)) ORDER BY ordinal
"""  # noqa: S608 - put together from the constant above
_STORED = """
SELECT access.value, content_hash, duplicate, passage, terms, body, heading, name, folders, vector
FROM chunks JOIN access ON access.id = access_id
JOIN contents ON contents.chunk = chunks.id JOIN vectors ON vectors.chunk = chunks.id
WHERE source = ? AND path = ? ORDER BY ordinal
"""
_PAGE = f"""
SELECT source, path, ordinal, {_PASSAGE}, vector, terms FROM chunks
JOIN contents ON contents.chunk = chunks.id JOIN vectors ON vectors.chunk = chunks.id
WHERE duplicate = 0 AND (source, path, ordinal) > (?, ?, ?)
ORDER BY source, path, ordinal LIMIT ?
"""  # noqa: S608 - put together from the constant above
_SOURCES = """
SELECT name, kind, location, state, last_run, files, (
    SELECT count(*) FROM chunks WHERE chunks.source = name AND duplicate = 0
), skipped, message FROM sources ORDER BY name
"""
_FILES_IN = """
SELECT source, count(DISTINCT path) FROM chunks
WHERE access_id IN (SELECT value FROM json_each(?)) GROUP BY source
"""

_READABLE = """
SELECT DISTINCT source, chunks.path FROM json_each(?) AS wanted JOIN chunks
    ON source = json_extract(wanted.value, '$[0]')
    AND chunks.path = json_extract(wanted.value, '$[1]')
WHERE access_id IN (SELECT value FROM json_each(?))
"""


Place = tuple[str, str, int]
BEFORE_ALL: Place = ("", "", -1)


def candidates(
    connection: sqlite3.Connection, ids: Iterable[int], admitted: Sequence[int]
) -> list[Candidate]:
    rows = connection.execute(_CANDIDATES, (ids_json(ids), ids_json(admitted)))
    return [_candidate(row) for row in rows]


def document(
    connection: sqlite3.Connection, passage: Passage, admitted: Sequence[int]
) -> list[Passage]:
    place = (passage.source, passage.document)
    rows = connection.execute(_DOCUMENT, (*place, ids_json(admitted)))
    return [passage_from_json(*row) for row in rows]


def readable(
    connection: sqlite3.Connection, documents: Iterable[Document], admitted: Sequence[int]
) -> frozenset[Document]:
    wanted = json.dumps(list(documents), ensure_ascii=False)
    return frozenset(connection.execute(_READABLE, (wanted, ids_json(admitted))))


def page(
    connection: sqlite3.Connection, after: Place, size: int
) -> tuple[list[Candidate], Place | None]:
    """The next `size` chunks by source, path and order in it, and where the last of them stands."""
    rows = connection.execute(_PAGE, (*after, size)).fetchall()
    return [_candidate(row[3:]) for row in rows], (rows[-1][:3] if rows else None)


def stored(connection: sqlite3.Connection, source: str, path: str) -> list[Stored]:
    return [stored_from_row(row) for row in connection.execute(_STORED, (source, path))]


def sources(connection: sqlite3.Connection) -> list[SourceRecord]:
    return [source_from_row(row) for row in connection.execute(_SOURCES)]


def files_in(connection: sqlite3.Connection, admitted: Sequence[int]) -> dict[str, int]:
    """The number of documents by source, those that have a chunk under an admitted rule."""
    return dict(connection.execute(_FILES_IN, (ids_json(admitted),)).fetchall())


def info(connection: sqlite3.Connection) -> IndexInfo:
    embedder, dimension, chunker, revision = connection.execute(
        "SELECT embedder, dimension, chunker, revision FROM meta"
    ).fetchone()
    (chunks,) = connection.execute("SELECT count(*) FROM chunks WHERE duplicate = 0").fetchone()
    profile = connection.execute("SELECT revision FROM profile").fetchone()
    return IndexInfo(
        embedder=embedder,
        dimension=dimension,
        chunker=chunker,
        chunks=chunks,
        revision=revision,
        profile_revision=profile[0] if profile else -1,
    )


def _candidate(row: Row) -> Candidate:
    passage, also_at, vector, terms = row
    return Candidate(
        passage_from_json(passage, also_at), vector_from_bytes(vector), TermCounts.from_bytes(terms)
    )
