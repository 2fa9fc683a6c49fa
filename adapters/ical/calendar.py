"""An iCalendar text as shifts: recurrences, exceptions and time zones resolved.

Nothing in it is guessed: an event whose times or whose rule cannot be read is left out and counted.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import recurring_ical_events
from icalendar import Calendar, Event

from adapters.ical.people import fold, people
from bot.roster import Schedule, Shift

_MARGIN = timedelta(days=2)  # floating times are looked for in every time zone
_TOO_OFTEN = frozenset({"SECONDLY", "MINUTELY"})
_NEEDED = frozenset({"DTSTART", "DTEND", "DURATION", "RRULE", "RDATE", "EXDATE", "RECURRENCE-ID"})
_NAME_PREFIXES = ("on call schedule for ", "on-call schedule for ", "schedule for ")


class NoCalendar(Exception):
    """The text is no iCalendar that can be worked with. The message is for an operator."""


@dataclass(frozen=True, slots=True)
class ShiftCalendar:
    """Answers what is in force between two moments. `unread` events were left out."""

    events: Calendar
    zone: ZoneInfo
    titles: frozenset[str]
    known: frozenset[str]
    unread: int = 0

    def shifts(self, first: datetime, last: datetime) -> tuple[Shift, ...]:
        """Every shift that touches the span, in UTC, with both bounds. Raises NoCalendar."""
        try:
            query = recurring_ical_events.of(self.events)
            found = query.between(first - _MARGIN, last + _MARGIN)
            return tuple(shift for event in found for shift in self._of(event))
        except (ValueError, KeyError, TypeError, AttributeError, ArithmeticError) as error:
            raise NoCalendar(f"its events cannot be expanded ({type(error).__name__})") from error

    def _of(self, event: Event) -> Iterator[Shift]:
        if str(event.get("STATUS", "")).upper() == "CANCELLED":
            return
        start, end = self._moment(event.start), self._moment(event.end)
        for named in people(event, titles=self.titles, known=self.known):
            yield Shift(named.person, start, end, named.role, named.email)

    def _moment(self, value: date | datetime) -> datetime:
        """All-day and floating times are those of the schedule's zone."""
        if not isinstance(value, datetime):
            value = datetime.combine(value, time(), self.zone)
        elif value.tzinfo is None:
            value = value.replace(tzinfo=self.zone)
        return value.astimezone(UTC)


def parse(
    text: str, schedule: Schedule, known: Collection[str] = (), *, most: int = 20_000
) -> ShiftCalendar:
    """The calendar in `text`, of at most `most` events. `known` are names and addresses of
    people. Raises NoCalendar."""
    try:
        calendar = Calendar.from_ical(text)
    except (ValueError, KeyError, TypeError, AttributeError, IndexError) as error:
        raise NoCalendar("what it sends is no calendar") from error
    if not isinstance(calendar, Calendar):
        raise NoCalendar("what it sends is no calendar")
    events = calendar.walk("VEVENT")
    if len(events) > most:
        raise NoCalendar(f"it has more than {most} events")
    readable = [event for event in events if _readable(event)]
    dropped = len(events) - len(readable)
    kept = frozenset(map(id, readable))
    calendar.subcomponents = [
        part for part in calendar.subcomponents if part.name != "VEVENT" or id(part) in kept
    ]
    titles = frozenset(map(fold, (schedule.name, *schedule.aliases, *_own_names(calendar))))
    return ShiftCalendar(
        calendar, _zone(calendar, schedule), titles, frozenset(map(fold, known)), dropped
    )


def _readable(event: Any) -> bool:
    """Whether the event's times and rules are all understood."""
    if "DTSTART" not in event or any(name in _NEEDED for name, _ in event.errors):
        return False
    if any(_is_lost(event.get(name)) for name in ("DTSTART", "DTEND", "RECURRENCE-ID")):
        return False
    rules = event.get("RRULE") or []
    for rule in rules if isinstance(rules, list) else [rules]:
        if any(str(freq).upper() in _TOO_OFTEN for freq in rule.get("FREQ", [])):
            return False
    try:
        return bool(event.start <= event.end)
    except (ValueError, TypeError):  # such as an end before the start
        return False


def _is_lost(value: Any) -> bool:
    """A time in a zone that nobody knows, neither the calendar nor the time zone database."""
    moment = getattr(value, "dt", None)
    named = "TZID" in getattr(value, "params", {})
    return named and isinstance(moment, datetime) and moment.tzinfo is None


def _own_names(calendar: Calendar) -> Iterator[str]:
    name = fold(str(calendar.get("X-WR-CALNAME", "")))
    if name:
        yield name
    for prefix in _NAME_PREFIXES:
        if name.startswith(prefix):
            yield name.removeprefix(prefix)


def _zone(calendar: Calendar, schedule: Schedule) -> ZoneInfo:
    """That of the calendar when it names one, else the schedule's."""
    try:
        return ZoneInfo(str(calendar.get("X-WR-TIMEZONE") or schedule.zone))
    except (ValueError, OSError, KeyError):  # no zone of that name
        return ZoneInfo(schedule.zone)
