"""Leads in Redis: for replicas on several machines."""

from __future__ import annotations

import uuid

from adapters.redis.script import Script
from adapters.redis.server import Server
from bot.leadership import Leadership

# KEYS: the task, under which the last number lies, too. ARGV: who asks, milliseconds. Redis' own
# clock ends a lead and makes the numbers, so the clocks of the replicas do not matter. All of it
# also runs when the memory is full: the keys are tiny, and go by themselves.
_LEAD = Script(
    """#!lua flags=allow-oom
local KNOWN = 30 * 86400  -- seconds that the last number is kept; the clock is ahead of it then
local holder, number = string.match(redis.call('GET', KEYS[1]) or '', '^(%S+) (%d+)$')
if holder == ARGV[1] then
  redis.call('PEXPIRE', KEYS[1], ARGV[2])
  return number
end
if redis.call('EXISTS', KEYS[1]) == 1 then return '0' end
local clock = redis.call('TIME')
local last = tonumber(redis.call('GET', KEYS[1] .. ':last') or '0')
number = string.format('%.0f', math.max(last + 1, clock[1] * 1000000 + clock[2]))
redis.call('SET', KEYS[1] .. ':last', number, 'EX', KNOWN)
redis.call('SET', KEYS[1], ARGV[1] .. ' ' .. number, 'PX', ARGV[2])
return number
"""
)
_RENEW = Script(
    """#!lua flags=allow-oom
if redis.call('GET', KEYS[1]) ~= ARGV[1] .. ' ' .. ARGV[3] then return 0 end
return redis.call('PEXPIRE', KEYS[1], ARGV[2])
"""
)
_LEAVE = Script(
    """#!lua flags=allow-oom
local holder = string.match(redis.call('GET', KEYS[1]) or '', '^(%S+) ')
if holder == ARGV[1] then return redis.call('DEL', KEYS[1]) end
return 0
"""
)


class RedisLeadership(Leadership):
    """A key a task, which goes when nobody prolongs it, and one with the last number. Processes
    with one `holder` lead together; by default each has its own."""

    def __init__(self, server: Server, *, holder: str = "") -> None:
        self._server, self._holder = server, holder or uuid.uuid4().hex

    async def lead(self, task: str, seconds: float) -> int:
        values = (self._holder, _milliseconds(seconds))
        return int(await self._server.run(_LEAD, self._key(task), *values))

    async def renew(self, task: str, number: int, seconds: float) -> bool:
        values = (self._holder, _milliseconds(seconds), str(number))
        return bool(await self._server.run(_RENEW, self._key(task), *values))

    async def held(self, task: str) -> bool:
        return bool(await self._server.command("EXISTS", self._key(task)))

    async def leave(self, task: str) -> None:
        await self._server.run(_LEAVE, self._key(task), self._holder)

    def _key(self, task: str) -> str:
        return self._server.key("lead", task)


def _milliseconds(seconds: float) -> str:
    return str(max(int(seconds * 1000), 1))
