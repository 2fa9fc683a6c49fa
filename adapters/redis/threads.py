"""Followed threads in Redis: a mention that one replica heard counts for all."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta

from adapters.redis.script import Script
from adapters.redis.server import Server
from bot.chat import Place
from bot.threads import KEPT, LIFE, FollowedThreads

# By the time of the last mention. ARGV: conversation, now, expired until, kept, life.
_FOLLOW = Script(
    """#!lua
redis.call('ZADD', KEYS[1], ARGV[2], ARGV[1])
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', ARGV[3])
redis.call('ZREMRANGEBYRANK', KEYS[1], 0, -1 - ARGV[4])
return redis.call('EXPIRE', KEYS[1], ARGV[5])
"""
)


class RedisThreads(FollowedThreads):
    """One sorted set, which goes when nobody mentioned the bot for `life`."""

    def __init__(
        self,
        server: Server,
        *,
        kept: int = KEPT,
        life: timedelta = LIFE,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        self._server, self._key = server, server.key("threads")
        self._kept, self._life, self._now = kept, life, now

    async def follow(self, place: Place) -> None:
        now = self._now().timestamp()
        expired = now - self._life.total_seconds()
        life = int(self._life.total_seconds())
        values = (place.conversation, repr(now), repr(expired), str(self._kept), str(life))
        await self._server.run(_FOLLOW, self._key, *values)

    async def mute(self, place: Place) -> None:
        await self._server.command("ZREM", self._key, place.conversation)

    async def follows(self, place: Place) -> bool:
        since = await self._server.command("ZSCORE", self._key, place.conversation)
        if since is None:
            return False
        return self._now().timestamp() - float(since) < self._life.total_seconds()
