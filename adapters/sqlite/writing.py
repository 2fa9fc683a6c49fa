"""Changes of the index. Each function works inside its caller's write transaction.

A text (access rule and content hash) is findable once: the chunk that holds it first. The same text
at another place is kept as a duplicate, without words and vectors to search in, and takes over when
the first one goes.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Sequence
from dataclasses import astuple

from adapters.sqlite.audiences import access_id
from adapters.sqlite.rows import ChunkRow, Row, file_to_row, ids_json, source_to_row
from bot.ports import Chunk, FileRecord, SourceRecord

_STORED = """
SELECT passage_id, access_id, language, content_hash, passage, terms, body, heading, name, folders,
    vector
FROM chunks JOIN contents ON contents.chunk = chunks.id JOIN vectors ON vectors.chunk = chunks.id
WHERE source = ? AND path = ? ORDER BY ordinal
"""
_ADD_CHUNK = """
INSERT INTO chunks
    (source, path, ordinal, passage_id, access_id, language, content_hash, duplicate)
VALUES (:source, :path, :ordinal, :passage_id, :access_id, :language, :content_hash, EXISTS (
    SELECT 1 FROM chunks
    WHERE access_id = :access_id AND content_hash = :content_hash AND duplicate = 0
)) RETURNING id
"""
_PROMOTE = """
UPDATE chunks SET duplicate = 0 WHERE duplicate = 1 AND id = (
    SELECT id FROM chunks WHERE access_id = ? AND content_hash = ?
    ORDER BY duplicate, source, path LIMIT 1
)
"""


def replace_file(
    connection: sqlite3.Connection, source: str, record: FileRecord, chunks: Sequence[Chunk]
) -> int:
    """Returns how many of the file's chunks are findable; the others are duplicates."""
    rows = _rows(connection, chunks)
    stored = connection.execute(_STORED, (source, record.path)).fetchall()
    if [astuple(row) for row in rows] != stored:
        texts = _delete_chunks(connection, source, [record.path])
        for ordinal, row in enumerate(rows):
            _add_chunk(connection, source, record.path, ordinal, row)
        _promote(connection, texts)
        _grow_revision(connection)
    save_file(connection, source, record)
    return _findable(connection, source, record.path)


def remove_files(connection: sqlite3.Connection, source: str, paths: Sequence[str]) -> int:
    """Returns by how many the findable chunks became fewer."""
    connection.execute(
        "DELETE FROM files WHERE source = ? AND path IN (SELECT value FROM json_each(?))",
        (source, ids_json(paths)),
    )
    texts = _delete_chunks(connection, source, paths)
    promoted = _promote(connection, texts)
    if texts:
        _grow_revision(connection)
    return sum(not duplicate for _, _, duplicate in texts) - promoted


def remove_source(connection: sqlite3.Connection, name: str) -> int:
    """Returns by how many the findable chunks became fewer."""
    paths = connection.execute(
        "SELECT path FROM files WHERE source = ? UNION SELECT path FROM chunks WHERE source = ?",
        (name, name),
    ).fetchall()
    gone = remove_files(connection, name, [path for (path,) in paths])
    connection.execute("DELETE FROM sources WHERE name = ?", (name,))
    return gone


def save_file(connection: sqlite3.Connection, source: str, record: FileRecord) -> None:
    connection.execute(
        "INSERT OR REPLACE INTO files VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
        file_to_row(source, record),
    )


def tidy_words(connection: sqlite3.Connection) -> None:
    """FTS5 only notes what was deleted, and keeps its words until it next merges."""
    connection.execute("INSERT INTO words (words) VALUES ('optimize')")


def save_source(connection: sqlite3.Connection, record: SourceRecord) -> None:
    connection.execute(
        "INSERT OR REPLACE INTO sources VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", source_to_row(record)
    )


def save_profile(connection: sqlite3.Connection, revision: int, data: bytes) -> None:
    if connection.execute("SELECT 1 FROM profile WHERE revision > ?", (revision,)).fetchone():
        return
    connection.execute("DELETE FROM profile")
    connection.execute("INSERT INTO profile (revision, data) VALUES (?, ?)", (revision, data))


def empty(connection: sqlite3.Connection) -> None:
    """Forgets all chunks, files and the profile; sources stay, as if never read."""
    if connection.execute("SELECT 1 FROM chunks LIMIT 1").fetchone():
        _grow_revision(connection)
    for table in ("chunks", "files", "profile"):
        connection.execute(f"DELETE FROM {table}")  # noqa: S608 - names from the line above
    connection.execute("UPDATE meta SET embedder = '', dimension = 0, chunker = ''")
    connection.execute(
        "UPDATE sources SET state = 'never', last_run = NULL, files = 0, chunks = 0, skipped = 0, "
        "message = ''"
    )


def _rows(connection: sqlite3.Connection, chunks: Iterable[Chunk]) -> list[ChunkRow]:
    """Each text of the file once, where it stands first."""
    distinct: dict[tuple[int, str], ChunkRow] = {}
    for chunk in chunks:
        row = ChunkRow.of(chunk, access_id(connection, chunk.access))
        distinct.setdefault((row.access_id, row.content_hash), row)
    return list(distinct.values())


def _add_chunk(
    connection: sqlite3.Connection, source: str, path: str, ordinal: int, row: ChunkRow
) -> None:
    place = {
        "source": source,
        "path": path,
        "ordinal": ordinal,
        "passage_id": row.passage_id,
        "access_id": row.access_id,
        "language": row.language,
        "content_hash": row.content_hash,
    }
    (chunk,) = connection.execute(_ADD_CHUNK, place).fetchone()
    connection.execute(
        "INSERT INTO contents VALUES (?, ?, ?, ?, ?, ?, ?)",
        (chunk, row.passage, row.terms, row.body, row.heading, row.name, row.folders),
    )
    connection.execute("INSERT INTO vectors VALUES (?, ?)", (chunk, row.vector))


def _delete_chunks(connection: sqlite3.Connection, source: str, paths: Sequence[str]) -> list[Row]:
    """Returns (access id, content hash, duplicate) of each chunk that went."""
    return connection.execute(
        "DELETE FROM chunks WHERE source = ? AND path IN (SELECT value FROM json_each(?)) "
        "RETURNING access_id, content_hash, duplicate",
        (source, ids_json(paths)),
    ).fetchall()


def _promote(connection: sqlite3.Connection, texts: Iterable[Row]) -> int:
    """Makes a duplicate of each text findable that is findable nowhere; returns how many."""
    wanted = [(access, content_hash) for access, content_hash, duplicate in texts if not duplicate]
    return connection.executemany(_PROMOTE, wanted).rowcount if wanted else 0


def _findable(connection: sqlite3.Connection, source: str, path: str) -> int:
    (count,) = connection.execute(
        "SELECT count(*) FROM chunks WHERE source = ? AND path = ? AND duplicate = 0",
        (source, path),
    ).fetchone()
    return int(count)


def _grow_revision(connection: sqlite3.Connection) -> None:
    connection.execute("UPDATE meta SET revision = revision + 1")
