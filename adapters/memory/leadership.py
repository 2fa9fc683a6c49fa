"""Leads in memory: for tests, and for a bot without a data folder."""

from __future__ import annotations

import time
from collections.abc import Callable

from bot.leadership import Leadership


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

    async def lead(self, task: str, seconds: float) -> bool:
        holder, until = self._leads.get(task, (self, 0.0))
        if holder is not self and until > self._now():
            return False
        self._leads[task] = (self, self._now() + seconds)
        return True

    async def leave(self, task: str) -> None:
        if self._leads.get(task, (None, 0.0))[0] is self:
            del self._leads[task]
