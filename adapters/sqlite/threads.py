"""Followed threads in a SQLite file of their own: they outlive a restart of the bot."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

from adapters.sqlite.small_file import SmallFile
from bot.chat import Place
from bot.threads import KEPT, LIFE, FollowedThreads

_SCHEMA = """
CREATE TABLE IF NOT EXISTS threads (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    conversation TEXT NOT NULL UNIQUE ON CONFLICT REPLACE, since REAL NOT NULL
);
"""
_FOLLOW = "INSERT INTO threads (conversation, since) VALUES (?, ?)"
_MUTE = "DELETE FROM threads WHERE conversation = ?"
_TRIM = """
DELETE FROM threads
WHERE since <= ? OR number <= (SELECT number FROM threads ORDER BY number DESC LIMIT 1 OFFSET ?)
"""
_FOLLOWS = "SELECT count(*) FROM threads WHERE conversation = ? AND since > ?"


class SqliteThreads(FollowedThreads):
    """Opens the file for each call. Times are seconds since 1970."""

    def __init__(
        self,
        path: Path,
        *,
        kept: int = KEPT,
        life: timedelta = LIFE,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
        busy_timeout: float = 10.0,
    ) -> None:
        self._file = SmallFile(path, _SCHEMA, "The list of followed threads", busy_timeout)
        self._kept, self._life, self._now = kept, life, now

    async def follow(self, place: Place) -> None:
        since, expired = self._now().timestamp(), self._expired()

        def write(db: sqlite3.Connection) -> None:
            db.execute(_FOLLOW, (place.conversation, since))
            db.execute(_TRIM, (expired, self._kept))

        await self._file.run(write)

    async def mute(self, place: Place) -> None:
        await self._file.run(lambda db: db.execute(_MUTE, (place.conversation,)))

    async def follows(self, place: Place) -> bool:
        wanted = (place.conversation, self._expired())
        found = await self._file.run(lambda db: db.execute(_FOLLOWS, wanted).fetchone())
        return bool(found[0])

    def _expired(self) -> float:
        return (self._now() - self._life).timestamp()
