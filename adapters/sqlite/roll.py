"""The roll in a SQLite file of its own: small, rarely written, shared by several processes."""

from __future__ import annotations

import sqlite3
from datetime import datetime
from pathlib import Path

from adapters.sqlite.small_file import SmallFile
from bot.access import Code, Grant, Roll

_SCHEMA = """
CREATE TABLE IF NOT EXISTS grants (
    key TEXT PRIMARY KEY, level TEXT NOT NULL, admin INTEGER NOT NULL,
    granted_by TEXT NOT NULL, at TEXT
);
CREATE TABLE IF NOT EXISTS codes (key TEXT PRIMARY KEY, text TEXT NOT NULL, expires TEXT NOT NULL);
"""


class SqliteRoll(Roll):
    """Opens the file for each call: access changes seldom, and no connection outlives its work."""

    def __init__(self, path: Path, *, busy_timeout: float = 10.0) -> None:
        self._file = SmallFile(path, _SCHEMA, "The list of people who may ask", busy_timeout)

    async def grant(self, key: str) -> Grant | None:
        rows = await self._file.run(
            lambda db: db.execute("SELECT * FROM grants WHERE key = ?", (key,)).fetchall()
        )
        return _grant(rows[0]) if rows else None

    async def grants(self) -> list[Grant]:
        rows = await self._file.run(
            lambda db: db.execute("SELECT * FROM grants ORDER BY key").fetchall()
        )
        return [_grant(row) for row in rows]

    async def save(self, grant: Grant) -> None:
        at = grant.at.isoformat() if grant.at else None
        values = (grant.key, grant.level, int(grant.admin), grant.by, at)
        await self._file.run(
            lambda db: db.execute("INSERT OR REPLACE INTO grants VALUES (?, ?, ?, ?, ?)", values)
        )

    async def revoke(self, key: str) -> bool:
        gone = await self._file.run(
            lambda db: db.execute("DELETE FROM grants WHERE key = ?", (key,)).rowcount
        )
        return gone > 0

    async def save_code(self, code: Code) -> None:
        values = (code.key, code.text, code.expires.isoformat())
        await self._file.run(
            lambda db: db.execute("INSERT OR REPLACE INTO codes VALUES (?, ?, ?)", values)
        )

    async def code_for(self, key: str) -> Code | None:
        rows = await self._file.run(
            lambda db: db.execute("SELECT * FROM codes WHERE key = ?", (key,)).fetchall()
        )
        return _code(rows[0]) if rows else None

    async def redeem(self, text: str, now: datetime) -> Code | None:
        def take(db: sqlite3.Connection) -> list[tuple[str, str, str]]:
            return db.execute(
                "DELETE FROM codes WHERE text = ? AND expires > ? RETURNING key, text, expires",
                (text, now.isoformat()),
            ).fetchall()

        rows = await self._file.run(take)
        return _code(rows[0]) if rows else None

    async def rename(self, old: str, new: str) -> None:
        def move(db: sqlite3.Connection) -> None:
            db.execute("UPDATE OR REPLACE grants SET key = ? WHERE key = ?", (new, old))
            db.execute("UPDATE OR REPLACE codes SET key = ? WHERE key = ?", (new, old))

        await self._file.run(move)


def _grant(row: tuple[str, str, int, str, str | None]) -> Grant:
    key, level, admin, by, at = row
    return Grant(key, level, bool(admin), by, datetime.fromisoformat(at) if at else None)


def _code(row: tuple[str, str, str]) -> Code:
    key, text, expires = row
    return Code(text, key, datetime.fromisoformat(expires))
