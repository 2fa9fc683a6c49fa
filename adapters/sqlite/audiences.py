"""Which of the stored access rules a scope admits: the one place where that is decided."""

from __future__ import annotations

import sqlite3
from threading import Lock

from adapters.stored_text import access_from_json, access_to_json
from graph.model import Access, Scope


class Audiences:
    """The distinct Access values of the index, few beside many chunks.

    A row of `access` never changes and its id is never used again, so what was read once holds.
    """

    def __init__(self) -> None:
        self._known: dict[int, Access] = {}
        self._lock = Lock()

    def admitted(self, connection: sqlite3.Connection, scope: Scope) -> list[int]:
        """Ids of the stored access rules whose documents `scope` may read."""
        with self._lock:
            newest = max(self._known, default=0)
            rows = connection.execute("SELECT id, value FROM access WHERE id > ?", (newest,))
            self._known.update((number, access_from_json(value)) for number, value in rows)
            known = list(self._known.items())
        return [number for number, access in known if scope.admits(access)]


def access_id(connection: sqlite3.Connection, access: Access) -> int:
    """The id of `access`, stored now when it is new."""
    value = access_to_json(access)
    found = connection.execute("SELECT id FROM access WHERE value = ?", (value,)).fetchone()
    if found is None:
        return int(
            connection.execute(
                "INSERT INTO access (value) VALUES (?) RETURNING id", (value,)
            ).fetchone()[0]
        )
    return int(found[0])
