"""Groups that a platform keeps itself: who is in them gets what the settings say for the group.

A user group of Slack, or the administrators of a Telegram chat.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Collection, Mapping

from bot.chat import Person
from bot.errors import BotError
from bot.ports import Grouping, Platform

_log = logging.getLogger(__name__)


class PlatformGroups:
    """`keys` are groups as the settings write them, "slack:S012AB3CD", "telegram:-1001:admins";
    `platforms` by their names.

    Members are asked for at most every `seconds`. While a platform cannot tell them, nobody is in
    its groups.
    """

    def __init__(
        self,
        keys: Collection[str],
        platforms: Mapping[str, Platform],
        seconds: float,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._keys, self._platforms = frozenset(keys), platforms
        self._seconds, self._clock = seconds, clock
        self._known: dict[str, tuple[float, frozenset[str]]] = {}

    async def __call__(self, person: Person) -> frozenset[str]:
        """The keys of the groups that the person is in."""
        own = sorted(key for key in self._keys if key.startswith(f"{person.platform}:"))
        return frozenset([key for key in own if person.id in await self._members(key)])

    async def _members(self, key: str) -> frozenset[str]:
        until, known = self._known.get(key, (0.0, frozenset[str]()))
        if key in self._known and self._clock() < until:
            return known
        members = await self._asked(key)
        self._known[key] = (self._clock() + self._seconds, members)
        return members

    async def _asked(self, key: str) -> frozenset[str]:
        name, _, group = key.partition(":")
        platform: object = self._platforms.get(name)
        if not isinstance(platform, Grouping):
            return frozenset()
        try:
            return await platform.members(group)
        except BotError as error:
            _log.warning("nobody tells who is in %s: %s. %s", key, error, error.remedy)
            return frozenset()
