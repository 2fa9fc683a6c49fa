"""A cache that replicas share: a key each, which Redis drops by itself."""

from __future__ import annotations

from collections.abc import Collection

from adapters.redis.server import Server
from bot.cache import Cache


class RedisCache(Cache):
    """Nothing is tried twice: to make a value again is better than to wait for it."""

    def __init__(self, server: Server) -> None:
        self._server = server

    async def get(self, key: str) -> str | None:
        found: str | None = await self._server.command("GET", self._key(key), once=True)
        return found

    async def put(self, key: str, value: str, seconds: float) -> None:
        milliseconds = str(max(int(seconds * 1000), 1))
        await self._server.command("SET", self._key(key), value, "PX", milliseconds, once=True)

    async def drop(self, keys: Collection[str]) -> None:
        """Tried again as other commands are: what is to be forgotten has to go."""
        if keys:
            await self._server.command("DEL", *map(self._key, keys))

    def _key(self, key: str) -> str:
        return self._server.key("cache", key)
