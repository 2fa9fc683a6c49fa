"""How many questions one person and one place may ask.

Counted by the times at which the questions were asked, not at which they are worked on: a backlog
after a pause is no flood.
"""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol

from bot.chat import Incoming
from bot.pending import language_of
from graph.model import Language

_MINUTE = 60.0
_SLOW_DOWN: dict[Language, str] = {
    "en": "That is more questions than I can take at once. Please wait a minute and ask again.",
    "ru": "Вопросов больше, чем я могу принять сразу. Подождите минуту и спросите ещё раз.",
}


@dataclass(frozen=True, slots=True)
class Rate:
    """A token bucket: `burst` questions at once, refilled by `per_minute`."""

    per_minute: float
    burst: int


@dataclass(frozen=True, slots=True)
class Rates:
    person: Rate = Rate(per_minute=12, burst=8)
    place: Rate = Rate(per_minute=60, burst=30)
    tell_every: float = _MINUTE  # seconds between two requests to slow down
    remembered: int = 10_000  # people and places


class Verdict(StrEnum):
    ADMITTED = "admitted"
    TELL = "tell"  # too many, and this person was not told yet
    DROP = "drop"  # too many, and told


@dataclass(slots=True)
class _Bucket:
    tokens: float
    at: float


class Allowance(Protocol):
    """What everybody may still ask."""

    async def admit(self, event: Incoming) -> Verdict:
        """Counts the question against its person and its place; a refused one costs nothing."""


class Limiter(Allowance):
    """Counts in this process alone; a restart begins with full allowances."""

    def __init__(self, rates: Rates | None = None) -> None:
        self._rates = rates or Rates()
        self._buckets: OrderedDict[str, _Bucket] = OrderedDict()
        self._told: OrderedDict[str, float] = OrderedDict()

    async def admit(self, event: Incoming) -> Verdict:
        at = event.at.timestamp()
        place = f"{event.place.platform}:{event.place.id}"
        person = self._bucket(f"person {event.person.key}", self._rates.person, at)
        room = self._bucket(f"place {place}", self._rates.place, at)
        if min(person.tokens, room.tokens) >= 1:
            person.tokens -= 1
            room.tokens -= 1
            return Verdict.ADMITTED
        told_key = f"{event.person.key} {place}"
        told = self._told.pop(told_key, None)
        fresh = told is None or at - told >= self._rates.tell_every
        self._told[told_key] = at if told is None or fresh else told
        self._forget(self._told)
        return Verdict.TELL if fresh else Verdict.DROP

    def _bucket(self, key: str, rate: Rate, at: float) -> _Bucket:
        bucket = self._buckets.pop(key, None) or _Bucket(float(rate.burst), at)
        earned = max(0.0, at - bucket.at) * rate.per_minute / _MINUTE
        bucket.tokens = min(float(rate.burst), bucket.tokens + earned)
        bucket.at = max(bucket.at, at)
        self._buckets[key] = bucket
        self._forget(self._buckets)
        return bucket

    def _forget(self, table: OrderedDict[str, _Bucket] | OrderedDict[str, float]) -> None:
        while len(table) > 2 * self._rates.remembered:
            table.popitem(last=False)


def slow_down(event: Incoming) -> str:
    """The polite sentence for a question that was not taken."""
    return _SLOW_DOWN[language_of(event)]
