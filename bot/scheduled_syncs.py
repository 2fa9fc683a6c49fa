"""The syncs of scheduled sources beside a running process: one at a time, by one process.

    async with opened_schedules(settings) as schedules:
        sources = partial(seen_sources, settings, library.index)
        await ScheduledSyncs(schedules, sources, sync_one).run()

A source is due at the moments of its schedule. What passed meanwhile, because a run took long or
nothing ran, is made up for by one run. One that fails is tried again after growing pauses, and
what was indexed before goes on answering.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime

from bot.errors import BotError, StorageError, SyncBusy
from bot.ingest.report import SyncReport
from bot.leadership import led
from bot.library import Shelf
from bot.ports import SourceRecord
from bot.redaction import redact
from bot.schedules import Schedules, this_process
from bot.standing import Standing
from bot.sync_schedule import shown
from bot.timetable import Entry, Leader
from graph.errors import GraphError

TASK = "schedule"
_SIGNATURES = 3  # in the time that a lead lasts

_log = logging.getLogger(__name__)

Sources = Callable[[], Awaitable[Sequence[SourceRecord]]]
"""All that are indexed, with their true states. Raises StorageError."""

Sync = Callable[[Shelf], Awaitable[SyncReport]]
"""Brings one source up to date. Raises BotError, EmbedderError."""


class ScheduledSyncs:
    """`now` tells the time, `sleep` waits for some seconds of it. One `run` for each object."""

    def __init__(
        self,
        schedules: Schedules,
        sources: Sources,
        sync: Sync,
        *,
        name: str = "",
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self._schedules, self._sources, self._sync = schedules, sources, sync
        self._pacing, self._timetable = schedules.pacing, schedules.timetable
        self._shelves = {shelf.name: shelf for shelf in schedules.shelves}
        self._name = name or this_process()
        self._now, self._sleep = now, sleep
        self._trouble = ""  # that was told last

    async def run(self) -> None:
        """Until cancelled. Another process is at the syncs: waits until it is not any more."""
        if not self._shelves:
            return
        lease, look = self._pacing.lease.total_seconds(), self._pacing.look.total_seconds()
        while True:
            try:
                await led(self._schedules.leadership, TASK, self._lead, seconds=lease)
            except SyncBusy as busy:
                _log.debug("scheduled syncs: %s", busy)
            except (BotError, GraphError) as error:
                self._tell(f"scheduled syncs wait: {error}")
            except Exception:
                _log.exception("scheduled syncs were cut off, and begin again")
            await self._sleep(look)

    async def _lead(self) -> None:
        """Runs what is due, as long as this process leads."""
        _log.info("scheduled syncs are run by this process, %s", self._name)
        look = self._pacing.look.total_seconds()
        try:
            await self._sign()
            async with asyncio.TaskGroup() as group:
                group.create_task(self._signing())
                while True:
                    try:
                        pause = await self._turn()
                    except StorageError as error:
                        self._tell(f"scheduled syncs wait: {error}")
                        pause = look
                    await self._sleep(min(pause, look))
        finally:
            with suppress(StorageError):
                await self._resign()

    async def _signing(self) -> None:
        while True:
            await self._sleep(self._pacing.lease.total_seconds() / _SIGNATURES)
            await self._sign()

    async def _sign(self) -> None:
        try:
            await self._timetable.sign(Leader(self._name, self._now() + self._pacing.lease))
        except StorageError as error:
            self._tell(f"nobody can see who runs scheduled syncs: {error}")

    async def _resign(self) -> None:
        leader = await self._timetable.leader()
        if leader is not None and leader.name == self._name:
            await self._timetable.sign(Leader(self._name, self._now()))

    async def _turn(self) -> float:
        """Runs the source that is due first; returns the seconds until there may be another."""
        now = self._now()
        standings = await self._standings(now)
        first = standings[0]
        if first.next_run > now:
            return (first.next_run - now).total_seconds()
        done = await self._one(first, now)
        return 0.0 if done else self._pacing.look.total_seconds()

    async def _standings(self, now: datetime) -> Sequence[Standing]:
        """What was done by hand, and a clock that was put back, are written down on the way."""
        before = await self._timetable.entries()
        found = await self._schedules.standings(await self._sources(), now)
        for one in found:
            if one.entry.started is not None and one.entry != before.get(one.source):
                await self._timetable.save(one.entry)
        return found

    async def _one(self, standing: Standing, now: datetime) -> bool:
        """False when something else is at the index, and the source remains due."""
        if standing.missed:
            _log.info("%s: one run for %d that were missed", standing.source, standing.missed)
        shelf = self._shelves[standing.source]
        begun = replace(
            standing.entry, started=now, ended=None, missed=0, by=self._name, reading=shelf.reading
        )
        await self._timetable.save(begun)
        try:
            done = await self._outcome(shelf, begun)
        except SyncBusy as busy:
            _log.info("%s: %s", standing.source, busy)
            await self._timetable.save(standing.entry)
            return False
        ended = self._now()
        slept = standing.schedule.passed(now, ended)
        if slept:
            _log.warning(
                "%s: the run took %s, longer than its schedule allows (%s): %d left out",
                standing.source, shown(ended - now), standing.schedule, slept,
            )  # fmt: skip
        await self._timetable.save(replace(done, ended=ended, missed=standing.missed + slept))
        self._told(standing, done)
        return True

    async def _outcome(self, shelf: Shelf, begun: Entry) -> Entry:
        """What became of one run. Raises SyncBusy."""
        try:
            async with asyncio.timeout(self._pacing.longest.total_seconds()) as bound:
                report = await self._sync(shelf)
        except SyncBusy:
            raise
        except TimeoutError:
            if not bound.expired():
                return _failed(begun, "a time-out that Belay does not expect")
            return _failed(begun, f"it was ended after {shown(self._pacing.longest)}")
        except BotError as error:
            return _failed(begun, redact(f"{error} {error.remedy}".strip()))
        except GraphError as error:
            return _failed(begun, redact(error.cause))
        except Exception as error:
            _log.exception("the sync of %s was cut off", shelf.name)
            return _failed(begun, f"an error that Belay does not expect ({type(error).__name__})")
        return replace(
            begun,
            succeeded=self._now(),
            failures=0,
            error="",
            indexed=report.indexed,
            unchanged=report.unchanged,
            removed=report.removed,
            skipped=len(report.skipped),
        )

    def _told(self, before: Standing, done: Entry) -> None:
        """A failure is one line in the log as long as it is the same, and its end another."""
        if done.failures:
            level = logging.INFO if done.error == before.entry.error else logging.WARNING
            pause = shown(self._pacing.pause(done.failures))
            _log.log(level, "%s: not synced, next try in %s. %s", done.source, pause, done.error)
        elif before.failing:
            _log.warning("%s: synced again", done.source)
        else:
            _log.info("%s: synced, %d indexed", done.source, done.indexed)

    def _tell(self, trouble: str) -> None:
        level = logging.DEBUG if trouble == self._trouble else logging.WARNING
        self._trouble = trouble
        _log.log(level, "%s", trouble)


def _failed(begun: Entry, words: str) -> Entry:
    return replace(
        begun,
        failures=begun.failures + 1,
        error=words,
        indexed=0, unchanged=0, removed=0, skipped=0,
    )  # fmt: skip
