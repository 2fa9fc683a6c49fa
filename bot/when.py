"""Moments and spans of time as people write them, in English and Russian.

Words such as "tomorrow" count from a given now in a given time zone. A time of day without a day
is the next one to come, and so is a weekday; in a question about the past it is the last one. A
day without a time is the whole day.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta, timezone, tzinfo
from zoneinfo import ZoneInfo

from bot import when_words as words

DAY = timedelta(days=1)
_WEEK = 7  # days
_SATURDAY = 5
_LEAP = 9  # years, among which there always is a 29 February
_YEARS = range(1970, 2200)


@dataclass(frozen=True, slots=True)
class When:
    """A moment, or the span from it up to (not including) `end`; in UTC."""

    start: datetime
    end: datetime | None = None


@dataclass(frozen=True, slots=True)
class Found:
    """What a text says of time, and the text without it. `when` is None when it says nothing, or
    nothing possible: then `impossible` repeats its words, such as "25:00"."""

    when: When | None
    rest: str
    impossible: str = ""


def parse(text: str, now: datetime, zone: tzinfo) -> Found:
    """The time that `text` names. `now` is aware."""
    flat = text.replace("ё", "е").replace("Ё", "Е")
    reader = _Reader(now.astimezone(zone), zone, past=bool(words.PAST.search(flat)))
    matches = _matches(flat)
    if not matches:
        return Found(None, text)
    rest = _without(text, [(match.start(), match.end()) for match in matches.values()])
    try:
        return Found(reader.when(matches), rest)
    except (ValueError, OverflowError, KeyError, OSError):  # no such hour, day or time zone
        found = " ".join(match.group().strip() for match in matches.values())
        return Found(None, rest, " ".join(found.split()))


def _matches(text: str) -> dict[str, re.Match[str]]:
    """The parts of a time by their kind; each kind once, none inside another."""
    found: dict[str, re.Match[str]] = {}
    for kind, pattern in words.PATTERNS.items():
        match = pattern.search(text)
        if match is None:
            continue
        found[kind] = match
        text = text[: match.start()] + " " * len(match.group()) + text[match.end() :]
        if kind in words.WHOLE:
            break
    return found


def _without(text: str, spans: list[tuple[int, int]]) -> str:
    for start, end in sorted(spans, reverse=True):
        before = words.BEFORE.sub("", text[:start])
        text = f"{before} {text[end:]}"
    return " ".join(text.split())


@dataclass(frozen=True, slots=True)
class _Reader:
    """`now` is in `zone`."""

    now: datetime
    zone: tzinfo
    past: bool

    def when(self, found: dict[str, re.Match[str]]) -> When:
        if "distance" in found:
            return When(self._distance(found["distance"]))
        if "week" in found:
            return self._week(found["week"])
        if "clock" in found:
            return When(self._moment(found["clock"], found.get("date")))
        if "part" in found:
            return self._part(found["part"], found.get("date"))
        if "date" in found:
            return self._whole_day(self._date(found["date"]))
        return When(self.now.astimezone(UTC))

    def _distance(self, match: re.Match[str]) -> datetime:
        count = words.count(match["count"] or match["ago_count"])
        unit = words.unit(match["unit"] or match["ago_unit"])
        sign = -1 if match["ago_unit"] else 1
        if unit in ("days", "weeks"):  # the same time of day, whatever the clocks do
            wall = self.now + timedelta(**{unit: sign * count})
            return wall.astimezone(UTC)
        return self.now.astimezone(UTC) + timedelta(**{unit: sign * count})

    def _week(self, match: re.Match[str]) -> When:
        today = self.now.date()
        monday = today - timedelta(days=today.weekday())
        if match["weekend"]:
            saturday = monday + timedelta(days=_SATURDAY)
            return self._span(saturday, 0, saturday + 2 * DAY, 0)
        if match["next"]:
            return self._span(monday + _WEEK * DAY, 0, monday + 2 * _WEEK * DAY, 0)
        return self._span(monday, 0, monday + _WEEK * DAY, 0)

    def _moment(self, match: re.Match[str], day: re.Match[str] | None) -> datetime:
        hour, minute = words.clock(match)
        zone = _zone(match["zone"]) if match["zone"] else self.zone
        reader = _Reader(self.now.astimezone(zone), zone, self.past)
        if day is not None:
            found = reader._at(reader._date(day), hour, minute)
            again = day["weekday"] and not self.past and found < self.now
            return reader._at(reader._date(day) + _WEEK * DAY, hour, minute) if again else found
        today = reader._at(reader.now.date(), hour, minute)
        if self.past:
            return (
                today
                if today <= self.now
                else reader._at(today.astimezone(zone).date() - DAY, hour, minute)
            )
        return today if today >= self.now else reader._at(reader.now.date() + DAY, hour, minute)

    def _part(self, match: re.Match[str], day: re.Match[str] | None) -> When:
        first, last = words.part(match.group())
        if day is not None and day["relative"] and not words.relative(day["relative"]):
            day = None  # "today" says no more than the part of the day does
        start = self._date(day) if day else self.now.date()
        if day is None and self._at(start, last, 0) <= self.now.astimezone(UTC):
            start += -DAY if self.past else DAY
        if day is None and last > words.DAY_HOURS and self.now.hour < last - words.DAY_HOURS:
            start -= DAY  # the night that is still going on
        return self._span(start, first, start, last)

    def _whole_day(self, day: date) -> When:
        """A whole day; of today, what can still be changed: this moment."""
        if day == self.now.date():
            return When(self.now.astimezone(UTC))
        return self._span(day, 0, day + DAY, 0)

    def _span(self, first: date, hour: int, last: date, end_hour: int) -> When:
        start, end = self._at(first, hour, 0), self._at(last, end_hour, 0)
        here = self.now.astimezone(UTC)
        return When(max(start, here) if not self.past and here < end else start, end)

    def _at(self, day: date, hour: int, minute: int) -> datetime:
        """That time on the clocks of the zone; an hour from 24 on is on the next morning. Of two
        the first; of an hour that clocks skip, the one that they show instead."""
        day, hour = day + DAY * (hour // words.DAY_HOURS), hour % words.DAY_HOURS
        return datetime.combine(day, time(hour, minute), self.zone).astimezone(UTC)

    def _date(self, match: re.Match[str]) -> date:
        if match["relative"]:
            return self.now.date() + DAY * words.relative(match["relative"])
        if match["weekday"]:
            return self._weekday(words.weekday(match["weekday"]), match)
        year, month, day = words.calendar_date(match)
        if year is None:
            return self._without_year(month, day)
        if year not in _YEARS:
            raise ValueError(year)
        return date(year, month, day)

    def _weekday(self, number: int, match: re.Match[str]) -> date:
        today = self.now.date()
        if match["last"] or self.past:
            back = (today.weekday() - number) % _WEEK
            return today - DAY * (back or (_WEEK if match["last"] else 0))
        ahead = (number - today.weekday()) % _WEEK
        return today + DAY * (ahead or (_WEEK if match["next"] else 0))

    def _without_year(self, month: int, day: int) -> date:
        """The next such day, today included; in a question about the past the last one."""
        today = self.now.date()
        years = (
            range(today.year, today.year + 5)
            if not self.past
            else range(today.year, today.year - 5, -1)
        )
        for year in years:  # five years have a 29 February, but around 2100
            try:
                found = date(year, month, day)
            except ValueError:
                continue
            if found <= today if self.past else found >= today:
                return found
        raise ValueError(f"no day {day} in month {month}")


def _zone(name: str) -> tzinfo:
    """A zone that was written behind a time. Raises KeyError, ValueError."""
    if name.upper() in ("Z", "UTC", "GMT"):
        return UTC
    if name[0] in "+-":
        hours, minutes = int(name[1:3]), int(name[-2:])
        offset = timedelta(hours=hours, minutes=minutes)
        return timezone(-offset if name[0] == "-" else offset)
    return ZoneInfo(name)
