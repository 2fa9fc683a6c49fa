"""Places of the inbox that got a new id. Each function works inside its caller's transaction."""

from __future__ import annotations

import sqlite3
from dataclasses import replace

from adapters.event_json import event_from_json, event_to_json
from bot.chat import Incoming
from bot.pending import lane, moved


def at_home(db: sqlite3.Connection, event: Incoming) -> Incoming:
    """The event under the newest id of its place."""
    query = "SELECT new FROM moves WHERE platform = ? AND old = ?"
    row = db.execute(query, (event.place.platform, event.place.id)).fetchone()
    return event if row is None else replace(event, place=moved(event.place, row[0]))


def move_events(db: sqlite3.Connection, platform: str, old: str, new: str) -> None:
    """Everything of the old place belongs to the new one: what waits, and the keys of the rest."""
    db.execute("DELETE FROM moves WHERE platform = ? AND old = ?", (platform, new))
    db.execute("UPDATE moves SET new = ? WHERE platform = ? AND new = ?", (new, platform, old))
    db.execute("INSERT OR REPLACE INTO moves VALUES (?, ?, ?)", (platform, old, new))
    there = db.execute(
        "SELECT id, message, kind, body FROM events "
        "WHERE platform = ? AND place = ? AND kind != 'moved'",
        (platform, old),
    ).fetchall()
    for event, message, kind, body in there:
        key = f"{platform}:{new}:{message}:{kind}"
        if db.execute("SELECT 1 FROM events WHERE key = ?", (key,)).fetchone():
            key = f"{key}@{event}"
        db.execute(
            "UPDATE events SET key = ?, place = ?, moved = 1 WHERE id = ?", (key, new, event)
        )
        if body is not None:
            here = event_from_json(body)
            here = replace(here, place=moved(here.place, new))
            db.execute(
                "UPDATE events SET lane = ?, body = ? WHERE id = ?",
                (lane(here), event_to_json(here), event),
            )
