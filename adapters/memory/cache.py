"""A cache in memory: for tests, and for one process."""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable, Collection

from bot.cache import Cache


class MemoryCache(Cache):
    """Holds `size` texts; those used longest ago go first."""

    def __init__(self, size: int = 1000, *, now: Callable[[], float] = time.monotonic) -> None:
        self._size, self._now = size, now
        self._kept: OrderedDict[str, tuple[str, float]] = OrderedDict()

    async def get(self, key: str) -> str | None:
        value, until = self._kept.get(key, ("", 0.0))
        if until <= self._now():
            self._kept.pop(key, None)
            return None
        self._kept.move_to_end(key)
        return value

    async def put(self, key: str, value: str, seconds: float) -> None:
        self._kept[key] = value, self._now() + seconds
        self._kept.move_to_end(key)
        while len(self._kept) > self._size:
            self._kept.popitem(last=False)

    async def drop(self, keys: Collection[str]) -> None:
        for key in keys:
            self._kept.pop(key, None)
