"""The number of an index's last writer. Each function works inside its caller's transaction."""

from __future__ import annotations

import sqlite3

from bot.leadership import LeadLost

_TABLE = """
CREATE TABLE IF NOT EXISTS fence (one INTEGER PRIMARY KEY CHECK (one = 1), number INTEGER NOT NULL)
"""
_NEXT = """
INSERT INTO fence (one, number) VALUES (1, 1)
ON CONFLICT (one) DO UPDATE SET number = number + 1 RETURNING number
"""


def advance(connection: sqlite3.Connection) -> int:
    """The number of a new writer. Older versions do not know the table, and do not mind it."""
    connection.execute(_TABLE)
    (number,) = connection.execute(_NEXT).fetchone()
    return int(number)


def check(connection: sqlite3.Connection, number: int | None) -> None:
    """Raises LeadLost when a writer came after that of `number`; None: one that has no run."""
    if number is None:
        return
    (last,) = connection.execute("SELECT number FROM fence").fetchone()
    if last != number:
        raise LeadLost(
            "Another process has begun to write this index: nothing more is written by this one; "
            "what was done before stays.",
            "Run it again. Do not delete lock files in the data folder: they go by themselves.",
        )
