"""Votes in a SQLite file of its own: they outlive the answers that they are about."""

from __future__ import annotations

import sqlite3
from datetime import datetime
from pathlib import Path

from adapters.sqlite.small_file import SmallFile
from bot.feedback import KEPT, Feedback, FeedbackLog, Vote

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
_FORGET = "DELETE FROM votes WHERE person = ?"
_RECENT = "SELECT question_id, person, vote, at FROM votes ORDER BY number DESC LIMIT ?"


class SqliteFeedback(FeedbackLog):
    """Opens the file for each call: people vote seldom, and no connection outlives its work."""

    def __init__(self, path: Path, *, kept: int = KEPT, busy_timeout: float = 10.0) -> None:
        self._file = SmallFile(path, _SCHEMA, "The file of votes", busy_timeout)
        self._kept = kept

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

        await self._file.run(write)

    async def of(self, question_id: str) -> list[Feedback]:
        return await self._file.run(lambda db: _votes(db.execute(_OF, (question_id,))))

    async def recent(self, limit: int) -> list[Feedback]:
        return await self._file.run(lambda db: _votes(db.execute(_RECENT, (limit,))))

    async def forget(self, person: str) -> int:
        return await self._file.run(lambda db: db.execute(_FORGET, (person,)).rowcount)


def _votes(rows: sqlite3.Cursor) -> list[Feedback]:
    return [
        Feedback(question_id, person, Vote(vote), datetime.fromisoformat(at))
        for question_id, person, vote, at in rows
    ]
