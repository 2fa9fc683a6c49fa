"""The schedules of a team's sources: which there are, and how each stands."""

from __future__ import annotations

import os
import platform
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from bot.ingest.lock import as_seen
from bot.leadership import Leadership
from bot.library import LOCK_FILE, Shelf, listed_shelves
from bot.ports import KnowledgeIndex, SharedServer, SourceRecord
from bot.registry import factory
from bot.settings import Settings
from bot.shared import shared_server
from bot.standing import Pacing, Standing, known, standing
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
    lock: Path = Path(LOCK_FILE)

    async def standings(
        self, records: Sequence[SourceRecord], now: datetime | None = None
    ) -> list[Standing]:
        """Of each scheduled source, the one that is due first before the others. Raises
        StorageError."""
        now = now or datetime.now(UTC)
        entries = await self.timetable.entries()
        led = await self.led_by(now) is not None
        seen = {record.name: as_seen(record, self.lock) for record in records}
        found = [
            standing(
                shelf.schedule,
                known(entries.get(shelf.name, Entry(shelf.name)), seen.get(shelf.name), now),
                now,
                pacing=self.pacing,
                seed=self.seed,
                led=led,
            )
            for shelf in self.shelves
            if shelf.schedule is not None
        ]
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
    pacing, lock = settings.schedules.pacing(), settings.home / LOCK_FILE
    if settings.weaviate_url and settings.redis_url and shelves:
        async with shared_server(settings, server, wait=wait) as opened:
            shared: Timetable = factory("timetable.redis")(opened)
            yield Schedules(shelves, shared, factory("leadership.redis")(opened), pacing, "", lock)
        return
    timetable: Timetable = factory("timetable.sqlite")(settings.home / TIMETABLE_FILE)
    leads: Leadership = factory("leadership.sqlite")(settings.home / LEADS_FILE)
    seed = f"{platform.node()} {settings.home.resolve()}"
    yield Schedules(shelves, timetable, leads, pacing, seed, lock)


async def standings_of(
    settings: Settings, index: KnowledgeIndex
) -> tuple[list[Standing], Leader | None]:
    """How the scheduled sources stand now, and who runs them. Raises StorageError."""
    async with opened_schedules(settings, wait=False) as schedules:
        if not schedules.shelves:
            return [], None
        return await schedules.standings(await index.sources()), await schedules.led_by()


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
