"""Leads in a SQLite file: for several processes on one data folder."""

from __future__ import annotations

import sqlite3
import time
import uuid
from collections.abc import Callable
from pathlib import Path

from adapters.sqlite.clocks import far
from adapters.sqlite.small_file import SmallFile
from bot.leadership import Leadership

_SCHEMA = """
CREATE TABLE IF NOT EXISTS leads (task TEXT PRIMARY KEY, holder TEXT NOT NULL, until REAL NOT NULL);
CREATE TABLE IF NOT EXISTS numbers (task TEXT PRIMARY KEY, last INTEGER NOT NULL);
"""
_LEAD = """
INSERT INTO leads (task, holder, until) VALUES (:task, :holder, :until)
ON CONFLICT (task) DO UPDATE SET holder = excluded.holder, until = excluded.until
WHERE holder = excluded.holder OR until <= :now OR until > :far
"""
_NUMBER = """
INSERT INTO numbers (task, last) VALUES (:task, :number)
ON CONFLICT (task) DO UPDATE SET last = max(last + 1, excluded.last)
"""
_RENEW = """
UPDATE leads SET until = :until WHERE task = :task AND holder = :holder AND until > :now
AND EXISTS (SELECT 1 FROM numbers WHERE task = :task AND last = :number)
"""
_LEAVE = "DELETE FROM leads WHERE task = ? AND holder = ?"


class SqliteLeadership(Leadership):
    """Times are those of this machine's clock, in seconds since 1970: one folder, one machine.

    A process that was killed leads until its time is over, and nobody has to clean up; when the
    clock is put back, until another one looks.
    """

    def __init__(
        self,
        path: Path,
        *,
        busy_timeout: float = 10.0,
        now: Callable[[], float] = time.time,
    ) -> None:
        self._file = SmallFile(path, _SCHEMA, "The list of who leads", busy_timeout)
        self._holder, self._now = uuid.uuid4().hex, now

    async def lead(self, task: str, seconds: float) -> int:
        def lead(db: sqlite3.Connection) -> int:
            wanted = self._wanted(task, seconds)
            held = "SELECT 1 FROM leads WHERE task = :task AND holder = :holder AND until > :now"
            again = db.execute(held, wanted).fetchone() is not None
            if not db.execute(_LEAD, wanted).rowcount:
                return 0
            if not again:
                db.execute(_NUMBER, wanted | {"number": int(self._now() * 1_000_000)})
            (number,) = db.execute("SELECT last FROM numbers WHERE task = ?", (task,)).fetchone()
            return int(number)

        return await self._file.run(lead)

    async def renew(self, task: str, number: int, seconds: float) -> bool:
        def renewed(db: sqlite3.Connection) -> bool:
            return db.execute(_RENEW, self._wanted(task, seconds) | {"number": number}).rowcount > 0

        return await self._file.run(renewed)

    def _wanted(self, task: str, seconds: float) -> dict[str, str | float]:
        now = self._now()
        times = {"now": now, "until": now + seconds, "far": far(now, seconds)}
        return {"task": task, "holder": self._holder, **times}

    async def held(self, task: str) -> bool:
        query = "SELECT 1 FROM leads WHERE task = ? AND until > ?"
        return await self._file.run(
            lambda db: db.execute(query, (task, self._now())).fetchone() is not None
        )

    async def leave(self, task: str) -> None:
        def left(db: sqlite3.Connection) -> None:
            db.execute(_LEAVE, (task, self._holder))

        await self._file.run(left)
