"""The roll in a SQLite file of its own: small, rarely written, shared by several processes."""

from __future__ import annotations

import json
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
CREATE TABLE IF NOT EXISTS rights (
    key TEXT PRIMARY KEY, labels TEXT NOT NULL, tenant TEXT NOT NULL
);
CREATE TABLE IF NOT EXISTS codes (key TEXT PRIMARY KEY, text TEXT NOT NULL, expires TEXT NOT NULL);
"""


# Labels and tenant stand in a table of their own, so that a file which was written before there
# were any is read as it is.
_GRANTS = """
SELECT grants.key, level, admin, granted_by, at, labels, tenant
FROM grants LEFT JOIN rights ON rights.key = grants.key
"""


class SqliteRoll(Roll):
    """Opens the file for each call: access changes seldom, and no connection outlives its work."""

    def __init__(self, path: Path, *, busy_timeout: float = 10.0) -> None:
        self._file = SmallFile(path, _SCHEMA, "The list of people who may ask", busy_timeout)

    async def grant(self, key: str) -> Grant | None:
        rows = await self._file.run(
            lambda db: db.execute(f"{_GRANTS} WHERE grants.key = ?", (key,)).fetchall()
        )
        return _grant(rows[0]) if rows else None

    async def grants(self) -> list[Grant]:
        rows = await self._file.run(
            lambda db: db.execute(f"{_GRANTS} ORDER BY grants.key").fetchall()
        )
        return [_grant(row) for row in rows]

    async def save(self, grant: Grant) -> None:
        at = grant.at.isoformat() if grant.at else None
        values = (grant.key, grant.level, int(grant.admin), grant.by, at)
        rights = (grant.key, json.dumps(sorted(grant.labels)), grant.tenant)

        def save(db: sqlite3.Connection) -> None:
            db.execute("INSERT OR REPLACE INTO grants VALUES (?, ?, ?, ?, ?)", values)
            db.execute("INSERT OR REPLACE INTO rights VALUES (?, ?, ?)", rights)

        await self._file.run(save)

    async def revoke(self, key: str) -> bool:
        def revoke(db: sqlite3.Connection) -> int:
            db.execute("DELETE FROM rights WHERE key = ?", (key,))
            return db.execute("DELETE FROM grants WHERE key = ?", (key,)).rowcount

        return await self._file.run(revoke) > 0

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
        def rename(db: sqlite3.Connection) -> None:
            if db.execute("SELECT 1 FROM grants WHERE key = ?", (old,)).fetchone():
                db.execute("DELETE FROM rights WHERE key = ?", (new,))
            db.execute("UPDATE OR REPLACE grants SET key = ? WHERE key = ?", (new, old))
            db.execute("UPDATE OR REPLACE rights SET key = ? WHERE key = ?", (new, old))
            db.execute("UPDATE OR REPLACE codes SET key = ? WHERE key = ?", (new, old))

        await self._file.run(rename)


def _grant(row: tuple[str, str, int, str, str | None, str | None, str | None]) -> Grant:
    key, level, admin, by, at, labels, tenant = row
    moment = datetime.fromisoformat(at) if at else None
    return Grant(
        key, level, bool(admin), by, moment, frozenset(json.loads(labels or "[]")), tenant or ""
    )


def _code(row: tuple[str, str, str]) -> Code:
    key, text, expires = row
    return Code(text, key, datetime.fromisoformat(expires))
