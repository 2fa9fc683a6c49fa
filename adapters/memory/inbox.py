"""An inbox in memory: for tests, and for a bot that may forget its questions at the end."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Collection
from dataclasses import dataclass, field, replace
from datetime import datetime

from bot.chat import Incoming, Kind, Reply
from bot.delivery import LeaseLost, Leg, Mailbox, PartState
from bot.pending import Joining, continues, edited, joined, lane, moved, stops
from bot.ports import Taken


@dataclass(slots=True)
class _Entry:
    """One event. `parts` holds the lease that claimed each part of its answer."""

    event: Incoming
    moved: bool = False
    edited_at: float = 0.0
    attempt: int = 0
    token: int = 0
    lease_until: float = 0.0
    ready_at: float = 0.0
    closed_at: float | None = None
    reply: Reply | None = None
    parts: dict[int, int] = field(default_factory=dict)


class MemoryInbox(Mailbox):
    """Behaves like SqliteInbox. For one process; nothing outlives it."""

    def __init__(
        self,
        *,
        platforms: Collection[str] = (),
        retention: float = 7 * 86_400.0,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._platforms = frozenset(platforms)
        self._retention, self._clock = retention, clock
        self._entries: list[_Entry] = []
        self._keys: dict[str, _Entry] = {}
        self._closed: deque[_Entry] = deque()
        self._homes: dict[tuple[str, str], str] = {}
        self._legs: dict[tuple[int, int], Leg] = {}
        self._tokens = 0

    async def put(self, event: Incoming) -> bool:
        self._forget()
        if event.kind is not Kind.MOVED:
            event = self._at_home(event)
        if event.kind is Kind.EDIT:
            return self._edit(event)
        if event.kind is Kind.DELETE:
            found = self._pending(event)
            return found is not None and self._close_entry(found)
        if event.kind is Kind.STOP:
            return self._stop(event)
        known = self._keys.get(event.key)
        if known is not None and (not known.moved or known.event.at == event.at):
            return False
        self._keys[event.key] = entry = _Entry(event)
        self._entries.append(entry)
        return True

    async def take(self, owner: str, lease: float) -> Taken | None:
        now = self._clock()
        behind: set[str] = set()
        for entry in self._open():
            if lane(entry.event) in behind:
                continue
            behind.add(lane(entry.event))
            ours = not self._platforms or entry.event.place.platform in self._platforms
            if ours and entry.lease_until <= now and entry.ready_at <= now:
                self._tokens += 1
                entry.attempt += 1
                entry.token, entry.lease_until = self._tokens, now + lease
                return Taken(entry.event, entry.attempt, entry.token)
        return None

    async def renew(self, taken: Taken, lease: float) -> bool:
        entry = self._leased(taken)
        if entry is not None:
            entry.lease_until = self._clock() + lease
        return entry is not None

    async def done(self, taken: Taken) -> bool:
        entry = self._leased(taken)
        return entry is not None and self._close_entry(entry)

    async def release(self, taken: Taken, delay: float = 0.0) -> None:
        entry = self._leased(taken)
        if entry is not None:
            entry.token, entry.lease_until = 0, 0.0
            entry.ready_at = self._clock() + delay if delay > 0 else 0.0

    async def sign(self, taken: Taken, handle: str) -> None:
        entry = self._leased(taken)
        if entry is not None:
            entry.event = replace(entry.event, sign=handle)

    async def move(self, platform: str, old: str, new: str) -> None:
        if old == new:
            return
        self._homes.pop((platform, new), None)
        for origin, home in self._homes.items():
            if (origin[0], home) == (platform, old):
                self._homes[origin] = new
        self._homes[platform, old] = new
        for key, entry in list(self._keys.items()):
            place = entry.event.place
            if (place.platform, place.id) == (platform, old) and entry.event.kind != Kind.MOVED:
                del self._keys[key]
                entry.event = replace(entry.event, place=moved(place, new))
                entry.moved = True
                self._keys.setdefault(entry.event.key, entry)

    async def waiting(self) -> int:
        return len(self._open())

    async def oldest(self) -> datetime | None:
        return next((entry.event.at for entry in self._open()), None)

    async def keep(self, taken: Taken, reply: Reply) -> Reply:
        entry = self._held(taken)
        if entry.reply is not None:
            return entry.reply
        entry.reply = replace(reply, answer=None)
        return reply

    async def kept(self, taken: Taken) -> Reply | None:
        entry = self._leased(taken)
        return None if entry is None else entry.reply

    async def begin(self, taken: Taken, part: int) -> PartState:
        entry = self._held(taken)
        claimed = entry.parts.get(part, taken.token)
        leg = self._legs.get((claimed, part), Leg.UNKNOWN)
        if leg in (Leg.OUT, Leg.SHOWN):
            return PartState.SENT if leg is Leg.SHOWN else PartState.UNCERTAIN
        if claimed != taken.token:
            self._legs[claimed, part] = Leg.VOID
        entry.parts[part] = taken.token
        return PartState.OPEN

    def mark(self, taken: Taken, part: int, leg: Leg) -> None:
        if leg is Leg.OUT and self._legs.get((taken.token, part)) is Leg.VOID:
            raise LeaseLost(taken.event.key)
        self._legs[taken.token, part] = leg

    async def end(self, taken: Taken, part: int, *, sent: bool) -> None:
        for entry in self._open():
            if entry.parts.get(part) == taken.token:
                self.mark(taken, part, Leg.SHOWN if sent else Leg.FAILED)

    async def join(self, taken: Taken, rule: Joining) -> Taken:
        entry = self._leased(taken)
        if entry is None:
            return taken
        first = entry.event
        pieces: list[Incoming] = []
        for other in self._open():
            waits = other is not entry and lane(other.event) == lane(first)
            if waits and len(pieces) + 1 < rule.pieces and continues(first, other.event, rule):
                pieces.append(other.event)
                self._close_entry(other)
        if not pieces:
            return taken
        entry.event = joined(first, pieces)
        return replace(taken, event=entry.event)

    async def close(self) -> None:
        return None

    def _open(self) -> list[_Entry]:
        return [entry for entry in self._entries if entry.closed_at is None]

    def _leased(self, taken: Taken) -> _Entry | None:
        return next((entry for entry in self._open() if entry.token == taken.token), None)

    def _held(self, taken: Taken) -> _Entry:
        entry = self._leased(taken)
        if entry is None:
            raise LeaseLost(taken.event.key)
        return entry

    def _pending(self, event: Incoming) -> _Entry | None:
        entry = self._keys.get(replace(event, kind=Kind.QUESTION).key)
        if entry is None or entry.closed_at is not None or entry.reply is not None:
            return None
        return entry if entry.lease_until <= self._clock() else None

    def _edit(self, edit: Incoming) -> bool:
        entry = self._pending(edit)
        if entry is None or edit.at.timestamp() < entry.edited_at:
            return False
        entry.event, entry.edited_at = edited(entry.event, edit), edit.at.timestamp()
        return True

    def _stop(self, stop: Incoming) -> bool:
        for entry in self._open():
            if not entry.parts and stops(stop, entry.event):
                return self._close_entry(entry)
        return False

    def _close_entry(self, entry: _Entry) -> bool:
        entry.closed_at = self._clock()
        entry.event = replace(entry.event, text="", quote=None, attachments=(), files=(), nearby=())
        entry.reply = None
        for part, token in entry.parts.items():
            self._legs.pop((token, part), None)
        entry.parts.clear()
        self._entries.remove(entry)
        self._closed.append(entry)
        return True

    def _forget(self) -> None:
        oldest = self._clock() - self._retention
        while self._closed and (self._closed[0].closed_at or 0) < oldest:
            entry = self._closed.popleft()
            if self._keys.get(entry.event.key) is entry:
                del self._keys[entry.event.key]

    def _at_home(self, event: Incoming) -> Incoming:
        home = self._homes.get((event.place.platform, event.place.id))
        return event if home is None else replace(event, place=moved(event.place, home))
