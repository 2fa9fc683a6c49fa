"""Votes in a SQLite file of its own: they outlive the answers that they are about."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Callable
from contextlib import closing
from datetime import datetime
from pathlib import Path
from typing import TypeVar

from bot.errors import StorageError
from bot.feedback import KEPT, Feedback, FeedbackLog, Vote

T = TypeVar("T")

_SCHEMA = """
CREATE TABLE IF NOT EXISTS votes (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    question_id TEXT NOT NULL, person TEXT NOT NULL, vote TEXT NOT NULL, at TEXT NOT NULL,
    UNIQUE (question_id, person) ON CONFLICT REPLACE
);
"""
_INSERT = "INSERT INTO votes (question_id, person, vote, at) VALUES (?, ?, ?, ?)"
_TRIM = """
DELETE FROM votes
WHERE number <= (SELECT number FROM votes ORDER BY number DESC LIMIT 1 OFFSET ?)
"""
_OF = "SELECT question_id, person, vote, at FROM votes WHERE question_id = ? ORDER BY person"
_RECENT = "SELECT question_id, person, vote, at FROM votes ORDER BY number DESC LIMIT ?"


class SqliteFeedback(FeedbackLog):
    """Opens the file for each call: people vote seldom, and no connection outlives its work."""

    def __init__(self, path: Path, *, kept: int = KEPT, busy_timeout: float = 10.0) -> None:
        self._path = path
        self._kept = kept
        self._busy_timeout = busy_timeout

    async def save(self, feedback: Feedback) -> None:
        values = (
            feedback.question_id,
            feedback.person,
            feedback.vote.value,
            feedback.at.isoformat(),
        )

        def write(db: sqlite3.Connection) -> None:
            db.execute(_INSERT, values)
            db.execute(_TRIM, (self._kept,))

        await self._run(write)

    async def of(self, question_id: str) -> list[Feedback]:
        return await self._run(lambda db: _votes(db.execute(_OF, (question_id,))))

    async def recent(self, limit: int) -> list[Feedback]:
        return await self._run(lambda db: _votes(db.execute(_RECENT, (limit,))))

    async def _run(self, work: Callable[[sqlite3.Connection], T]) -> T:
        return await asyncio.to_thread(self._transaction, work)

    def _transaction(self, work: Callable[[sqlite3.Connection], T]) -> T:
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            with closing(sqlite3.connect(self._path, timeout=self._busy_timeout)) as db, db:
                db.executescript(_SCHEMA)
                db.execute("BEGIN IMMEDIATE")
                return work(db)
        except (sqlite3.Error, OSError) as error:
            raise StorageError(
                f"The file of votes, {self._path}, cannot be used: {error}",
                "Check that the data folder is writable and has space left.",
            ) from error


def _votes(rows: sqlite3.Cursor) -> list[Feedback]:
    return [
        Feedback(question_id, person, Vote(vote), datetime.fromisoformat(at))
        for question_id, person, vote, at in rows
    ]
