"""What SQLite reports when it cannot work, said in the words of the person who can help."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from bot.errors import StorageError
from graph.errors import StoreError

_ASK_AGAIN = "Try again when it has finished."
_RESTORE = (
    "Move the file away (with the -wal and -shm files beside it). Run `belay sync FOLDER` for "
    "each folder to build an index of documents again; that of conversations is made by itself."
)

# Primary result codes, https://www.sqlite.org/rescode.html; extended codes keep them in 8 bits.
_FAULTS = {
    sqlite3.SQLITE_FULL: (
        "The disk that holds the index is full: {path}.",
        "Free some space and run the command again; what was indexed before is kept.",
    ),
    sqlite3.SQLITE_IOERR: (
        "The disk gave an error while the index was read or written: {path}.",
        "Check the free space and the health of the disk, then run the command again; "
        "what was indexed before is kept.",
    ),
    sqlite3.SQLITE_READONLY: (
        "The index is read-only: {path}.",
        "Give this user write access to the file and its folder.",
    ),
    sqlite3.SQLITE_CANTOPEN: (
        "The index cannot be opened: {path}.",
        "Check that the folder exists and that this user may write to it.",
    ),
    sqlite3.SQLITE_PERM: (
        "This user may not open the index: {path}.",
        "Give this user write access to the file and its folder.",
    ),
    sqlite3.SQLITE_NOTADB: ("The file is not an index of Belay: {path}.", _RESTORE),
    sqlite3.SQLITE_CORRUPT: ("The index is damaged: {path}.", _RESTORE),
    sqlite3.SQLITE_BUSY: ("Another process is writing to the index: {path}.", _ASK_AGAIN),
    sqlite3.SQLITE_LOCKED: ("Another process is writing to the index: {path}.", _ASK_AGAIN),
}
_OTHER = ("The index could not be used: {path}.", "Run `belay doctor`.")


def is_damage(error: Exception) -> bool:
    """True when a file is no database, or no whole one."""
    code = getattr(error, "sqlite_errorcode", 0) & 0xFF
    return code in (sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_CORRUPT)


def _describe(error: sqlite3.Error, path: Path) -> tuple[str, str]:
    code = getattr(error, "sqlite_errorcode", None)  # absent on errors of the Python module itself
    message, remedy = _FAULTS.get(code & 0xFF, _OTHER) if code is not None else _OTHER
    return message.format(path=path), remedy


@contextmanager
def storage_faults(path: Path) -> Iterator[None]:
    """Turns SQLite's errors into StorageError: for the application's side."""
    try:
        yield
    except sqlite3.Error as error:
        message, remedy = _describe(error, path)
        raise StorageError(message, remedy) from error


@contextmanager
def store_faults(path: Path) -> Iterator[None]:
    """Turns SQLite's errors into StoreError: for the answering machine's side."""
    try:
        yield
    except sqlite3.Error as error:
        raise StoreError(" ".join(_describe(error, path))) from error
