"""How a scheduled source stands at one moment: what is told of it, and what is to be done."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from bot.ports import SourceRecord, SyncState
from bot.sync_schedule import SyncSchedule
from bot.timetable import Entry, Leader

_DOUBLINGS = 60  # beyond every pause that can be set


@dataclass(frozen=True, slots=True)
class Pacing:
    """How scheduled syncs are paced. The pause after a failure is `retry`, doubled with each
    further one up to `retry_most`."""

    retry: timedelta = timedelta(minutes=1)
    retry_most: timedelta = timedelta(hours=1)
    longest: timedelta = timedelta(hours=6)  # one sync; what is stored by then stays
    overdue: timedelta = timedelta(minutes=15)  # late by more than this is worth telling
    look: timedelta = timedelta(seconds=15)  # between two looks at the clock and at who leads
    lease: timedelta = timedelta(seconds=60)  # until a process that died is replaced

    def pause(self, failures: int) -> timedelta:
        most = self.retry_most / self.retry
        return self.retry * min(2.0 ** min(failures - 1, _DOUBLINGS), most)


@dataclass(frozen=True, slots=True)
class Standing:
    """`next_run` in the past: it is due. `missed`: moments that passed unused before this one.
    `overdue`: it should have been read by now, with all patience. `since` when a sync of it runs,
    wherever that is and whoever began it; None when there is none."""

    source: str
    schedule: SyncSchedule
    entry: Entry
    next_run: datetime
    missed: int = 0
    overdue: bool = False
    since: datetime | None = None

    @property
    def running(self) -> bool:
        return self.since is not None

    @property
    def failing(self) -> bool:
        return self.entry.failures > 0


def standing(
    schedule: SyncSchedule,
    entry: Entry,
    now: datetime,
    *,
    pacing: Pacing,
    seed: str = "",
    since: datetime | None = None,
) -> Standing:
    """`entry` as `known` returns it, `since` as `runs_since` does."""
    late = _expected(schedule, entry, now, seed) + pacing.overdue < now
    overdue = late and since is None
    found = Standing(entry.source, schedule, entry, now, overdue=overdue, since=since)
    if entry.ended is None:  # never read, or cut off
        return found
    if entry.failures:
        pause = pacing.pause(entry.failures)
        return replace(found, next_run=entry.ended + pause)
    due = schedule.next(entry.ended, f"{seed} {entry.source}")
    missed = schedule.passed(entry.ended, now) - 1 if due <= now else 0
    return replace(found, next_run=due, missed=max(missed, 0))


def _expected(schedule: SyncSchedule, entry: Entry, now: datetime, seed: str) -> datetime:
    """When it should have been read at the latest, going by the last time that all went well."""
    since = entry.succeeded or entry.started or now
    return schedule.next(since, f"{seed} {entry.source}")


def runs_since(
    entry: Entry, record: SourceRecord | None, leader: Leader | None, now: datetime
) -> datetime | None:
    """When the sync began that is at work on a source now. `entry` as `known` returns it, `record`
    with its true state. The process that leads may still be fetching, of which no record tells."""
    if leader is not None and entry.unfinished and entry.by == leader.name:
        return entry.started
    if record is not None and record.state is SyncState.RUNNING:
        return min(record.last_run or now, now)
    return None


def known(entry: Entry, record: SourceRecord | None, now: datetime) -> Entry:
    """The entry with what was done by hand since. A time in the future was told by a clock that
    was put back meanwhile, and counts as now."""
    entry = _not_after(entry, now)
    if record is None or record.last_run is None:
        return entry
    at, last = min(record.last_run, now), entry.ended or entry.started
    if last is not None and at <= last:
        return entry
    done = replace(entry, started=at, ended=at, missed=0, by="")
    match record.state:
        case SyncState.COMPLETE:
            return replace(done, succeeded=at, failures=0, error="")
        case SyncState.FAILED:
            return replace(done, failures=max(entry.failures, 1), error=record.message)
        case SyncState.INTERRUPTED:
            return replace(done, ended=None)
        case _:
            return entry


def _not_after(entry: Entry, now: datetime) -> Entry:
    def bounded(time: datetime | None) -> datetime | None:
        return min(time, now) if time is not None else None

    return replace(
        entry,
        started=bounded(entry.started),
        ended=bounded(entry.ended),
        succeeded=bounded(entry.succeeded),
    )
