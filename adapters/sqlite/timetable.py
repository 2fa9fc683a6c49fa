"""A timetable in a SQLite file of its own: for several processes on one data folder."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping
from pathlib import Path

from adapters.sqlite.small_file import SmallFile
from adapters.timetable_json import entry_json, entry_of, leader_json, leader_of
from bot.timetable import Entry, Leader, Timetable

_SCHEMA = """
CREATE TABLE IF NOT EXISTS entries (source TEXT PRIMARY KEY, entry TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS leader (one INTEGER PRIMARY KEY CHECK (one = 1), leader TEXT NOT NULL);
"""
_SAVE = "INSERT OR REPLACE INTO entries (source, entry) VALUES (?, ?)"
_SIGN = "INSERT OR REPLACE INTO leader (one, leader) VALUES (1, ?)"


class SqliteTimetable(Timetable):
    """Opens the file for each call."""

    def __init__(self, path: Path, *, busy_timeout: float = 10.0) -> None:
        self._file = SmallFile(path, _SCHEMA, "The timetable of the syncs", busy_timeout)

    async def entries(self) -> Mapping[str, Entry]:
        rows = await self._read("SELECT entry FROM entries")
        return {entry.source: entry for entry in map(entry_of, rows)}

    async def save(self, entry: Entry) -> None:
        await self._write(_SAVE, entry.source, entry_json(entry))

    async def leader(self) -> Leader | None:
        rows = await self._read("SELECT leader FROM leader")
        return leader_of(rows[0]) if rows else None

    async def sign(self, leader: Leader) -> None:
        await self._write(_SIGN, leader_json(leader))

    async def _read(self, query: str) -> list[str]:
        return await self._file.run(lambda db: [row[0] for row in db.execute(query)])

    async def _write(self, statement: str, *values: str) -> None:
        def write(db: sqlite3.Connection) -> None:
            db.execute(statement, values)

        await self._file.run(write)
