"""Connections to one SQLite file, for several threads here and several processes beside us."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from threading import Lock

from adapters.sqlite.schema import ensure_schema
from bot.errors import StorageError

_SETTINGS = (
    "PRAGMA synchronous = NORMAL",  # a power cut may undo the last commits, never harm the file
    "PRAGMA foreign_keys = ON",
    "PRAGMA secure_delete = ON",  # what was deleted is no longer to be read in the file
    "PRAGMA temp_store = MEMORY",  # sorting works on a full disk, too
    "PRAGMA cache_size = -32768",  # KiB of pages, for each connection
    "PRAGMA journal_size_limit = 67108864",  # bytes of log that stay after a large transaction
)

_IMMUTABLE = "?mode=ro&immutable=1"
_NO_ROOM = (
    sqlite3.SQLITE_CANTOPEN,
    sqlite3.SQLITE_FULL,
    sqlite3.SQLITE_IOERR,
    sqlite3.SQLITE_READONLY,
)


class Database:
    """One writer and as many readers as there are threads reading at the same time.

    Readers work on a snapshot (WAL) and never wait for the writer. Writers of all processes queue
    up for at most `busy_timeout` seconds. On a full or read-only disk, where SQLite cannot make
    the files that readers and writers share, a complete index is still read. Raises sqlite3.Error.
    """

    def __init__(self, path: Path, busy_timeout: float) -> None:
        self.path = path
        self._busy_timeout = busy_timeout
        self._readers: list[sqlite3.Connection] = []
        self._writer: sqlite3.Connection | None = None
        self._closed = False
        self._frozen = False  # nothing can be written, and nobody else is writing
        self._pool_lock = Lock()
        self._write_lock = Lock()

    @property
    def closed(self) -> bool:
        return self._closed

    def prepare(self) -> None:
        """Creates the folder, the file and the tables where they are missing.

        Raises StorageError when the folder cannot be made or the file is of a newer version.
        """
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise StorageError(
                f"The folder of the index cannot be made: {self.path.parent}.",
                "Choose another folder with BELAY_HOME, or give this user write access.",
            ) from error
        try:
            with self.write() as connection:
                ensure_schema(connection, self.path)
        except sqlite3.Error as error:
            if not self._complete_without_log(error):
                raise
            self._frozen = True

    @contextmanager
    def read(self) -> Iterator[sqlite3.Connection]:
        """A read transaction: all that is read inside is of one moment."""
        connection = self._borrow()
        try:
            connection.execute("BEGIN")
            yield connection
        finally:
            _roll_back(connection)
            self._give_back(connection)

    @contextmanager
    def write_beside(self, other: Path) -> Iterator[sqlite3.Connection]:
        """A write transaction that reads another file as `fresh`."""
        with self._write_lock, closing(self._connect("PRAGMA journal_mode = WAL")) as connection:
            connection.execute("ATTACH ? AS fresh", (str(other),))
            connection.execute("BEGIN IMMEDIATE")
            try:
                yield connection
                connection.execute("COMMIT")
            finally:
                _roll_back(connection)

    @contextmanager
    def write(self) -> Iterator[sqlite3.Connection]:
        """A write transaction: committed at the end, undone when an exception leaves it."""
        with self._write_lock:
            if self._writer is None:
                self._writer = self._connect("PRAGMA journal_mode = WAL")
            connection = self._writer
            connection.execute("BEGIN IMMEDIATE")
            try:
                yield connection
                connection.execute("COMMIT")
            finally:
                _roll_back(connection)

    def shrink_log(self) -> None:
        """Moves what was written into the file and empties the log beside it, which still holds
        the pages as they were before. Waits for running reads, `busy_timeout` seconds at most."""
        with self._write_lock:
            if self._writer is not None:
                self._writer.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()

    def close(self) -> None:
        """Waits for a running write. A running read ends first and closes its own connection."""
        with self._pool_lock:
            self._closed = True
            idle, self._readers = self._readers, []
        for connection in idle:
            connection.close()
        with self._write_lock:
            if self._writer is not None:
                self._writer.close()
                self._writer = None

    def _borrow(self) -> sqlite3.Connection:
        with self._pool_lock:
            if self._readers:
                return self._readers.pop()
        if self._frozen:
            return self._connect("PRAGMA query_only = ON", _IMMUTABLE)
        return self._connect("PRAGMA query_only = ON")

    def _give_back(self, connection: sqlite3.Connection) -> None:
        with self._pool_lock:
            if not self._closed:
                self._readers.append(connection)
                return
        connection.close()

    def _complete_without_log(self, error: sqlite3.Error) -> bool:
        """Whether the file alone is a whole index that `error` keeps from being opened."""
        log = self.path.with_name(f"{self.path.name}-wal")
        if getattr(error, "sqlite_errorcode", 0) & 0xFF not in _NO_ROOM or not self.path.is_file():
            return False
        if log.exists() and log.stat().st_size:
            return False
        try:
            with closing(self._connect("PRAGMA query_only = ON", _IMMUTABLE)) as connection:
                ensure_schema(connection, self.path)
        except sqlite3.Error:  # it is new, or damaged
            return False
        return True

    def _connect(self, mode: str, options: str = "") -> sqlite3.Connection:
        if self._closed:
            raise sqlite3.ProgrammingError("the index is closed")
        connection = sqlite3.connect(
            f"{self.path.absolute().as_uri()}{options}",
            uri=True,
            timeout=self._busy_timeout,
            isolation_level=None,
            check_same_thread=False,
        )
        try:
            for pragma in (*_SETTINGS, mode):
                connection.execute(pragma)
        except sqlite3.Error:
            connection.close()
            raise
        return connection


def _roll_back(connection: sqlite3.Connection) -> None:
    if connection.in_transaction:
        connection.execute("ROLLBACK")
