"""Copies of SQLite files that other processes use meanwhile."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

from bot.errors import StorageError

BUSY_TIMEOUT = 10.0  # seconds


def copy(source: Path, target: Path) -> None:
    """One consistent state of `source`, checked, as a file of its own. Raises StorageError.

    https://www.sqlite.org/backup.html: writers go on meanwhile, and what they write later is not
    in the copy.
    """
    try:
        with (
            closing(sqlite3.connect(source, timeout=BUSY_TIMEOUT)) as original,
            closing(sqlite3.connect(target)) as made,
        ):
            original.backup(made)
            made.execute("PRAGMA journal_mode = DELETE")
            (state,) = made.execute("PRAGMA integrity_check(1)").fetchone()
    except sqlite3.Error as error:
        raise StorageError(f"{source} cannot be copied: {error}", "Look at the file.") from error
    if state != "ok":
        raise StorageError(f"{source} is damaged: {state}", "Restore it from an earlier backup.")
