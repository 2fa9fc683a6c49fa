"""Leads in memory: for tests, and for a bot without a data folder."""

from __future__ import annotations

import time
from collections.abc import Callable
from itertools import count

from bot.leadership import Leadership

_NUMBERS = count(1)


class MemoryLeadership(Leadership):
    """Those that are made with the same `leads` compete; otherwise it always leads."""

    def __init__(
        self,
        leads: dict[str, tuple[object, float]] | None = None,
        *,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        self._leads = {} if leads is None else leads
        self._now = now
        self._numbers: dict[str, int] = {}

    async def lead(self, task: str, seconds: float) -> int:
        now = self._now()
        holder, until = self._leads.get(task, (None, 0.0))
        if until > now and holder is not self:
            return 0
        if until <= now:
            self._numbers[task] = next(_NUMBERS)
        self._leads[task] = (self, now + seconds)
        return self._numbers[task]

    async def renew(self, task: str, number: int, seconds: float) -> bool:
        holder, until = self._leads.get(task, (None, 0.0))
        if holder is not self or until <= self._now() or self._numbers[task] != number:
            return False
        self._leads[task] = (self, self._now() + seconds)
        return True

    async def held(self, task: str) -> bool:
        return self._leads.get(task, (None, 0.0))[1] > self._now()

    async def leave(self, task: str) -> None:
        if self._leads.get(task, (None, 0.0))[0] is self:
            del self._leads[task]
