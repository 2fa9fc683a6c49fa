"""The tables of the inbox."""

from __future__ import annotations

SCHEMA = 1
"""Kept in `PRAGMA user_version`; grows with every change of the tables."""

# An event is open until `closed_at`; then only its key stays, for `retention`. `token` is the
# lease that was given last. A part is begun when its row is there, and shown when `sent`.
TABLES = (
    """
    CREATE TABLE events (
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        key TEXT NOT NULL UNIQUE,
        platform TEXT NOT NULL,
        place TEXT NOT NULL,
        message TEXT NOT NULL,
        kind TEXT NOT NULL,
        lane TEXT NOT NULL,
        at REAL NOT NULL,
        moved INTEGER NOT NULL DEFAULT 0,
        edited_at REAL NOT NULL DEFAULT 0,
        body TEXT,
        reply TEXT,
        attempt INTEGER NOT NULL DEFAULT 0,
        owner TEXT NOT NULL DEFAULT '',
        token INTEGER NOT NULL DEFAULT 0,
        lease_until REAL NOT NULL DEFAULT 0,
        ready_at REAL NOT NULL DEFAULT 0,
        closed_at REAL
    )
    """,
    "CREATE INDEX open_events ON events (id) WHERE closed_at IS NULL",
    "CREATE INDEX open_lanes ON events (lane, id) WHERE closed_at IS NULL",
    "CREATE INDEX closed_events ON events (closed_at) WHERE closed_at IS NOT NULL",
    "CREATE INDEX places ON events (platform, place)",
    "CREATE INDEX tokens ON events (token) WHERE closed_at IS NULL",
    """
    CREATE TABLE parts (
        event INTEGER NOT NULL REFERENCES events (id) ON DELETE CASCADE,
        part INTEGER NOT NULL,
        token INTEGER NOT NULL,
        sent INTEGER NOT NULL DEFAULT 0,
        PRIMARY KEY (event, part)
    ) WITHOUT ROWID
    """,
    "CREATE INDEX part_tokens ON parts (token)",
    "CREATE TABLE last_token (value INTEGER NOT NULL)",
    "INSERT INTO last_token (value) VALUES (0)",
    """
    CREATE TABLE moves (
        platform TEXT NOT NULL,
        old TEXT NOT NULL,
        new TEXT NOT NULL,
        PRIMARY KEY (platform, old)
    ) WITHOUT ROWID
    """,
)

# The head of each lane, oldest first: the rest of a lane waits behind it. What is to wait until
# `far`, longer than anybody waits, was written before the clock was put back.
NEXT = """
    SELECT id, body, attempt FROM events AS e
    WHERE closed_at IS NULL AND (ready_at <= :now OR ready_at > :far)
    AND (lease_until <= :now OR (lease_until > :far AND owner <> :owner))
    AND (:platforms = '[]' OR platform IN (SELECT value FROM json_each(:platforms)))
    AND NOT EXISTS (
        SELECT 1 FROM events AS f
        WHERE f.closed_at IS NULL AND f.lane = e.lane AND f.id < e.id
    )
    ORDER BY id LIMIT 1
"""
