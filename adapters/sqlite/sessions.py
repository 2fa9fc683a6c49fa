"""The session log in a SQLite file of its own."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from adapters.sqlite.small_file import SmallFile
from adapters.turn_json import scope_json, scope_of
from bot.sessions import PAUSE, STORED, Selection, SessionLog, SessionTurn, follows

_SCHEMA = """
CREATE TABLE IF NOT EXISTS turns (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL UNIQUE,
    role TEXT NOT NULL, conversation TEXT NOT NULL, talk TEXT NOT NULL, person TEXT NOT NULL,
    text TEXT NOT NULL, at TEXT NOT NULL, question_id TEXT NOT NULL, scope TEXT NOT NULL,
    verified INTEGER NOT NULL, behind TEXT NOT NULL, link TEXT NOT NULL, said TEXT NOT NULL,
    session TEXT NOT NULL
);
CREATE INDEX IF NOT EXISTS turns_conversation ON turns (conversation, at, number);
CREATE INDEX IF NOT EXISTS turns_session ON turns (session, number);
CREATE INDEX IF NOT EXISTS turns_person ON turns (person);
"""
_COLUMNS = (
    "id, role, conversation, talk, person, text, at, question_id, scope, verified, behind, link, "
    "said, session"
)
_ADD = f"INSERT INTO turns ({_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"  # noqa: S608 - from the constant above
_CHANGE = """
UPDATE turns SET text = ?, scope = ?, verified = ?, behind = ?, link = ?, said = ? WHERE id = ?
"""
_LAST = f"SELECT {_COLUMNS} FROM turns WHERE conversation = ? ORDER BY at DESC, number DESC LIMIT ?"  # noqa: S608 - from the constant above
_ALL = f"SELECT {_COLUMNS} FROM turns ORDER BY session, at, number"  # noqa: S608 - from the constant above
_TRIM = """
DELETE FROM turns WHERE session = ? AND number <= (
    SELECT number FROM turns WHERE session = ? ORDER BY number DESC LIMIT 1 OFFSET ?
)
"""
# A prefix is compared by its length: LIKE would read wildcards in it.
_FORGET = f"""
DELETE FROM turns WHERE :person || :conversation || :place <> ''
    AND :person IN ('', person) AND :conversation IN ('', conversation)
    AND substr(conversation, 1, length(:place)) = :place
RETURNING {_COLUMNS}
"""  # noqa: S608 - from the constant above
_MOVE = """
UPDATE turns SET {column} = :new || substr({column}, length(:old) + 1)
WHERE substr({column}, 1, length(:old)) = :old
"""


class SqliteSessions(SessionLog):
    """Opens the file for each call; several processes may share it."""

    def __init__(
        self,
        path: Path,
        *,
        stored: int = STORED,
        pause: timedelta = PAUSE,
        busy_timeout: float = 10.0,
    ) -> None:
        self._file = SmallFile(path, _SCHEMA, "The log of conversations", busy_timeout)
        self._stored, self._pause = stored, pause

    async def add(self, turns: Sequence[SessionTurn]) -> None:
        def write(db: sqlite3.Connection) -> None:
            for turn in turns:
                self._put(db, turn)

        await self._file.run(write)

    async def recent(self, conversation: str, limit: int) -> Sequence[SessionTurn]:
        rows = await self._file.run(lambda db: db.execute(_LAST, (conversation, limit)).fetchall())
        return [_turn(*row) for row in reversed(rows)]

    async def all(self) -> Sequence[SessionTurn]:
        rows = await self._file.run(lambda db: db.execute(_ALL).fetchall())
        return [_turn(*row) for row in rows]

    async def forget(self, selection: Selection) -> Sequence[SessionTurn]:
        wanted = {
            "person": selection.person,
            "conversation": selection.conversation,
            "place": selection.place,
        }
        rows = await self._file.run(lambda db: db.execute(_FORGET, wanted).fetchall())
        return [_turn(*row) for row in rows]

    async def move(self, old: str, new: str) -> None:
        def write(db: sqlite3.Connection) -> None:
            for column in ("conversation", "talk"):
                db.execute(_MOVE.format(column=column), {"old": old, "new": new})

        await self._file.run(write)

    def _put(self, db: sqlite3.Connection, turn: SessionTurn) -> None:
        if db.execute("SELECT 1 FROM turns WHERE id = ?", (turn.id,)).fetchone():
            values = _row(turn)
            db.execute(_CHANGE, (values[5], *values[8:13], turn.id))
            return
        found = db.execute(_LAST, (turn.conversation, 1)).fetchone()
        last = _turn(*found) if found else None
        session = last.session if last and follows(turn, last, self._pause) else turn.id
        db.execute(_ADD, _row(replace(turn, session=session)))
        db.execute(_TRIM, (session, session, self._stored))


def _row(turn: SessionTurn) -> tuple[object, ...]:
    return (
        turn.id,
        turn.role,
        turn.conversation,
        turn.talk,
        turn.person,
        turn.text,
        turn.at.astimezone(UTC).isoformat(),
        turn.question_id,
        scope_json(turn.scope),
        turn.verified,
        json.dumps(turn.behind, ensure_ascii=False),
        turn.link,
        turn.said,
        turn.session,
    )


def _turn(*row: Any) -> SessionTurn:
    names = [name.strip() for name in _COLUMNS.split(",")]
    values = dict(zip(names, row, strict=True))
    values["at"] = datetime.fromisoformat(values["at"])
    values["scope"] = scope_of(values["scope"])
    values["verified"] = bool(values["verified"])
    values["behind"] = tuple((source, path) for source, path in json.loads(values["behind"]))
    return SessionTurn(**values)
