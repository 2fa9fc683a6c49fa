"""Votes in Redis: everybody's last one on each question, whichever replica heard it."""

from __future__ import annotations

import json
from datetime import datetime

from adapters.redis.script import Script
from adapters.redis.server import Server
from bot.feedback import KEPT, Feedback, FeedbackLog, Vote

_LIFE = 365 * 86_400  # seconds since the last vote of all

# Under the prefix: `votes` by question and person, `order` of the votes by their number, and
# `of:<question>` with its people. ARGV: operation, then what it needs.
_SCRIPT = Script(
    """#!lua
local votes, order = KEYS[1] .. ':votes', KEYS[1] .. ':order'
local function of(question) return KEYS[1] .. ':of:' .. question end

local function read(names)
  local found = {}
  for i, name in ipairs(names) do found[i] = redis.call('HGET', votes, name) end
  return found
end

local function drop(names)
  for _, name in ipairs(names) do
    local gone = cjson.decode(redis.call('HGET', votes, name))
    redis.call('SREM', of(gone[1]), name)
    redis.call('HDEL', votes, name)
    redis.call('ZREM', order, name)
  end
end

if ARGV[1] == 'forget' then
  local theirs = {}
  for _, name in ipairs(redis.call('ZRANGE', order, 0, -1)) do
    if cjson.decode(name)[2] == ARGV[2] then table.insert(theirs, name) end
  end
  drop(theirs)
  return {tostring(#theirs)}
end
if ARGV[1] == 'recent' then return read(redis.call('ZREVRANGE', order, 0, ARGV[2] - 1)) end
if ARGV[1] == 'of' then return read(redis.call('SMEMBERS', of(ARGV[2]))) end

local question, name, row, kept, life = unpack(ARGV, 2)
local last = redis.call('ZREVRANGE', order, 0, 0, 'WITHSCORES')[2]
redis.call('HSET', votes, name, row)
redis.call('ZADD', order, (last or 0) + 1, name)
redis.call('SADD', of(question), name)
drop(redis.call('ZRANGE', order, 0, -1 - kept))
for _, key in ipairs({votes, order, of(question)}) do redis.call('EXPIRE', key, life) end
return {}
"""
)


class RedisFeedback(FeedbackLog):
    """Keeps `kept` votes, until nobody voted for a year."""

    def __init__(self, server: Server, *, kept: int = KEPT) -> None:
        self._server, self._key, self._kept = server, server.key("feedback"), kept

    async def save(self, feedback: Feedback) -> None:
        name = json.dumps([feedback.question_id, feedback.person])
        row = json.dumps(
            [feedback.question_id, feedback.person, feedback.vote, feedback.at.isoformat()]
        )
        values = (feedback.question_id, name, row, str(self._kept), str(_LIFE))
        await self._server.run(_SCRIPT, self._key, "save", *values)

    async def of(self, question_id: str) -> list[Feedback]:
        votes = _votes(await self._server.run(_SCRIPT, self._key, "of", question_id))
        return sorted(votes, key=lambda vote: vote.person)

    async def recent(self, limit: int) -> list[Feedback]:
        return _votes(await self._server.run(_SCRIPT, self._key, "recent", str(limit)))

    async def forget(self, person: str) -> int:
        (count,) = await self._server.run(_SCRIPT, self._key, "forget", person)
        return int(count)


def _votes(rows: list[str]) -> list[Feedback]:
    return [
        Feedback(question_id, person, Vote(vote), datetime.fromisoformat(at))
        for question_id, person, vote, at in map(json.loads, rows)
    ]
