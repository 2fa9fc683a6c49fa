"""The inbox in Redis, which the processes of a bot on any number of machines share."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any, TypeVar

from adapters.event_json import event_from_json, event_to_json, reply_from_json, reply_to_json
from adapters.redis.script import script
from adapters.redis.server import Server
from bot.chat import Incoming, Kind, Reply
from bot.delivery import LeaseLost, Leg, Mailbox, PartState
from bot.errors import StorageError
from bot.pending import Joining, continues, edited, joined, lane, moved, stops
from bot.ports import Taken

RETENTION = 7 * 86_400.0  # seconds; platforms repeat what was not acknowledged for a day at most

# What was accepted is answered also when the memory is used up; nothing more is accepted then.
_FILES = ("inbox_events.lua", "inbox.lua")
_ACCEPTING = script(*_FILES)
_WORKING = script(*_FILES, when_full=True)
T = TypeVar("T")

_ROUNDS = 20  # in which somebody else may change what a decision was based on


class RedisInbox(Mailbox):
    """Every method is one script, or a decision that a script takes over when nothing it rests on
    has changed since.

    Only events of `platforms` are taken; without any, all are. `retention` is how long, in
    seconds, the keys of finished events are remembered; their texts are forgotten at once. The
    time is the server's, the same for all machines, unless `clock` gives it. `close` closes
    `server`.
    """

    def __init__(
        self,
        server: Server,
        *,
        platforms: Collection[str] = (),
        retention: float = RETENTION,
        clock: Callable[[], float] | None = None,
    ) -> None:
        self._server, self._key = server, server.key("inbox")
        self._platforms = sorted(platforms)
        self._retention, self._clock = retention, clock
        self._unconfirmed: dict[tuple[int, int], Leg] = {}

    async def put(self, event: Incoming) -> bool:
        match event.kind:
            case Kind.EDIT:
                return await self._decided(lambda: self._edit(event))
            case Kind.DELETE:
                return await self._drop(event)
            case Kind.STOP:
                return await self._stop(event)
            case _:
                return await self._insert(event)

    async def take(self, owner: str, lease: float) -> Taken | None:
        await self._confirm()
        found = await self._run(
            "take", once=True, platforms=self._platforms, owner=owner, lease=lease
        )
        if not found:
            return None
        stored, attempt, token = found
        return Taken(_Stored(*stored).event, int(attempt), int(token))

    async def renew(self, taken: Taken, lease: float) -> bool:
        await self._confirm()
        return bool(await self._run("renew", token=str(taken.token), lease=lease))

    async def done(self, taken: Taken) -> bool:
        return bool(await self._run("done", token=str(taken.token)))

    async def release(self, taken: Taken, delay: float = 0.0) -> None:
        await self._run("release", token=str(taken.token), delay=delay)

    async def sign(self, taken: Taken, handle: str) -> None:
        await self._run("sign", token=str(taken.token), handle=handle)

    async def move(self, platform: str, old: str, new: str) -> None:
        if old != new:
            await self._run("move", platform=platform, old=old, new=new)

    async def waiting(self) -> int:
        return int(await self._run("count"))

    async def oldest(self) -> datetime | None:
        found = await self._run("oldest")
        return datetime.fromtimestamp(float(found), UTC) if found else None

    async def keep(self, taken: Taken, reply: Reply) -> Reply:
        found = await self._run("keep", token=str(taken.token), reply=reply_to_json(reply))
        if found[0] == "lost":
            raise LeaseLost(taken.event.key)
        shown = replace(reply, answer=None)
        kept = reply_from_json(found[1])
        return reply if kept == shown else kept

    async def kept(self, taken: Taken) -> Reply | None:
        found = await self._run("kept", token=str(taken.token))
        return reply_from_json(found) if found else None

    async def begin(self, taken: Taken, part: int) -> PartState:
        await self._confirm()
        state = await self._run("begin", token=str(taken.token), part=str(part))
        if state == "lost":
            raise LeaseLost(taken.event.key)
        return PartState(state)

    def mark(self, taken: Taken, part: int, leg: Leg) -> None:
        """Waits for the server's word: what it does not know of may be sent twice.

        When it cannot be asked, a part does not go out. What became of one that did is told again
        by `end`, and then by whichever call finds the server back.
        """
        try:
            valid = self._server.run_now(_WORKING, self._key, *self._mark(taken.token, part, leg))
        except StorageError:
            if leg is Leg.OUT:  # the server may know of it all the same
                self._unconfirmed[taken.token, part] = Leg.FAILED
                raise
            self._unconfirmed[taken.token, part] = leg
            return
        if leg is Leg.OUT and not valid:
            raise LeaseLost(taken.event.key)

    async def end(self, taken: Taken, part: int, *, sent: bool) -> None:
        self._unconfirmed[taken.token, part] = Leg.SHOWN if sent else Leg.FAILED
        await self._confirm()

    async def join(self, taken: Taken, rule: Joining) -> Taken:
        return await self._decided(lambda: self._join(taken, rule))

    async def close(self) -> None:
        await self._server.close()

    async def _confirm(self) -> None:
        """Tells the server what became of parts that it has not heard of yet."""
        for (token, part), leg in list(self._unconfirmed.items()):
            values = self._mark(token, part, leg)
            await self._server.run(_WORKING, self._key, *values)
            if self._unconfirmed.get((token, part)) is leg:
                del self._unconfirmed[token, part]

    def _mark(self, token: int, part: int, leg: Leg) -> Sequence[str]:
        return self._values("mark", {"token": str(token), "part": str(part), "leg": leg.value})

    async def _run(self, operation: str, *, once: bool = False, **values: Any) -> Any:
        chosen = _ACCEPTING if operation == "put" else _WORKING
        return await self._server.run(
            chosen, self._key, *self._values(operation, values), once=once
        )

    def _values(self, operation: str, values: dict[str, Any]) -> Sequence[str]:
        now = "" if self._clock is None else repr(self._clock())
        return operation, now, json.dumps(values, ensure_ascii=True)

    async def _insert(self, event: Incoming) -> bool:
        for _ in range(_ROUNDS):
            answer, *home = await self._run("put", **_row(event, self._retention))
            if answer != "home":
                return bool(answer == "stored")
            event = replace(event, place=moved(event.place, home[0]))
        raise _contended(self._server)

    async def _pending(self, event: Incoming) -> tuple[str, _Stored] | None:
        """The question of the event's message, if it can be changed, and the key that it has."""
        for _ in range(_ROUNDS):
            key = replace(event, kind=Kind.QUESTION).key
            place = event.place
            answer, *found = await self._run(
                "pending", key=key, platform=place.platform, place=place.id
            )
            if answer == "none":
                return None
            if answer == "pending":
                return key, _Stored(*found[0])
            event = replace(event, place=moved(place, found[0]))
        raise _contended(self._server)

    async def _edit(self, edit: Incoming) -> bool | None:
        found = await self._pending(edit)
        if found is None:
            return False
        key, stored = found
        answer = await self._run(
            "edit",
            key=key,
            id=stored.id,
            revision=stored.revision,
            at=edit.at.timestamp(),
            body=event_to_json(edited(stored.event, edit)),
        )
        return None if answer == "changed" else bool(answer == "edited")

    async def _drop(self, event: Incoming) -> bool:
        found = await self._pending(event)
        return found is not None and bool(await self._run("drop", key=found[0], id=found[1].id))

    async def _stop(self, stop: Incoming) -> bool:
        """Ends the first question that is meant, unless its answer is on the way already."""
        place = stop.place
        home = await self._run("home", platform=place.platform, place=place.id)
        stop = replace(stop, place=moved(place, home)) if home else stop
        asked = replace(stop, kind=Kind.QUESTION)
        for which in (replace(asked, private=False), replace(asked, private=True)):
            for stored in _events(await self._run("lane", lane=lane(which))):
                if not stored.begun and stops(stop, stored.event):
                    return bool(await self._run("stop", id=stored.id))
        return False

    async def _join(self, taken: Taken, rule: Joining) -> Taken | None:
        found = await self._run("own", token=str(taken.token))
        if not found:
            return taken
        own, rows = found
        events = list(_events(rows))
        first = next(stored.event for stored in events if stored.id == own)
        pieces = [
            stored
            for stored in events
            if int(stored.id) > int(own) and continues(first, stored.event, rule)
        ][: rule.pieces - 1]
        if not pieces:
            return taken
        whole = joined(first, [piece.event for piece in pieces])
        answer = await self._run(
            "join",
            token=str(taken.token),
            pieces=[[piece.id, piece.revision] for piece in pieces],
            body=event_to_json(whole),
        )
        if answer == "changed":
            return None
        return replace(taken, event=whole) if answer == "joined" else taken

    async def _decided(self, decide: Callable[[], Awaitable[T | None]]) -> T:
        """What `decide` came to, once nobody changed meanwhile what it looked at."""
        for _ in range(_ROUNDS):
            decision = await decide()
            if decision is not None:
                return decision
        raise _contended(self._server)


@dataclass(frozen=True, slots=True)
class _Stored:
    """An open event as the server has it. `place` and `sign` are newer than its body."""

    id: str
    body: str
    place: str
    sign: str
    revision: str
    begun: int = 0  # parts of its answer

    @property
    def event(self) -> Incoming:
        event = event_from_json(self.body)
        sign = self.sign or event.sign
        if event.kind is Kind.MOVED:
            return replace(event, sign=sign)
        return replace(event, place=moved(event.place, self.place), sign=sign)


def _events(rows: Sequence[Sequence[Any]]) -> Iterator[_Stored]:
    return (_Stored(*row) for row in rows)


def _row(event: Incoming, retention: float) -> dict[str, Any]:
    where = f"{event.place.platform}:{event.place.id}"
    return {
        "key": event.key,
        "platform": event.place.platform,
        "place": event.place.id,
        "message": event.message_id,
        "kind": event.kind.value,
        "lane": lane(event),
        "rest": lane(event).removeprefix(where),  # what stays when the place has a new id
        "at": repr(event.at.timestamp()),
        "body": event_to_json(event),
        "retention": int(retention),
    }


def _contended(server: Server) -> StorageError:
    return StorageError(
        f"An event in Redis at {server.address} changes faster than it can be read.",
        "Nothing has to be done; it will be tried again.",
    )
