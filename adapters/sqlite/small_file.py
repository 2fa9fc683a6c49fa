"""A small SQLite file that is opened for each call: seldom used, shared by several processes.

What is deleted is overwritten: SQLite else leaves it readable in free pages of the file.
"""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from adapters.sqlite.faults import is_damage
from bot.errors import StorageError

T = TypeVar("T")

_ROOM = "Check that the data folder is writable and has space left."
_RESTORE = "Move the file away and put it back from a backup; without one a new file is made."


@dataclass(frozen=True, slots=True)
class SmallFile:
    """`what` names the file for people. No connection outlives its work."""

    path: Path
    schema: str  # statements that may run again
    what: str
    busy_timeout: float = 10.0  # seconds

    async def run(self, work: Callable[[sqlite3.Connection], T]) -> T:
        """The result of `work`, done in one transaction in a thread. Raises StorageError."""
        return await asyncio.to_thread(self._transaction, work)

    def _transaction(self, work: Callable[[sqlite3.Connection], T]) -> T:
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            with closing(sqlite3.connect(self.path, timeout=self.busy_timeout)) as db, db:
                db.execute("PRAGMA secure_delete = ON").close()
                db.executescript(self.schema)
                db.execute("BEGIN IMMEDIATE")
                return work(db)
        except (sqlite3.Error, OSError) as error:
            raise StorageError(
                f"{self.what}, {self.path}, cannot be used: {error}",
                _RESTORE if is_damage(error) else _ROOM,
            ) from error
