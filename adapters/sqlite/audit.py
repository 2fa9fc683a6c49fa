"""The audit in a SQLite file of its own: nothing that answers questions waits for it."""

from __future__ import annotations

import json
import sqlite3
import uuid
from collections.abc import Callable, Iterable
from dataclasses import astuple
from datetime import UTC, datetime, timedelta
from itertools import islice
from pathlib import Path
from typing import Any

from adapters.sqlite.small_file import SmallFile
from bot.audit import Audit, AuditQuery, AuditRecord, Extent, Hit, Rights, pseudonymous
from bot.chat import Place
from graph.model import Outcome

_SCHEMA = """
CREATE TABLE IF NOT EXISTS questions (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    question_id TEXT NOT NULL UNIQUE ON CONFLICT REPLACE,
    at REAL NOT NULL, person TEXT NOT NULL, question TEXT NOT NULL, resolved TEXT NOT NULL,
    outcome TEXT NOT NULL, rest TEXT NOT NULL
);
CREATE INDEX IF NOT EXISTS questions_by_time ON questions (at);
"""
_INSERT = """
INSERT INTO questions (question_id, at, person, question, resolved, outcome, rest)
VALUES (?, ?, ?, ?, ?, ?, ?)
"""
_EXPIRE = "DELETE FROM questions WHERE at < ?"
_SINCE = """
SELECT question_id, at, person, question, resolved, outcome, rest FROM questions
WHERE at >= ? ORDER BY at DESC, number DESC
"""
_OF = """
SELECT question_id, at, person, question, resolved, outcome, rest FROM questions
WHERE person = ? ORDER BY number
"""
_DELETE = "DELETE FROM questions WHERE person = ?"
_EXTENT = "SELECT count(*), min(at) FROM questions"

Row = tuple[str, float, str, str, str, str, str]


class SqliteAudit(Audit):
    """Opens the file for each call. Times are seconds since 1970; what is too old goes with every
    call. A writer waits `busy_timeout` seconds for another process at most."""

    def __init__(
        self,
        path: Path,
        *,
        kept: timedelta = timedelta(days=90),
        pseudonyms: bool = False,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
        busy_timeout: float = 2.0,
    ) -> None:
        self._file = SmallFile(path, _SCHEMA, "The audit", busy_timeout)
        self._kept, self._pseudonyms, self._now = kept, pseudonyms, now

    async def save(self, record: AuditRecord) -> None:
        row, oldest = _row(record), self._oldest()

        def write(db: sqlite3.Connection) -> None:
            db.execute(_INSERT, row)
            db.execute(_EXPIRE, (oldest,))

        await self._file.run(write)

    async def find(self, query: AuditQuery) -> list[AuditRecord]:
        oldest = self._oldest()
        since = max(oldest, query.since.timestamp()) if query.since else oldest

        def read(db: sqlite3.Connection) -> list[Row]:
            db.execute(_EXPIRE, (oldest,))
            return db.execute(_SINCE, (since,)).fetchall()

        wanted = filter(query.admits, _records(await self._file.run(read)))
        return list(islice(wanted, query.limit))

    async def forget(self, person: str) -> int:
        oldest, name = self._oldest(), uuid.uuid4().hex[:12]

        def write(db: sqlite3.Connection) -> int:
            db.execute(_EXPIRE, (oldest,))
            found = list(_records(db.execute(_OF, (person,)))) if self._pseudonyms else []
            deleted = db.execute(_DELETE, (person,)).rowcount
            db.executemany(_INSERT, [_row(pseudonymous(record, name)) for record in found])
            return deleted

        return await self._file.run(write)

    async def extent(self) -> Extent:
        oldest = self._oldest()

        def read(db: sqlite3.Connection) -> tuple[int, float | None]:
            db.execute(_EXPIRE, (oldest,))
            count, first = db.execute(_EXTENT).fetchone()
            return count, first

        count, first = await self._file.run(read)
        return Extent(count, datetime.fromtimestamp(first, UTC) if first is not None else None)

    def _oldest(self) -> float:
        return (self._now() - self._kept).timestamp()


def _row(record: AuditRecord) -> Row:
    rest = {
        "place": astuple(record.place),
        "way": record.way,
        "rights": astuple(record.rights),
        "hits": [astuple(hit) for hit in record.hits],
        "cited": record.cited,
        "ms": record.milliseconds,
        "calls": record.model_calls,
    }
    return (
        record.question_id,
        record.at.timestamp(),
        record.person,
        record.question,
        record.resolved,
        record.outcome.value,
        json.dumps(rest),
    )


def _records(rows: Iterable[Row]) -> Iterable[AuditRecord]:
    for question_id, at, person, question, resolved, outcome, text in rows:
        rest: dict[str, Any] = json.loads(text)
        tenant, levels, readers = rest["rights"]
        yield AuditRecord(
            question_id,
            datetime.fromtimestamp(at, UTC),
            person,
            Place(*rest["place"]),
            rest["way"],
            question,
            resolved,
            Rights(tenant, tuple(levels), tuple(tuple(labels) for labels in readers)),
            tuple(Hit(*hit) for hit in rest["hits"]),
            tuple(rest["cited"]),
            Outcome(outcome),
            rest["ms"],
            rest["calls"],
        )
