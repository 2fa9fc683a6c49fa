"""Leads in Redis: for replicas on several machines."""

from __future__ import annotations

import uuid

from adapters.redis.server import Script, Server
from bot.leadership import Leadership

# KEYS: the task. ARGV: who asks, milliseconds. Redis' own clock ends a lead, so the clocks of the
# replicas do not matter. It also runs when the memory is full: the key is tiny, and gone soon.
_LEAD = Script(
    """#!lua flags=allow-oom
local holder = redis.call('GET', KEYS[1])
if holder and holder ~= ARGV[1] then return 0 end
redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
return 1
"""
)
_LEAVE = Script(
    """#!lua flags=allow-oom
if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) end
return 0
"""
)


class RedisLeadership(Leadership):
    """One key a task, which goes when nobody prolongs it."""

    def __init__(self, server: Server) -> None:
        self._server, self._holder = server, uuid.uuid4().hex

    async def lead(self, task: str, seconds: float) -> bool:
        milliseconds = str(max(int(seconds * 1000), 1))
        return bool(await self._server.run(_LEAD, self._key(task), self._holder, milliseconds))

    async def leave(self, task: str) -> None:
        await self._server.run(_LEAVE, self._key(task), self._holder)

    def _key(self, task: str) -> str:
        return self._server.key("lead", task)
