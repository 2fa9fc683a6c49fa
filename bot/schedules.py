"""The schedules of a team's sources: which there are, and how each stands."""

from __future__ import annotations

import os
import platform
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime

from bot.leadership import Leadership
from bot.library import Shelf, listed_shelves
from bot.ports import KnowledgeIndex, SharedServer, SourceRecord
from bot.registry import factory
from bot.settings import Settings
from bot.shared import shared_server
from bot.standing import Pacing, Standing, known, runs_since, standing
from bot.timetable import Entry, Leader, Timetable

TIMETABLE_FILE, LEADS_FILE = "timetable.db", "leads.db"


@dataclass(frozen=True, slots=True)
class Schedules:
    """Who leads and what was run is kept where the index is: in Redis for one that machines share,
    else in the data folder. `seed` sets replicas with an index each apart in time."""

    shelves: tuple[Shelf, ...]
    timetable: Timetable
    leadership: Leadership
    pacing: Pacing = field(default_factory=Pacing)
    seed: str = ""

    async def standings(
        self, records: Sequence[SourceRecord], now: datetime | None = None
    ) -> list[Standing]:
        """Of each scheduled source, the one that is due first before the others. `records` are the
        sources with their true states (`bot.seen`). Raises StorageError."""
        now = now or datetime.now(UTC)
        entries, leader = await self.timetable.entries(), await self.led_by(now)
        seen = {record.name: record for record in records}
        found: list[Standing] = []
        for shelf in self.shelves:
            if shelf.schedule is None:
                continue
            record = seen.get(shelf.name)
            entry = known(entries.get(shelf.name, Entry(shelf.name)), record, now)
            since = runs_since(entry, record, leader, now)
            found.append(
                standing(
                    shelf.schedule, entry, now, pacing=self.pacing, seed=self.seed, since=since
                )
            )
        return sorted(found, key=lambda one: one.next_run)

    async def led_by(self, now: datetime | None = None) -> Leader | None:
        """The process that runs the syncs, when there is one. Raises StorageError."""
        leader = await self.timetable.leader()
        return leader if leader and leader.until > (now or datetime.now(UTC)) else None


@asynccontextmanager
async def opened_schedules(
    settings: Settings, server: SharedServer | None = None, *, wait: bool = True
) -> AsyncIterator[Schedules]:
    """Those of the settings; `wait` for a Redis that starts, unless it is `server` and open.
    Raises SettingsError, StorageError."""
    shelves = tuple(shelf for shelf in listed_shelves(settings) if shelf.schedule is not None)
    pacing = settings.schedules.pacing()
    if settings.weaviate_url and settings.redis_url and shelves:
        async with shared_server(settings, server, wait=wait) as opened:
            shared: Timetable = factory("timetable.redis")(opened)
            yield Schedules(shelves, shared, factory("leadership.redis")(opened), pacing)
        return
    timetable: Timetable = factory("timetable.sqlite")(settings.home / TIMETABLE_FILE)
    leads: Leadership = factory("leadership.sqlite")(settings.home / LEADS_FILE)
    seed = f"{platform.node()} {settings.home.resolve()}"
    yield Schedules(shelves, timetable, leads, pacing, seed)


async def standings_of(
    settings: Settings, records: Sequence[SourceRecord]
) -> tuple[list[Standing], Leader | None]:
    """How the scheduled sources stand now, and who runs them; `records` as for `standings`. Raises
    StorageError."""
    async with opened_schedules(settings, wait=False) as schedules:
        if not schedules.shelves:
            return [], None
        return await schedules.standings(records), await schedules.led_by()


async def looked_after(settings: Settings, index: KnowledgeIndex) -> frozenset[str]:
    """The sources that a start may leave to their schedules: what is indexed of them was read by
    the same settings. Raises StorageError."""
    read = {record.name for record in await index.sources() if record.chunks}
    async with opened_schedules(settings) as schedules:
        if not schedules.shelves:
            return frozenset()
        entries = await schedules.timetable.entries()
        return frozenset(
            shelf.name
            for shelf in schedules.shelves
            if shelf.name in read
            and (entry := entries.get(shelf.name)) is not None
            and entry.reading == shelf.reading
        )


def this_process() -> str:
    """Its name for people: the machine and the number."""
    return f"{platform.node()}:{os.getpid()}"
