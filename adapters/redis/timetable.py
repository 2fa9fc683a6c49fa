"""A timetable in Redis: for replicas on several machines that share an index."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta

from adapters.redis.script import Script
from adapters.redis.server import Server
from adapters.timetable_json import entry_json, entry_of, leader_json, leader_of
from bot.timetable import Entry, Leader, Timetable

KEPT = timedelta(days=90)
"""After the last run of any source; what is forgotten is run once more."""

# ARGV: field, value, seconds. It also runs when the memory is full: a field replaces another.
_SET = Script(
    """#!lua flags=allow-oom
redis.call('HSET', KEYS[1], ARGV[1], ARGV[2])
return redis.call('EXPIRE', KEYS[1], ARGV[3])
"""
)
_LEADER = "leader"


class RedisTimetable(Timetable):
    """One hash for the entries, and one for the signature: a source may have any name."""

    def __init__(self, server: Server, *, kept: timedelta = KEPT) -> None:
        self._server, self._kept = server, str(int(kept.total_seconds()))
        self._entries, self._signed = server.key("timetable"), server.key("timetable", _LEADER)

    async def entries(self) -> Mapping[str, Entry]:
        found = await self._server.command("HVALS", self._entries)
        return {entry.source: entry for entry in map(entry_of, found)}

    async def save(self, entry: Entry) -> None:
        await self._server.run(_SET, self._entries, entry.source, entry_json(entry), self._kept)

    async def leader(self) -> Leader | None:
        found = await self._server.command("HGET", self._signed, _LEADER)
        return leader_of(found) if found is not None else None

    async def sign(self, leader: Leader) -> None:
        await self._server.run(_SET, self._signed, _LEADER, leader_json(leader), self._kept)
