"""The index becomes what another file holds, inside its caller's write transaction.

The other file is attached as `fresh`. Ids of chunks go on counting, as those that were here before
are never used again.
"""

from __future__ import annotations

import sqlite3

from adapters.sqlite import writing

_SHIFT = "SELECT coalesce(max(seq), 0) FROM main.sqlite_sequence WHERE name = 'chunks'"
_ACCESS = """
INSERT INTO main.access (value)
SELECT value FROM fresh.access WHERE value NOT IN (SELECT value FROM main.access)
"""
_CHUNKS = """
INSERT INTO main.chunks
    (id, source, path, ordinal, passage_id, access_id, language, content_hash, duplicate)
SELECT chunks.id + :shift, source, path, ordinal, passage_id, here.id, language, content_hash,
    duplicate
FROM fresh.chunks JOIN fresh.access AS there ON there.id = access_id
JOIN main.access AS here ON here.value = there.value
"""
_CONTENTS = """
INSERT INTO main.contents
SELECT chunk + :shift, passage, terms, body, heading, name, folders FROM fresh.contents
"""
_VECTORS = "INSERT INTO main.vectors SELECT chunk + :shift, vector FROM fresh.vectors"
_META = """
UPDATE main.meta SET (embedder, dimension, chunker) =
    (SELECT embedder, dimension, chunker FROM fresh.meta)
"""
# A profile that was behind its own index stays behind.
_PROFILE = """
INSERT INTO main.profile (revision, data)
SELECT here.revision - (profile.revision <> there.revision), data
FROM fresh.profile, fresh.meta AS there, main.meta AS here
"""


def adopt(connection: sqlite3.Connection) -> None:
    (shift,) = connection.execute(_SHIFT).fetchone()
    writing.empty(connection)
    connection.execute("DELETE FROM main.sources")
    connection.execute(_ACCESS)
    for statement in (_CHUNKS, _CONTENTS, _VECTORS):
        connection.execute(statement, {"shift": shift})
    for table in ("files", "sources"):
        connection.execute(f"INSERT INTO main.{table} SELECT * FROM fresh.{table}")  # noqa: S608 - names from the line above
    connection.execute(_META)
    connection.execute("UPDATE main.meta SET revision = revision + 1")
    connection.execute(_PROFILE)
