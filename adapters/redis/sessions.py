"""The session log in Redis: what one replica heard, the others know."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from datetime import timedelta

from adapters.redis.script import script
from adapters.redis.server import Server
from adapters.turn_json import turn_json, turn_of
from bot.sessions import PAUSE, STORED, Selection, SessionLog, SessionTurn, is_threaded, matches

LIFE = timedelta(days=365)
KEPT = 10_000
_DROPPED_AT_ONCE = 1000  # turns in one script: it must not hold up the server

_SCRIPT = script("sessions.lua")
_FORGETTING = script("sessions.lua", when_full=True)  # forgetting makes room


class RedisSessions(SessionLog):
    """Keeps `kept` turns of a conversation, `stored` of each of its sessions, until nothing was
    said in the conversation for `life`."""

    def __init__(
        self,
        server: Server,
        *,
        stored: int = STORED,
        pause: timedelta = PAUSE,
        life: timedelta = LIFE,
        kept: int = KEPT,
    ) -> None:
        self._server, self._key = server, server.key("turns")
        self._pause = pause.total_seconds()
        self._bounds = (str(stored), str(kept), str(int(life.total_seconds())))

    async def add(self, turns: Sequence[SessionTurn]) -> None:
        for turn in turns:
            await self._put(turn, "")

    async def recent(self, conversation: str, limit: int) -> Sequence[SessionTurn]:
        rows = await self._run("recent", conversation, str(limit)) if limit else []
        return [_Row(row).turn for row in reversed(rows)]

    async def all(self) -> Sequence[SessionTurn]:
        rows = [row for name in await self._conversations() for row in await self._rows(name)]
        return [row.turn for row in sorted(rows, key=_Row.place)]

    async def forget(self, selection: Selection) -> Sequence[SessionTurn]:
        gone: list[SessionTurn] = []
        for name in await self._conversations(selection.conversation, selection.place):
            turns = [row.turn for row in await self._rows(name)]
            gone += await self._drop(name, [one for one in turns if matches(one, selection)])
        return gone

    async def move(self, old: str, new: str) -> None:
        """A turn stands in both places before it leaves the old one: none is lost half way."""
        for name in await self._conversations(place=old):
            moved = [row.turn for row in sorted(await self._rows(name), key=_Row.place)]
            for turn in moved:
                await self._put(turn.moved(old, new), turn.session)
            await self._drop(name, moved)

    async def _put(self, turn: SessionTurn, session: str) -> None:
        pause = -1 if is_threaded(turn) else self._pause
        at = repr(turn.at.timestamp())
        values = (turn.id, turn.talk, at, turn_json(turn), session, str(pause), *self._bounds)
        await self._run("add", turn.conversation, *values)

    async def _conversations(self, conversation: str = "", place: str = "") -> list[str]:
        if conversation:
            return [conversation]
        key = self._server.key("turns", "conversations")
        names: list[str] = await self._server.command("ZRANGE", key, "0", "-1")
        return [name for name in names if name.startswith(place)]

    async def _rows(self, conversation: str) -> list[_Row]:
        key = self._server.key("turns", "row", conversation)
        found: list[str] = await self._server.command("HVALS", key)
        return [_Row(row) for row in found]

    async def _drop(self, conversation: str, turns: Sequence[SessionTurn]) -> list[SessionTurn]:
        gone: list[str] = []
        for ids in _batches([turn.id for turn in turns]):
            gone += await self._server.run(_FORGETTING, self._key, "drop", conversation, *ids)
        return [_Row(row).turn for row in gone]

    async def _run(self, operation: str, *values: str) -> list[str]:
        found: list[str] = await self._server.run(_SCRIPT, self._key, operation, *values)
        return found


class _Row:
    """A turn as it is stored."""

    def __init__(self, text: str) -> None:
        self._session, _, self._member, _, turn = json.loads(text)
        self.turn = turn_of(turn, self._session)

    def place(self) -> tuple[object, ...]:
        """Session by session, in the order they were said."""
        return self._session, self.turn.at, self._member


def _batches(ids: Sequence[str]) -> Iterator[Sequence[str]]:
    for start in range(0, len(ids), _DROPPED_AT_ONCE):
        yield ids[start : start + _DROPPED_AT_ONCE]
