"""Allowances in Redis: people and places have one each, however many replicas there are."""

from __future__ import annotations

import logging

from adapters.redis.script import script
from adapters.redis.server import Server
from bot.chat import Incoming
from bot.errors import StorageError
from bot.limits import Allowance, Limiter, Rate, Rates, Verdict

_log = logging.getLogger(__name__)
_SCRIPT = script("limits.lua", when_full=True)


class RedisLimiter(Allowance):
    """The same buckets as Limiter's. While Redis cannot be asked, this process counts alone."""

    def __init__(self, server: Server, rates: Rates | None = None) -> None:
        self._server, self._key = server, server.key("rates")
        self._rates = rates or Rates()
        self._alone = Limiter(self._rates)

    async def admit(self, event: Incoming) -> Verdict:
        place = f"{event.place.platform}:{event.place.id}"
        rates = (*_bucket(self._rates.person), *_bucket(self._rates.place))
        values = (event.person.key, place, repr(event.at.timestamp()), *rates)
        try:
            verdict = await self._server.run(
                _SCRIPT, self._key, *values, str(self._rates.tell_every), once=True
            )
        except StorageError as error:
            _log.warning("questions are counted in this process alone: %s", error)
            return await self._alone.admit(event)
        return Verdict(verdict)


def _bucket(rate: Rate) -> tuple[str, str]:
    return str(rate.burst), str(rate.per_minute / 60.0)
