"""Processes that run scheduled syncs, on a clock that is moved by hand."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta

from bot.ingest.report import SyncReport
from bot.leadership import Leadership
from bot.library import Shelf
from bot.ports import KnowledgeIndex
from bot.scheduled_syncs import TASK, ScheduledSyncs, Sync
from bot.schedules import Schedules

START = datetime(2031, 3, 3, 3, 0, tzinfo=UTC)  # later than what the clock of the machine says
PATIENCE = 60.0  # seconds
STEP = timedelta(seconds=15)


@dataclass
class Clock:
    """What all processes go by: `now` is told, and `elapsed` wakes whoever sleeps. `leads` are
    theirs."""

    now: datetime = START
    elapsed: timedelta = timedelta(0)
    leads: dict[str, Process] = field(default_factory=dict)
    number: int = 0  # of the last lead
    processes: list[Process] = field(default_factory=list)

    def __call__(self) -> datetime:
        return self.now

    async def passes(self, time: timedelta) -> None:
        """In small steps; at each, every process does what there is to do."""
        end = self.elapsed + time
        while self.elapsed < end:
            step = min(STEP, end - self.elapsed)
            self.now, self.elapsed = self.now + step, self.elapsed + step
            for process in self.processes:
                process.wake()
            await self.rest()

    def jumps(self, time: timedelta) -> None:
        """As for a machine that was suspended, or when somebody sets the clock; nobody wakes."""
        self.now += time

    async def rest(self) -> None:
        """Returns when every process waits for the clock, or for the test."""
        async with asyncio.timeout(PATIENCE):
            while not all(process.rests for process in self.processes):
                await asyncio.sleep(0.001)  # files and git are at work, which tell nobody

    @asynccontextmanager
    async def process(
        self, name: str, schedules: Schedules, index: KnowledgeIndex, sync: Sync
    ) -> AsyncIterator[Process]:
        """One that has done what there was to do when the block begins."""
        process = Process(self)
        syncs = ScheduledSyncs(
            replace(schedules, leadership=process), index.sources, process.watched(sync),
            name=name, now=self, sleep=process.sleep,
        )  # fmt: skip
        async with asyncio.TaskGroup() as group:
            running = group.create_task(syncs.run())
            self.processes.append(process)
            try:
                await self.rest()
                yield process
            finally:
                process.killed()
                running.cancel()


@dataclass(eq=False)
class Process(Leadership):
    """Keeps its leads until it is killed, and some time longer. `synced` are the sources that it
    began to sync; `gate` is what a sync waits at before it begins."""

    clock: Clock
    synced: list[str] = field(default_factory=list)
    gate: asyncio.Event | None = None
    died: datetime | None = None
    _sleepers: list[tuple[timedelta, asyncio.Future[None]]] = field(default_factory=list)
    _waits: bool = False

    @property
    def rests(self) -> bool:
        """One that leads looks at the clock and signs; one that does not looks who leads."""
        leads = self.clock.leads.get(TASK) is self
        return len(self._sleepers) == 1 + leads - self._waits

    def watched(self, sync: Sync) -> Sync:
        async def watched(shelf: Shelf) -> SyncReport:
            self.synced.append(shelf.name)
            if self.gate is not None:
                self._waits = True
                await self.gate.wait()
                self._waits = False
            return await sync(shelf)

        return watched

    async def sleep(self, seconds: float) -> None:
        if seconds > 0:
            waking = asyncio.get_running_loop().create_future()
            self._sleepers.append((self.clock.elapsed + timedelta(seconds=seconds), waking))
            await waking

    def wake(self) -> None:
        due = [item for item in self._sleepers if item[0] <= self.clock.elapsed]
        self._sleepers = [item for item in self._sleepers if item not in due]
        for _, waking in due:
            waking.set_result(None)

    def killed(self) -> None:
        """It does nothing more, and gives up no lead."""
        self.died = self.died or self.clock.now
        if self in self.clock.processes:
            self.clock.processes.remove(self)

    async def lead(self, task: str, seconds: float) -> int:
        holder = self.clock.leads.get(task, self)
        lives = holder.died is None or self.clock.now < holder.died + timedelta(seconds=seconds)
        if holder is not self and lives:
            return 0
        self.clock.leads[task] = self
        self.clock.number += 1
        return self.clock.number

    async def renew(self, task: str, number: int, seconds: float) -> bool:
        return self.clock.leads.get(task) is self

    async def held(self, task: str) -> bool:
        return task in self.clock.leads

    async def leave(self, task: str) -> None:
        if self.clock.leads.get(task) is self and self.died is None:
            del self.clock.leads[task]
