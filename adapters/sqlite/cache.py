"""A cache in a SQLite file of its own: what is dear enough to outlive the process."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Callable, Collection
from pathlib import Path

from adapters.sqlite.small_file import SmallFile
from bot.cache import Cache

_SCHEMA = """
CREATE TABLE IF NOT EXISTS kept (
    key TEXT PRIMARY KEY, value TEXT NOT NULL, until REAL NOT NULL
) WITHOUT ROWID;
"""
_GET = "SELECT value FROM kept WHERE key = ? AND until > ?"
_PUT = "INSERT OR REPLACE INTO kept (key, value, until) VALUES (?, ?, ?)"
_EXPIRE = "DELETE FROM kept WHERE until <= ?"
_DROP = "DELETE FROM kept WHERE key = ?"


class SqliteCache(Cache):
    """Texts that are past their time go with the next one that is put."""

    def __init__(self, path: Path, *, now: Callable[[], float] = time.time) -> None:
        self._file, self._now = SmallFile(path, _SCHEMA, "The cache"), now

    async def get(self, key: str) -> str | None:
        def read(db: sqlite3.Connection) -> str | None:
            row = db.execute(_GET, (key, self._now())).fetchone()
            return None if row is None else str(row[0])

        return await self._file.run(read)

    async def put(self, key: str, value: str, seconds: float) -> None:
        def write(db: sqlite3.Connection) -> None:
            db.execute(_EXPIRE, (self._now(),))
            db.execute(_PUT, (key, value, self._now() + seconds))

        await self._file.run(write)

    async def drop(self, keys: Collection[str]) -> None:
        await self._file.run(lambda db: db.executemany(_DROP, [(key,) for key in keys]))
