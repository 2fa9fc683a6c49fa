"""On-call schedules from iCalendar feeds, as every scheduling product exports them."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Collection, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from adapters.ical.copies import Copies
from adapters.ical.feed import CalendarFeed
from adapters.ical.options import Options
from adapters.ical.reading import File, Origin, Web
from bot.errors import RosterDown
from bot.ports import Finding
from bot.roster import Feed, Roster, Schedule, Standing

_REMEDY = "see that the feed is still shared, and its address in [[oncall.schedules]] of belay.toml"


class IcalRoster(Roster):
    """Calendars are fetched when an answer needs them and they are older than `refresh`; `run`
    fetches them before that, so that a copy is fresh on the day when their server goes down."""

    def __init__(
        self,
        feeds: Sequence[CalendarFeed],
        options: Options,
        *,
        now: Callable[[], datetime],
        sleep: Callable[[float], Awaitable[None]],
    ) -> None:
        self._feeds = {feed.schedule.name: feed for feed in feeds}
        self._options, self._now, self._sleep = options, now, sleep

    def schedules(self) -> Sequence[Schedule]:
        return [feed.schedule for feed in self._feeds.values()]

    async def on_call(self, schedule: str, at: datetime) -> Standing:
        return await self._feeds[schedule].standing(at)

    async def run(self) -> None:
        while True:
            await self._refresh()
            await self._sleep(min(self._options.refresh, self._options.retry))

    async def check(self) -> Sequence[Finding]:
        await self._refresh(force=True)
        return [await self._finding(feed) for feed in self._feeds.values()]

    async def _refresh(self, *, force: bool = False) -> None:
        async with asyncio.TaskGroup() as group:
            for feed in self._feeds.values():
                group.create_task(feed.refresh(force=force))

    async def _finding(self, feed: CalendarFeed) -> Finding:
        name = feed.schedule.name
        try:
            found = await feed.standing(self._now())
        except RosterDown as error:
            return Finding("oncall", "bad", f"{error}; and there is no copy of it", _REMEDY)
        fresh = found.freshness
        read = f"{fresh.read_at:%Y-%m-%d %H:%M} UTC"
        if fresh.trouble:
            message = f"{name}: {fresh.trouble}; answering from the copy of {read}"
            return Finding("oncall", "bad", message, _REMEDY)
        if feed.unread:
            message = f"{name}: left out, as times or rules cannot be read: {feed.unread} events"
            return Finding("oncall", "note", message, "look at them in the scheduling product")
        if not found.now and not found.next:
            message = f"{name}: nobody is on call now or before {found.reach:%Y-%m-%d}"
            return Finding("oncall", "note", message, "is it the right calendar?")
        people = ", ".join(shift.person or "somebody without a name" for shift in found.now)
        return Finding("oncall", "ok", f"{name}: {people or 'nobody'} on call now; read {read}")


def create(
    feeds: Sequence[Feed],
    folder: Path,
    *,
    known: Collection[str] = (),
    ca_file: str = "",
    options: Options | None = None,
    refresh: float | None = None,
    timeout: float | None = None,
    now: Callable[[], datetime] = lambda: datetime.now(UTC),
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
) -> Roster:
    """The roster of `feeds`; copies of their calendars lie in `folder`. Nothing is read yet.

    `known` are names and addresses of people, as calendars may write them. `refresh` and
    `timeout`, in seconds, are those of the settings.
    """
    options = options or Options()
    options = replace(
        options,
        refresh=options.refresh if refresh is None else refresh,
        timeout=options.timeout if timeout is None else timeout,
    )
    copies = Copies(folder)
    calendars = [
        CalendarFeed(
            feed.schedule, _origin(feed, ca_file), copies, known=known, options=options, now=now
        )
        for feed in feeds
    ]
    return IcalRoster(calendars, options, now=now, sleep=sleep)


def _origin(feed: Feed, ca_file: str) -> Origin:
    return File(feed.file) if feed.file is not None else Web(feed.url, ca_file)
