"""Followed threads in memory: for tests, and for a bot without a data folder."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from datetime import UTC, datetime, timedelta

from bot.chat import Place
from bot.threads import KEPT, LIFE, FollowedThreads


class MemoryThreads(FollowedThreads):
    def __init__(
        self,
        *,
        kept: int = KEPT,
        life: timedelta = LIFE,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        self._kept, self._life, self._now = kept, life, now
        self._followed: OrderedDict[str, datetime] = OrderedDict()

    async def follow(self, place: Place) -> None:
        self._followed[place.conversation] = self._now()
        self._followed.move_to_end(place.conversation)
        while len(self._followed) > self._kept:
            self._followed.popitem(last=False)

    async def mute(self, place: Place) -> None:
        self._followed.pop(place.conversation, None)

    async def follows(self, place: Place) -> bool:
        since = self._followed.get(place.conversation)
        return since is not None and self._now() - since < self._life
