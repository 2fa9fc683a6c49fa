"""The tables of the index, and the check that this file has them."""

from __future__ import annotations

import sqlite3
from pathlib import Path

from bot.errors import StorageError

SCHEMA = 1
"""Kept in `PRAGMA user_version`; grows with every change of the tables."""

# A chunk is three rows, so that filters, words and vectors are each read without the others.
# `chunks.id` is never used twice (AUTOINCREMENT): the vectors kept in memory rely on it.
# The triggers keep `words` equal to the chunks that are no duplicates. Its tokenizer takes every
# character outside ASCII as a letter, so the analyzer's tokens stay whole in all scripts.
_TABLES = """
CREATE TABLE meta (
    one INTEGER PRIMARY KEY CHECK (one = 1),
    embedder TEXT NOT NULL DEFAULT '',
    dimension INTEGER NOT NULL DEFAULT 0,
    chunker TEXT NOT NULL DEFAULT '',
    revision INTEGER NOT NULL DEFAULT 0
);
INSERT INTO meta (one) VALUES (1);

CREATE TABLE profile (
    serial INTEGER PRIMARY KEY AUTOINCREMENT,
    revision INTEGER NOT NULL,
    data BLOB NOT NULL
);

CREATE TABLE sources (
    name TEXT PRIMARY KEY,
    kind TEXT NOT NULL,
    location TEXT NOT NULL,
    state TEXT NOT NULL,
    last_run TEXT,
    files INTEGER NOT NULL,
    chunks INTEGER NOT NULL,
    skipped INTEGER NOT NULL,
    message TEXT NOT NULL
) WITHOUT ROWID;

CREATE TABLE files (
    source TEXT NOT NULL,
    path TEXT NOT NULL,
    fingerprint TEXT NOT NULL,
    state TEXT NOT NULL,
    reason TEXT NOT NULL,
    detail TEXT NOT NULL,
    chunks INTEGER NOT NULL,
    title TEXT NOT NULL,
    updated_at TEXT,
    PRIMARY KEY (source, path)
) WITHOUT ROWID;

CREATE TABLE access (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    value TEXT NOT NULL UNIQUE
);

CREATE TABLE chunks (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    source TEXT NOT NULL,
    path TEXT NOT NULL,
    ordinal INTEGER NOT NULL,
    passage_id TEXT NOT NULL,
    access_id INTEGER NOT NULL REFERENCES access (id),
    language TEXT NOT NULL,
    content_hash TEXT NOT NULL,
    duplicate INTEGER NOT NULL,
    UNIQUE (source, path, ordinal),
    UNIQUE (source, path, passage_id)
);
CREATE INDEX chunks_places ON chunks (access_id, content_hash);
CREATE UNIQUE INDEX chunks_texts ON chunks (access_id, content_hash) WHERE duplicate = 0;

CREATE TABLE contents (
    chunk INTEGER PRIMARY KEY REFERENCES chunks (id) ON DELETE CASCADE,
    passage TEXT NOT NULL,
    terms BLOB NOT NULL,
    body TEXT NOT NULL,
    heading TEXT NOT NULL,
    name TEXT NOT NULL,
    folders TEXT NOT NULL
);

CREATE TABLE vectors (
    chunk INTEGER PRIMARY KEY REFERENCES chunks (id) ON DELETE CASCADE,
    vector BLOB NOT NULL
);

CREATE VIEW findable AS
    SELECT chunk, body, heading, name, folders FROM contents JOIN chunks ON chunks.id = chunk
    WHERE duplicate = 0;
CREATE VIRTUAL TABLE words USING fts5 (
    body, heading, name, folders,
    content = 'findable', content_rowid = 'chunk', tokenize = "ascii tokenchars '=-_./:'"
);
CREATE TRIGGER words_added AFTER INSERT ON contents BEGIN
    INSERT INTO words (rowid, body, heading, name, folders)
        SELECT * FROM findable WHERE chunk = new.chunk;
END;
CREATE TRIGGER words_promoted AFTER UPDATE OF duplicate ON chunks
WHEN old.duplicate = 1 AND new.duplicate = 0 BEGIN
    INSERT INTO words (rowid, body, heading, name, folders)
        SELECT * FROM findable WHERE chunk = new.id;
END;
CREATE TRIGGER words_removed BEFORE DELETE ON chunks BEGIN
    INSERT INTO words (words, rowid, body, heading, name, folders)
        SELECT 'delete', * FROM findable WHERE chunk = old.id;
END;
"""


def _version(connection: sqlite3.Connection) -> int:
    return int(connection.execute("PRAGMA user_version").fetchone()[0])


def ensure_schema(connection: sqlite3.Connection, path: Path) -> None:
    """Creates the tables in a new file, inside the caller's transaction.

    Raises StorageError when a newer Belay wrote the file.
    """
    version = _version(connection)
    if version > SCHEMA:
        raise StorageError(
            f"A newer version of Belay wrote the index (schema {version}, this version knows "
            f"{SCHEMA}): {path}.",
            "Update Belay, or let BELAY_HOME name another folder and run `belay sync`.",
        )
    if version == SCHEMA:
        return
    for statement in _statements(_TABLES):
        connection.execute(statement)
    connection.execute(f"PRAGMA user_version = {SCHEMA}")


def _statements(script: str) -> list[str]:
    """`executescript` would commit the caller's transaction, so the script is cut here."""
    statements: list[str] = []
    pending = ""
    for line in script.splitlines(keepends=True):
        pending += line
        if sqlite3.complete_statement(pending):
            statements.append(pending)
            pending = ""
    return statements
