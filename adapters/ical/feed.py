"""The calendar of one schedule, kept fresh: read again when it is old, answered from a copy when
its server is down."""

from __future__ import annotations

import asyncio
import logging
from collections import OrderedDict
from collections.abc import Callable, Collection
from datetime import datetime, timedelta

from adapters.ical.calendar import NoCalendar, ShiftCalendar, parse
from adapters.ical.copies import Copies
from adapters.ical.options import Options
from adapters.ical.reading import Origin, Text, Unreadable
from bot.errors import RosterDown
from bot.roster import Freshness, Schedule, Shift, Standing, horizon, standing

_log = logging.getLogger(__name__)


class CalendarFeed:
    """`known` are names and addresses of people. Safe to ask from many tasks of one loop."""

    def __init__(
        self,
        schedule: Schedule,
        origin: Origin,
        copies: Copies,
        *,
        known: Collection[str],
        options: Options,
        now: Callable[[], datetime],
    ) -> None:
        self.schedule = schedule
        self._origin, self._copies, self._known = origin, copies, known
        self._options, self._now = options, now
        self._calendar: ShiftCalendar | None = None
        self._text: Text | None = None
        self._trouble = ""
        self._tried: datetime | None = None
        self._reading = asyncio.Lock()
        self._spans: OrderedDict[datetime, tuple[Shift, ...]] = OrderedDict()

    @property
    def unread(self) -> int:
        """Events of the calendar that could not be understood."""
        return self._calendar.unread if self._calendar else 0

    async def refresh(self, *, force: bool = False) -> None:
        """Reads the calendar when it is due; with `force` in any case."""
        async with self._reading:
            if force or self._is_due():
                await self._read()

    async def standing(self, at: datetime) -> Standing:
        """Raises RosterDown."""
        await self.refresh()
        calendar, text = self._calendar, self._text
        if calendar is None or text is None:
            raise RosterDown(
                f"the calendar of {self.schedule.name} cannot be read: {self._trouble}",
                "`belay doctor` tries it again",
            )
        try:
            shifts = await self._shifts(calendar, at)
        except NoCalendar as error:
            raise RosterDown(f"the calendar of {self.schedule.name}: {error}") from error
        return standing(self.schedule, shifts, at, Freshness(text.read_at, self._trouble))

    async def _shifts(self, calendar: ShiftCalendar, at: datetime) -> tuple[Shift, ...]:
        first, last = horizon(at)
        if first not in self._spans:
            found = await asyncio.to_thread(calendar.shifts, first, last)
            if calendar is not self._calendar:  # another one was read meanwhile
                return found
            self._spans[first] = found
            while len(self._spans) > self._options.spans:
                self._spans.popitem(last=False)
        return self._spans[first]

    def _is_due(self) -> bool:
        if self._tried is None:
            return True
        wait = self._options.retry if self._trouble else self._options.refresh
        return self._now() - self._tried >= timedelta(seconds=wait)

    async def _read(self) -> None:
        self._tried = self._now()
        try:
            text = await self._origin.read(self._options, self._tried)
            await self._take(text)
        except (Unreadable, NoCalendar) as error:
            self._trouble = str(error)
            _log.warning("on-call calendar of %s: %s", self.schedule.name, error)
            if self._calendar is None:
                await self._take_copy()
            return
        self._trouble = ""
        await asyncio.to_thread(self._copies.save, self.schedule.name, self._origin.identity, text)

    async def _take_copy(self) -> None:
        name, identity = self.schedule.name, self._origin.identity
        text = await asyncio.to_thread(self._copies.load, name, identity)
        if text is None:
            return
        try:
            await self._take(text)
        except NoCalendar as error:
            _log.warning("the copy of the calendar of %s: %s", name, error)

    async def _take(self, text: Text) -> None:
        """From now on `text` is answered from. Raises NoCalendar when that is impossible."""
        if self._text is None or self._calendar is None or text.calendar != self._text.calendar:
            self._calendar = await asyncio.to_thread(self._parsed, text)
            self._spans.clear()
        self._text = text

    def _parsed(self, text: Text) -> ShiftCalendar:
        most = self._options.most_events
        calendar = parse(text.calendar, self.schedule, self._known, most=most)
        calendar.shifts(*horizon(self._now()))  # one that cannot be expanded replaces none that can
        return calendar
