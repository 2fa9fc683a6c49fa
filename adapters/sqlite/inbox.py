"""The inbox in one SQLite file of its own, which all processes of a bot share."""

from __future__ import annotations

import json
import sqlite3
import time
from collections.abc import Callable, Collection
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from adapters.event_json import event_from_json, event_to_json, reply_from_json, reply_to_json
from adapters.sqlite import inbox_rows as rows
from adapters.sqlite.clocks import far
from adapters.sqlite.inbox_file import InboxFile, storage_faults
from adapters.sqlite.inbox_moves import at_home, move_events
from bot.chat import Incoming, Kind, Reply
from bot.delivery import LeaseLost, Leg, Mailbox, PartState
from bot.pending import Joining, continues, edited, joined, lane, stops
from bot.ports import Taken

RETENTION = 7 * 86_400.0  # seconds; platforms repeat what was not acknowledged for a day at most


class SqliteInbox(Mailbox):
    """Every method is one transaction. Writers of all processes queue up for `busy_timeout`.

    Only events of `platforms` are taken; without any, all are. `retention` is how long, in
    seconds, the keys of finished events are remembered; their texts are forgotten at once.
    `clock` gives seconds since the epoch, the same for all processes.
    """

    def __init__(
        self,
        path: Path,
        *,
        platforms: Collection[str] = (),
        retention: float = RETENTION,
        busy_timeout: float = 10.0,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._file = InboxFile(path, busy_timeout)
        self._platforms = json.dumps(sorted(platforms))
        self._retention, self._clock = retention, clock

    @classmethod
    async def open(
        cls,
        path: Path,
        *,
        platforms: Collection[str] = (),
        retention: float = RETENTION,
        busy_timeout: float = 10.0,
        clock: Callable[[], float] = time.time,
    ) -> SqliteInbox:
        """The inbox in the file `path`, which is made when it is missing.

        Raises StorageError when the file cannot be used or a newer Belay wrote it.
        """
        inbox = cls(
            path,
            platforms=platforms,
            retention=retention,
            busy_timeout=busy_timeout,
            clock=clock,
        )
        try:
            await inbox._file.prepare()
        except BaseException:
            await inbox.close()
            raise
        return inbox

    async def put(self, event: Incoming) -> bool:
        return await self._file.write(lambda db: self._put(db, event))

    async def take(self, owner: str, lease: float) -> Taken | None:
        return await self._file.write(lambda db: self._take(db, owner, lease))

    async def renew(self, taken: Taken, lease: float) -> bool:
        def renew(db: sqlite3.Connection) -> bool:
            return _changed(
                db,
                "UPDATE events SET lease_until = ? WHERE token = ? AND closed_at IS NULL",
                (self._clock() + lease, taken.token),
            )

        return await self._file.write(renew)

    async def done(self, taken: Taken) -> bool:
        def close(db: sqlite3.Connection) -> bool:
            row = _leased(db, taken)
            return row is not None and self._close_event(db, row)

        return await self._file.write(close)

    async def release(self, taken: Taken, delay: float = 0.0) -> None:
        def release(db: sqlite3.Connection) -> None:
            db.execute(
                "UPDATE events SET token = 0, owner = '', lease_until = 0, ready_at = ? "
                "WHERE token = ? AND closed_at IS NULL",
                (self._clock() + delay if delay > 0 else 0, taken.token),
            )

        await self._file.write(release)

    async def sign(self, taken: Taken, handle: str) -> None:
        def write(db: sqlite3.Connection) -> None:
            event = _leased(db, taken)
            if event is not None:
                body = event_to_json(replace(_event(db, event), sign=handle))
                db.execute("UPDATE events SET body = ? WHERE id = ?", (body, event))

        await self._file.write(write)

    async def move(self, platform: str, old: str, new: str) -> None:
        if old != new:
            await self._file.write(lambda db: move_events(db, platform, old, new))

    async def waiting(self) -> int:
        def count(db: sqlite3.Connection) -> int:
            query = "SELECT count(*) FROM events WHERE closed_at IS NULL"
            return int(db.execute(query).fetchone()[0])

        return await self._file.write(count)

    async def oldest(self) -> datetime | None:
        def first(db: sqlite3.Connection) -> float | None:
            query = "SELECT at FROM events WHERE closed_at IS NULL ORDER BY id LIMIT 1"
            row = db.execute(query).fetchone()
            return None if row is None else float(row[0])

        at = await self._file.write(first)
        return None if at is None else datetime.fromtimestamp(at, UTC)

    async def keep(self, taken: Taken, reply: Reply) -> Reply:
        def keep(db: sqlite3.Connection) -> Reply:
            event = _held(db, taken)
            stored = _reply(db, event)
            if stored is not None:
                return stored
            db.execute("UPDATE events SET reply = ? WHERE id = ?", (reply_to_json(reply), event))
            return reply

        return await self._file.write(keep)

    async def kept(self, taken: Taken) -> Reply | None:
        def read(db: sqlite3.Connection) -> Reply | None:
            event = _leased(db, taken)
            return None if event is None else _reply(db, event)

        return await self._file.write(read)

    async def begin(self, taken: Taken, part: int) -> PartState:
        return await self._file.write(lambda db: self._begin(db, taken, part))

    def mark(self, taken: Taken, part: int, leg: Leg) -> None:
        wire = self._file.wire
        with storage_faults(self._file.path):
            if leg is Leg.OUT and wire.leg(taken.token, part) is Leg.VOID:
                raise LeaseLost(taken.event.key)
            wire.mark(taken.token, part, leg)

    async def end(self, taken: Taken, part: int, *, sent: bool) -> None:
        change = "UPDATE parts SET sent = 1" if sent else "DELETE FROM parts"
        query = f"{change} WHERE token = ? AND part = ?"
        await self._file.write(lambda db: _changed(db, query, (taken.token, part)))

    async def join(self, taken: Taken, rule: Joining) -> Taken:
        return await self._file.write(lambda db: self._join(db, taken, rule))

    async def close(self) -> None:
        """Waits for the running transaction."""
        await self._file.close()

    def _put(self, db: sqlite3.Connection, event: Incoming) -> bool:
        db.execute("DELETE FROM events WHERE closed_at < ?", (self._clock() - self._retention,))
        if event.kind is not Kind.MOVED:
            event = at_home(db, event)
        if event.kind is Kind.EDIT:
            return self._edit(db, event)
        if event.kind is Kind.DELETE:
            found = self._pending(db, event)
            return found is not None and self._close_event(db, found)
        if event.kind is Kind.STOP:
            return self._stop(db, event)
        return _insert(db, event)

    def _pending(self, db: sqlite3.Connection, event: Incoming) -> int | None:
        """The question of the event's message, if nobody works on it and no answer is kept."""
        key = replace(event, kind=Kind.QUESTION).key
        row = db.execute(
            "SELECT id FROM events WHERE key = ? AND closed_at IS NULL AND lease_until <= ? "
            "AND reply IS NULL",
            (key, self._clock()),
        ).fetchone()
        return None if row is None else int(row[0])

    def _edit(self, db: sqlite3.Connection, edit: Incoming) -> bool:
        found = self._pending(db, edit)
        if found is None:
            return False
        newest = edited(_event(db, found), edit)
        return _changed(
            db,
            "UPDATE events SET body = ?, edited_at = ? WHERE id = ? AND edited_at <= ?",
            (event_to_json(newest), edit.at.timestamp(), found, edit.at.timestamp()),
        )

    def _stop(self, db: sqlite3.Connection, stop: Incoming) -> bool:
        """Ends the first question that is meant, unless its answer is on the way already."""
        questions = db.execute(
            "SELECT id, body FROM events WHERE lane = ? AND closed_at IS NULL "
            "AND NOT EXISTS (SELECT 1 FROM parts WHERE event = events.id) ORDER BY id",
            (stop.place.conversation,),
        ).fetchall()
        for event, body in questions:
            if stops(stop, event_from_json(body)):
                return self._close_event(db, event)
        return False

    def _take(self, db: sqlite3.Connection, owner: str, lease: float) -> Taken | None:
        now = self._clock()
        wanted = {"now": now, "far": far(now, lease), "owner": owner}
        row = db.execute(rows.NEXT, {**wanted, "platforms": self._platforms}).fetchone()
        if row is None:
            return None
        event, body, attempt = row
        db.execute("UPDATE last_token SET value = value + 1")
        token = int(db.execute("SELECT value FROM last_token").fetchone()[0])
        db.execute(
            "UPDATE events SET attempt = ?, token = ?, owner = ?, lease_until = ? WHERE id = ?",
            (attempt + 1, token, owner, now + lease, event),
        )
        return Taken(event_from_json(body), attempt + 1, token)

    def _join(self, db: sqlite3.Connection, taken: Taken, rule: Joining) -> Taken:
        event = _leased(db, taken)
        if event is None:
            return taken
        first = _event(db, event)
        waiting = db.execute(
            "SELECT id, body FROM events WHERE lane = ? AND closed_at IS NULL AND id > ? "
            "ORDER BY id",
            (lane(first), event),
        )
        pieces: list[Incoming] = []
        for other, body in waiting.fetchall():
            piece = event_from_json(body)
            if len(pieces) + 1 < rule.pieces and continues(first, piece, rule):
                pieces.append(piece)
                self._close_event(db, other)
        if not pieces:
            return taken
        whole = joined(first, pieces)
        db.execute("UPDATE events SET body = ? WHERE id = ?", (event_to_json(whole), event))
        return replace(taken, event=whole)

    def _begin(self, db: sqlite3.Connection, taken: Taken, part: int) -> PartState:
        event, wire = _held(db, taken), self._file.wire
        query = "SELECT token, sent FROM parts WHERE event = ? AND part = ?"
        row = db.execute(query, (event, part)).fetchone()
        if row is not None:
            claimed, sent = row
            leg = Leg.SHOWN if sent else wire.leg(claimed, part)
            if leg in (Leg.OUT, Leg.SHOWN):
                return PartState.SENT if leg is Leg.SHOWN else PartState.UNCERTAIN
            if claimed != taken.token:
                wire.mark(claimed, part, Leg.VOID)
        db.execute(
            "INSERT OR REPLACE INTO parts (event, part, token) VALUES (?, ?, ?)",
            (event, part, taken.token),
        )
        return PartState.OPEN

    def _close_event(self, db: sqlite3.Connection, event: int) -> bool:
        """Forgets all but the key. The lease's holder finds its token void."""
        db.execute(
            "UPDATE events SET closed_at = ?, body = NULL, reply = NULL WHERE id = ?",
            (self._clock(), event),
        )
        db.execute("DELETE FROM parts WHERE event = ?", (event,))
        return True


def _changed(db: sqlite3.Connection, query: str, values: tuple[object, ...]) -> bool:
    return db.execute(query, values).rowcount > 0


def _leased(db: sqlite3.Connection, taken: Taken) -> int | None:
    """The event whose newest lease this is."""
    query = "SELECT id FROM events WHERE token = ? AND closed_at IS NULL"
    row = db.execute(query, (taken.token,)).fetchone()
    return None if row is None else int(row[0])


def _held(db: sqlite3.Connection, taken: Taken) -> int:
    event = _leased(db, taken)
    if event is None:
        raise LeaseLost(taken.event.key)
    return event


def _event(db: sqlite3.Connection, event: int) -> Incoming:
    row = db.execute("SELECT body FROM events WHERE id = ?", (event,)).fetchone()
    return event_from_json(row[0])


def _reply(db: sqlite3.Connection, event: int) -> Reply | None:
    row = db.execute("SELECT reply FROM events WHERE id = ?", (event,)).fetchone()
    return reply_from_json(row[0]) if row[0] is not None else None


def _insert(db: sqlite3.Connection, event: Incoming) -> bool:
    at = event.at.timestamp()
    known = db.execute("SELECT id, at, moved FROM events WHERE key = ?", (event.key,)).fetchone()
    if known is not None and (not known[2] or known[1] == at):
        return False
    if known is not None:  # the new place counts its messages anew: another one, same number
        db.execute("UPDATE events SET key = key || '@' || id WHERE id = ?", (known[0],))
    db.execute(
        "INSERT INTO events (key, platform, place, message, kind, lane, at, body) "
        "VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
        (event.key, event.place.platform, event.place.id, event.message_id, str(event.kind),
         lane(event), at, event_to_json(event)),
    )  # fmt: skip
    return True
