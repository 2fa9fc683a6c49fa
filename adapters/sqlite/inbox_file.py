"""One connection to the inbox's file, used by one thread: transactions take turns."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TypeVar

from adapters.sqlite.faults import is_damage
from adapters.sqlite.inbox_rows import SCHEMA, TABLES
from adapters.sqlite.inbox_wire import Wire
from bot.errors import StorageError

_SETTINGS = (
    "PRAGMA journal_mode = WAL",
    "PRAGMA synchronous = FULL",  # what is acknowledged survives a power cut
    "PRAGMA foreign_keys = ON",
    "PRAGMA secure_delete = ON",  # what was answered is no longer to be read in the file
)
_REMEDY = "Free some space there, or give this user write access; questions wait until then."
_DAMAGED = "Move the file away (with the -wal and -shm files beside it); a new one is made."

T = TypeVar("T")


class InboxFile:
    """Writers of all processes queue up for at most `busy_timeout` seconds.

    All methods raise StorageError.
    """

    def __init__(self, path: Path, busy_timeout: float) -> None:
        self.path = path
        self._busy_timeout = busy_timeout
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="inbox")
        self._connection: sqlite3.Connection | None = None
        self._wire: Wire | None = None

    @property
    def wire(self) -> Wire:
        if self._wire is None:
            raise StorageError(f"The inbox is closed: {self.path}.")
        return self._wire

    async def prepare(self) -> None:
        """Creates the folder, the file and the tables where they are missing."""
        await self._run(self._prepare)

    async def write(self, work: Callable[[sqlite3.Connection], T]) -> T:
        """Runs `work` in a transaction: it happens wholly, or not at all when it raises. A caller
        that is cancelled does not undo it."""

        def transaction() -> T:
            with self._transaction() as connection:
                return work(connection)

        return await self._run(transaction)

    async def close(self) -> None:
        """Waits for the running transaction."""

        def close() -> None:
            if self._connection is not None:
                self._connection.close()
                self._connection = None
            if self._wire is not None:
                self._wire.close()
                self._wire = None

        with suppress(StorageError):  # closed already
            await self._run(close)
        self._thread.shutdown(wait=False)

    async def _run(self, work: Callable[[], T]) -> T:
        try:
            running = asyncio.get_running_loop().run_in_executor(self._thread, work)
        except RuntimeError as error:  # the thread has ended
            raise StorageError(f"The inbox is closed: {self.path}.") from error
        return await running

    @contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection]:
        with storage_faults(self.path):
            if self._connection is None:
                raise sqlite3.ProgrammingError("the inbox is closed")
            self._connection.execute("BEGIN IMMEDIATE")
            try:
                yield self._connection
                self._connection.execute("COMMIT")
            finally:
                if self._connection.in_transaction:
                    self._connection.execute("ROLLBACK")

    def _prepare(self) -> None:
        with storage_faults(self.path):
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self._connection = sqlite3.connect(
                self.path, timeout=self._busy_timeout, isolation_level=None
            )
            for pragma in _SETTINGS:
                self._connection.execute(pragma)
            self._wire = Wire(self.path.with_name(f"{self.path.name}-wire"))
        with self._transaction() as db:
            self._wire.prepare()
            version = int(db.execute("PRAGMA user_version").fetchone()[0])
            if version > SCHEMA:
                raise StorageError(
                    f"A newer version of Belay wrote the inbox: {self.path}.", "Update Belay."
                )
            if version == 0:
                for statement in TABLES:
                    db.execute(statement)
                db.execute(f"PRAGMA user_version = {SCHEMA}")


@contextmanager
def storage_faults(path: Path) -> Iterator[None]:
    """Turns what SQLite and the file system report into StorageError."""
    try:
        yield
    except sqlite3.Error as error:
        damaged = is_damage(error)
        said = "is damaged" if damaged else "cannot be read or written"
        raise StorageError(
            f"The inbox {said}: {path}.", _DAMAGED if damaged else _REMEDY
        ) from error
    except OSError as error:
        raise StorageError(f"The inbox cannot be made or written: {path}.", _REMEDY) from error
