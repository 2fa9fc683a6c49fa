"""`[schedules]` of belay.toml, and how durations are written: what holds for all scheduled syncs.

[schedules]
zone = "Europe/Berlin"
vault = "12h"
"""

from __future__ import annotations

import re
from datetime import timedelta
from typing import Annotated, Any
from zoneinfo import ZoneInfo

from pydantic import BeforeValidator, Field, field_validator

from bot.chat_settings import Section
from bot.standing import Pacing

_PACING = Pacing()
_UNITS = {"s": 1, "m": 60, "min": 60, "h": 3600, "d": 86_400, "w": 604_800}
_PART = re.compile(r"(\d+(?:\.\d+)?)\s*(min|[smhdw])", re.ASCII)
_LONGEST = timedelta(days=366)
_NOTHING, _INSTANT = timedelta(0), timedelta(milliseconds=50)


def duration(value: Any) -> timedelta:
    """`90s`, `5m`, `1h30m`, `2d`, or a number of seconds. Raises ValueError."""
    if isinstance(value, timedelta):
        return value
    text = str(value).strip().lower()
    parts = _PART.findall(text)
    wrong = ValueError(f"{value!r} is no duration; write it as in 90s, 5m, 2h or 1d")
    if isinstance(value, bool) or not text:
        raise wrong
    if text.replace(".", "", 1).isdecimal() and text.isascii():
        parts = [(text, "s")]
    elif _PART.sub("", text).strip():
        raise wrong
    seconds = sum(float(number) * _UNITS[unit] for number, unit in parts)
    if seconds > _LONGEST.total_seconds():
        raise ValueError(f"{value!r} is longer than a year")
    return timedelta(seconds=seconds)


Duration = Annotated[timedelta, BeforeValidator(duration)]


class ScheduleSettings(Section):
    """`zone` is where cron expressions are read. `retry` is doubled with each failure in a row,
    up to `retry_most`."""

    zone: str = "UTC"
    jitter: Duration = Field(default=timedelta(minutes=1), ge=_NOTHING)
    vault: Duration = Field(default=timedelta(hours=24), gt=_INSTANT)  # between two syncs of one
    retry: Duration = Field(default=_PACING.retry, gt=_INSTANT)
    retry_most: Duration = Field(default=_PACING.retry_most, gt=_INSTANT)
    longest: Duration = Field(default=_PACING.longest, gt=_INSTANT)
    overdue: Duration = Field(default=_PACING.overdue, ge=_NOTHING)
    look: Duration = Field(default=_PACING.look, gt=_INSTANT)
    lease: Duration = Field(default=_PACING.lease, gt=_INSTANT)

    @field_validator("zone")
    @classmethod
    def known_zone(cls, value: str) -> str:
        try:
            return ZoneInfo(value).key
        except (ValueError, OSError, KeyError):
            raise ValueError(f"{value!r} is no time zone, such as Europe/Berlin or UTC") from None

    def pacing(self) -> Pacing:
        return Pacing(
            retry=self.retry,
            retry_most=max(self.retry, self.retry_most),
            longest=self.longest,
            overdue=self.overdue,
            look=self.look,
            lease=self.lease,
        )
