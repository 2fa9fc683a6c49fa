"""Slack cannot be reached: how long to wait before the next try. One line in the log each time."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable

from adapters.slack.options import Options
from adapters.slack.reading import asked_for

_log = logging.getLogger(__name__)

_DOUBLINGS = 16  # enough for any longest wait


class Outage:
    def __init__(self, options: Options, sleep: Callable[[float], Awaitable[None]]) -> None:
        self._options, self._sleep = options, sleep
        self._failures = 0

    async def rest(self, error: Exception) -> None:
        """Before the next try, longer each time, and as long as Slack asks for."""
        self._failures += 1
        if self._failures == 1:
            _log.warning("events wait at Slack: %s", str(error) or type(error).__name__)
        doublings = min(self._failures - 1, _DOUBLINGS)
        seconds = min(self._options.longest_backoff, self._options.backoff * 2**doublings)
        await self._sleep(max(seconds, asked_for(error)))

    def over(self) -> None:
        self._failures = 0
