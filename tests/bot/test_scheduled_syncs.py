"""Scheduled syncs: when they run, which process runs them, and what becomes of failures."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from pathlib import Path

import pytest
from schedule_kit import START, Clock, Process

from adapters.memory.index import MemoryIndex
from adapters.memory.leadership import MemoryLeadership
from adapters.memory.timetable import MemoryTimetable
from bot.errors import SourceError, StorageError, SyncBusy
from bot.ingest.report import SyncReport
from bot.library import Shelf
from bot.ports import Skipped, SourceRecord, SyncState
from bot.scheduled_syncs import ScheduledSyncs
from bot.schedules import Schedules
from bot.standing import Pacing, Standing
from bot.sync_schedule import SyncSchedule
from bot.timetable import Entry
from graph.errors import EmbedderError
from graph.model import SourceType

SECOND, MINUTE, HOUR = timedelta(seconds=1), timedelta(minutes=1), timedelta(hours=1)
QUARTERS = SyncSchedule("*/15 * * * *")
DAILY = SyncSchedule(every=24 * HOUR)
Work = Callable[[Shelf], Awaitable[SyncReport]]


async def nothing_new(shelf: Shelf) -> SyncReport:
    return SyncReport(shelf.name)


@dataclass
class Team:
    """Sources that are read by `work`, whose timetable and index several processes share."""

    clock: Clock = field(default_factory=Clock)
    timetable: MemoryTimetable = field(default_factory=MemoryTimetable)
    index: MemoryIndex = field(default_factory=MemoryIndex)
    pacing: Pacing = field(default_factory=Pacing)
    work: Work = nothing_new
    shelves: tuple[Shelf, ...] = ()
    runs: list[tuple[str, datetime]] = field(default_factory=list)

    def has(self, name: str, schedule: SyncSchedule = QUARTERS) -> Team:
        shelf = Shelf(name, Path("/srv", name), schedule=schedule)
        self.shelves += (shelf,)
        return self

    async def read(self, name: str, ended: datetime, **values: object) -> None:
        """A run of before."""
        entry = Entry(name, ended - SECOND, ended, ended, by="before:1")
        for key, value in values.items():
            entry = replace(entry, **{key: value})
        await self.timetable.save(entry)

    def process(self, name: str = "one:1") -> AbstractAsyncContextManager[Process]:
        async def sync(shelf: Shelf) -> SyncReport:
            self.runs.append((shelf.name, self.clock.now))
            return await self.work(shelf)

        return self.clock.process(name, self.schedules, self.index, sync)

    @property
    def schedules(self) -> Schedules:
        return Schedules(self.shelves, self.timetable, MemoryLeadership(), self.pacing)

    @property
    def times(self) -> list[timedelta]:
        """Of the runs, since the start of the test."""
        return [at - START for _, at in self.runs]

    async def standing(self, name: str) -> Standing:
        found = await self.schedules.standings(await self.index.sources(), self.clock.now)
        return next(one for one in found if one.source == name)

    async def entry(self, name: str) -> Entry:
        return (await self.timetable.entries())[name]


@pytest.fixture
def team() -> Team:
    return Team()


# When


async def test_a_source_is_synced_at_its_moments(team: Team) -> None:
    await team.has("runbooks").read("runbooks", START)
    async with team.process():
        await team.clock.passes(HOUR)
    assert team.times == [15 * MINUTE, 30 * MINUTE, 45 * MINUTE, 60 * MINUTE]


async def test_a_source_that_was_never_read_is_synced_at_once(team: Team) -> None:
    team.has("runbooks")
    async with team.process():
        assert team.times == [timedelta(0)]


async def test_a_vault_is_due_a_day_after_its_last_sync(team: Team) -> None:
    await team.has("vault", DAILY).read("vault", START - 22 * HOUR)
    async with team.process():
        await team.clock.passes(HOUR + 59 * MINUTE)
        assert team.times == []
        await team.clock.passes(2 * MINUTE)
    assert team.times == [2 * HOUR]


async def test_op_10_after_downtime_there_is_one_run(team: Team) -> None:
    """And the next one at its moment, as ever."""
    await team.has("runbooks").read("runbooks", START - 9 * HOUR)
    async with team.process():
        assert team.times == [timedelta(0)]
        assert (await team.entry("runbooks")).missed == 35  # of 36 quarters of an hour
        await team.clock.passes(20 * MINUTE)
    assert team.times == [timedelta(0), 15 * MINUTE]


async def test_a_run_that_outlasts_its_schedule_leaves_moments_out_and_says_so(
    team: Team, caplog: pytest.LogCaptureFixture
) -> None:
    await team.has("runbooks").read("runbooks", START)
    async with team.process() as process:
        process.gate = asyncio.Event()
        await team.clock.passes(50 * MINUTE)
        assert process.synced == ["runbooks"]  # never two at once
        assert (await team.standing("runbooks")).running
        process.gate.set()
        await team.clock.passes(20 * MINUTE)
    assert process.synced == ["runbooks"] * 2
    assert (await team.entry("runbooks")).missed == 0
    (line,) = [r.message for r in caplog.records if r.levelno == logging.WARNING]
    assert line.startswith("runbooks: the run took 35")
    assert "longer than its schedule allows (*/15 * * * * (UTC))" in line
    assert line.endswith("2 left out")


async def test_sources_take_turns(team: Team) -> None:
    """One index, one sync at a time; the one that is due longest goes first."""
    await team.has("a").has("b").has("c").read("b", START - 2 * HOUR)
    await team.read("a", START - HOUR)
    at_work: list[str] = []

    async def work(shelf: Shelf) -> SyncReport:
        assert not at_work
        at_work.append(shelf.name)
        await asyncio.sleep(0)
        at_work.remove(shelf.name)
        return SyncReport(shelf.name)

    team.work = work
    await team.read("c", START - 3 * HOUR)
    async with team.process():
        assert [name for name, _ in team.runs] == ["c", "b", "a"]


async def test_the_jitter_sets_sources_and_replicas_apart() -> None:
    late = replace(QUARTERS, jitter=5 * MINUTE)
    seeds = [f"{host} {name}" for host in "abcde" for name in ("runbooks", "wiki", "notes")]
    due = {seed: late.next(START, seed) for seed in seeds}
    assert len({time.replace(microsecond=0) for time in due.values()}) > len(due) // 2
    assert all(15 * MINUTE <= time - START < 20 * MINUTE for time in due.values())
    assert due == {seed: late.next(START, seed) for seed in seeds}


async def test_a_moment_that_comes_late_by_jitter_is_run_once(team: Team) -> None:
    await team.has("runbooks", replace(QUARTERS, jitter=10 * MINUTE)).read("runbooks", START)
    async with team.process():
        await team.clock.passes(3 * HOUR)
    assert 11 <= len(team.runs) <= 12  # the last one may still be to come
    assert len({time // (15 * MINUTE) for time in team.times}) == len(team.runs)


@pytest.mark.parametrize("jump", [-90 * MINUTE, -3 * 24 * HOUR], ids=["an hour", "days"])
async def test_a_clock_that_is_put_back_costs_no_run_of_the_new_time(
    team: Team, jump: timedelta
) -> None:
    await team.has("runbooks").read("runbooks", START)
    async with team.process():
        team.clock.jumps(jump + SECOND)
        await team.clock.passes(HOUR)
    assert len(team.runs) == 4


async def test_a_timetable_of_a_clock_that_was_years_ahead_does_not_stop_a_source(
    team: Team,
) -> None:
    await team.has("runbooks").has("vault", DAILY).read("runbooks", START + 3000 * 24 * HOUR)
    await team.read("vault", START + 3000 * 24 * HOUR)
    async with team.process():
        await team.clock.passes(16 * MINUTE)
        assert team.runs == [("runbooks", START + 15 * MINUTE)]
        assert (await team.standing("vault")).next_run == START + 24 * HOUR


async def test_a_suspended_machine_makes_up_with_one_run(team: Team) -> None:
    await team.has("runbooks").read("runbooks", START)
    async with team.process():
        team.clock.jumps(8 * HOUR)
        await team.clock.passes(MINUTE)
    (run,) = team.times
    assert 8 * HOUR <= run <= 8 * HOUR + team.pacing.look


# Failures


async def fails(shelf: Shelf) -> SyncReport:
    raise SourceError("the server does not answer.", "Look at it.")


async def test_a_failure_is_tried_again_after_growing_pauses(team: Team) -> None:
    """One minute, two, four, … and never more than `retry_most`."""
    await team.has("runbooks").read("runbooks", START)
    team.work, team.pacing = fails, Pacing(retry_most=10 * MINUTE)
    async with team.process():
        await team.clock.passes(55 * MINUTE)
    pauses = [later - before for before, later in zip(team.times, team.times[1:], strict=False)]
    assert pauses == [1 * MINUTE, 2 * MINUTE, 4 * MINUTE, 8 * MINUTE, 10 * MINUTE, 10 * MINUTE]
    entry = await team.entry("runbooks")
    assert (entry.failures, entry.succeeded) == (7, START)
    assert entry.error == "the server does not answer. Look at it."
    standing = await team.standing("runbooks")
    assert standing.failing
    assert standing.next_run == START + 60 * MINUTE


async def test_what_works_again_follows_its_schedule_again(team: Team) -> None:
    await team.has("runbooks").read("runbooks", START)
    team.work = fails
    async with team.process():
        await team.clock.passes(15 * MINUTE + 30 * SECOND)
        team.work = nothing_new
        await team.clock.passes(15 * MINUTE)
    assert team.times == [15 * MINUTE, 16 * MINUTE, 30 * MINUTE]
    entry = await team.entry("runbooks")
    assert (entry.failures, entry.error, entry.succeeded) == (0, "", START + 30 * MINUTE)


async def test_op_08_the_same_failure_is_one_warning(
    team: Team, caplog: pytest.LogCaptureFixture
) -> None:
    await team.has("runbooks").read("runbooks", START)
    team.work = fails
    async with team.process():
        await team.clock.passes(4 * HOUR)
        team.work = nothing_new
        await team.clock.passes(HOUR)
    told = [r.message for r in caplog.records if r.levelno >= logging.WARNING]
    assert len(team.runs) > 8
    assert len(told) == 2
    assert "not synced, next try in 1 min. the server does not answer" in told[0]
    assert told[1] == "runbooks: synced again"


FAULTS: dict[str, tuple[Exception, str]] = {
    "source": (SourceError("no such branch.", "Check it."), "no such branch. Check it."),
    "embedder": (EmbedderError("401 from https://key@host"), "embedder"),
    "disk": (StorageError("the disk is full.", "Free some."), "the disk is full. Free some."),
    "unexpected": (ZeroDivisionError("x"), "ZeroDivisionError"),
    "time-out": (TimeoutError(), "time-out"),
}


@pytest.mark.parametrize("fault", FAULTS)
async def test_no_failure_of_one_source_keeps_the_others_from_their_runs(
    team: Team, fault: str
) -> None:
    await team.has("a").has("b").read("a", START)
    await team.read("b", START)
    error, words = FAULTS[fault]

    async def work(shelf: Shelf) -> SyncReport:
        if shelf.name == "a":
            raise error
        return SyncReport(shelf.name)

    team.work = work
    async with team.process():
        await team.clock.passes(31 * MINUTE)
    assert [name for name, _ in team.runs].count("b") == 2
    entry = await team.entry("a")
    assert entry.failures > 1
    assert words in entry.error
    assert "key@" not in entry.error


async def test_a_sync_without_an_end_is_ended(team: Team) -> None:
    async def hangs(shelf: Shelf) -> SyncReport:
        await asyncio.Event().wait()
        raise AssertionError

    team.has("runbooks").work, team.pacing = hangs, Pacing(longest=timedelta(milliseconds=20))
    async with team.process():
        pass
    entry = await team.entry("runbooks")
    assert entry.error == "it was ended after 0 s"
    assert entry.failures == 1


async def test_a_sync_by_hand_that_is_at_work_is_waited_for(team: Team) -> None:
    """That is no failure, and the moment is not lost."""
    await team.has("runbooks").read("runbooks", START)
    busy = True

    async def work(shelf: Shelf) -> SyncReport:
        if busy:
            raise SyncBusy("Another process is syncing.")
        return SyncReport(shelf.name)

    team.work = work
    async with team.process():
        await team.clock.passes(16 * MINUTE)
        assert len(team.runs) > 2
        assert await team.entry("runbooks") == Entry(
            "runbooks", START - SECOND, START, START, by="before:1"
        )
        busy = False
        await team.clock.passes(MINUTE)
    assert (await team.entry("runbooks")).succeeded == team.runs[-1][1]


async def test_what_was_synced_by_hand_counts(team: Team) -> None:
    await team.has("vault", DAILY).read("vault", START - 23 * HOUR, failures=3, error="x")
    by_hand = SourceRecord(
        "vault", SourceType.VAULT, "https://host/x", SyncState.COMPLETE, START - HOUR
    )
    await team.index.save_source(by_hand)
    async with team.process():
        assert team.runs == []
        assert (await team.standing("vault")).next_run == START + 23 * HOUR
        await team.index.save_source(replace(by_hand, state=SyncState.FAILED, last_run=START))
    entry = await team.entry("vault")
    assert (entry.failures, entry.error, entry.succeeded) == (0, "", START - HOUR)


async def test_what_a_start_could_not_read_is_tried_again_soon(team: Team) -> None:
    team.has("runbooks")
    record = SourceRecord("runbooks", SourceType.REPO, "https://host/x", SyncState.FAILED, START)
    await team.index.save_source(replace(record, message="no answer"))
    standing = await team.standing("runbooks")
    assert standing.failing
    assert standing.entry.error == "no answer"
    assert standing.next_run == START + MINUTE


async def test_the_counts_of_the_last_run_are_kept(team: Team) -> None:
    async def work(shelf: Shelf) -> SyncReport:
        skipped = (Skipped("x.bin", "binary"), Skipped("y.bin", "binary"))
        return SyncReport(shelf.name, indexed=3, unchanged=40, removed=1, skipped=skipped)

    team.has("runbooks").work = work
    async with team.process("one:1"):
        pass
    entry = await team.entry("runbooks")
    counts = (entry.indexed, entry.unchanged, entry.removed, entry.skipped)
    assert counts == (3, 40, 1, 2)
    assert entry.by == "one:1"


# Processes


async def test_one_of_several_processes_runs_the_syncs(team: Team) -> None:
    await team.has("runbooks").read("runbooks", START)
    async with team.process("one:1"), team.process("two:2"), team.process("three:3"):
        await team.clock.passes(HOUR)
        leader = await team.schedules.led_by(team.clock.now)
        assert leader is not None
        assert leader.name == "one:1"
    assert len(team.runs) == 4


async def test_another_process_goes_on_with_what_a_dead_one_was_at(team: Team) -> None:
    """IN-27: no run is left as running for ever."""
    await team.has("runbooks").read("runbooks", START)
    async with team.process("one:1") as first:
        first.gate = asyncio.Event()
        await team.clock.passes(16 * MINUTE)
        assert (await team.entry("runbooks")).unfinished
        first.killed()
        async with team.process("two:2") as second:
            await team.clock.passes(2 * MINUTE)
            assert second.synced == ["runbooks"]
            entry = await team.entry("runbooks")
            assert (entry.by, entry.unfinished, entry.failures) == ("two:2", False, 0)
            leader = await team.schedules.led_by(team.clock.now)
            assert leader is not None
            assert leader.name == "two:2"


async def test_a_process_that_ends_leaves_the_syncs_to_another_at_once(team: Team) -> None:
    """And what it was at is cut off cleanly: the next run resumes it."""
    await team.has("runbooks").read("runbooks", START)
    leads: dict[str, tuple[object, float]] = {}
    ended: list[str] = []
    begun = asyncio.Event()

    async def work(shelf: Shelf) -> SyncReport:
        begun.set()
        try:
            await asyncio.Event().wait()
        finally:
            ended.append(shelf.name)
        raise AssertionError

    team.clock.now += 15 * MINUTE
    schedules = replace(team.schedules, leadership=MemoryLeadership(leads))
    syncs = ScheduledSyncs(schedules, team.index.sources, work, name="one:1", now=team.clock)
    async with asyncio.TaskGroup() as group:
        running = group.create_task(syncs.run())
        await begun.wait()
        assert (await team.standing("runbooks")).running
        running.cancel()
    assert ended == ["runbooks"]
    assert leads == {}
    assert await team.schedules.led_by(team.clock.now) is None
    standing = await team.standing("runbooks")
    assert not standing.running
    assert standing.next_run <= team.clock.now


async def test_a_timetable_that_cannot_be_written_costs_no_more_than_time(
    team: Team, caplog: pytest.LogCaptureFixture
) -> None:
    """OP-11: nothing is run that could not be remembered, and it goes on by itself."""
    await team.has("runbooks").read("runbooks", START)

    class Full(MemoryTimetable):
        full = True

        async def save(self, entry: Entry) -> None:
            if self.full:
                raise StorageError("the disk is full", "Free some.")
            await super().save(entry)

    full = Full()
    await MemoryTimetable.save(full, await team.entry("runbooks"))
    team.timetable = full
    async with team.process():
        await team.clock.passes(HOUR)
        assert team.runs == []
        full.full = False
        await team.clock.passes(MINUTE)
    assert len(team.runs) == 1
    warned = [r.message for r in caplog.records if r.levelno >= logging.WARNING]
    assert warned == ["scheduled syncs wait: the disk is full"]


# What is told


async def test_a_source_is_overdue_when_nobody_syncs_it(team: Team) -> None:
    await team.has("runbooks").has("vault", DAILY).read("runbooks", START)
    await team.read("vault", START)
    team.clock.now = START + 29 * MINUTE
    assert not (await team.standing("runbooks")).overdue
    team.clock.now = START + 31 * MINUTE
    assert (await team.standing("runbooks")).overdue
    assert not (await team.standing("vault")).overdue
    team.clock.now = START + 25 * HOUR
    assert (await team.standing("vault")).overdue


async def test_a_source_that_fails_for_long_is_overdue(team: Team) -> None:
    await team.has("runbooks").read("runbooks", START)
    team.work = fails
    async with team.process():
        await team.clock.passes(31 * MINUTE)
        assert (await team.standing("runbooks")).overdue


async def test_sources_without_a_schedule_are_left_alone(team: Team) -> None:
    team.shelves = (Shelf("notes", Path("/srv/notes")),)
    assert await team.schedules.standings(()) == []
