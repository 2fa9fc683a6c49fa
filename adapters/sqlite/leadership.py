"""Leads in a SQLite file: for several processes on one data folder."""

from __future__ import annotations

import sqlite3
import time
import uuid
from collections.abc import Callable
from pathlib import Path

from adapters.sqlite.small_file import SmallFile
from bot.leadership import Leadership

_SCHEMA = """
CREATE TABLE IF NOT EXISTS leads (task TEXT PRIMARY KEY, holder TEXT NOT NULL, until REAL NOT NULL)
"""
_LEAD = """
INSERT INTO leads (task, holder, until) VALUES (:task, :holder, :until)
ON CONFLICT (task) DO UPDATE SET holder = excluded.holder, until = excluded.until
WHERE holder = excluded.holder OR until <= :now
"""
_LEAVE = "DELETE FROM leads WHERE task = ? AND holder = ?"


class SqliteLeadership(Leadership):
    """Times are those of this machine's clock, in seconds since 1970: one folder, one machine.

    A process that was killed leads until its time is over, and nobody has to clean up.
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

    async def lead(self, task: str, seconds: float) -> bool:
        now = self._now()
        wanted = {"task": task, "holder": self._holder, "now": now, "until": now + seconds}
        return await self._file.run(lambda db: db.execute(_LEAD, wanted).rowcount > 0)

    async def leave(self, task: str) -> None:
        def left(db: sqlite3.Connection) -> None:
            db.execute(_LEAVE, (task, self._holder))

        await self._file.run(left)
