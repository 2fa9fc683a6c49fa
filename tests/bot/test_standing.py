"""How a source stands, whatever its timetable and the clock of the machine say."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st

from bot.ports import SourceRecord, SyncState
from bot.standing import Pacing, known, standing
from bot.sync_schedule import SyncSchedule
from bot.timetable import Entry
from graph.model import SourceType

NOW = datetime(2026, 10, 25, 0, 45, tzinfo=UTC)  # clocks in Berlin are about to go back
YEARS = 10 * 365 * 86_400
PACING = Pacing()
TIMES = st.none() | st.integers(-YEARS, YEARS).map(lambda seconds: NOW + timedelta(seconds=seconds))
ENTRIES = st.builds(
    Entry,
    source=st.just("runbooks"),
    started=TIMES,
    ended=TIMES,
    succeeded=TIMES,
    failures=st.sampled_from([0, 1, 5, 100_000]),
)
RECORDS = st.none() | st.builds(
    SourceRecord,
    name=st.just("runbooks"),
    kind=st.just(SourceType.REPO),
    location=st.just(""),
    state=st.sampled_from(SyncState),
    last_run=TIMES,
)
SCHEDULES = st.builds(
    SyncSchedule,
    cron=st.sampled_from(["", "*/15 * * * *", "30 2 * * *", "0 3 * * SUN"]),
    zone=st.sampled_from(["UTC", "Europe/Berlin"]),
    jitter=st.sampled_from([timedelta(0), timedelta(minutes=1), timedelta(days=2)]),
)


@given(ENTRIES, RECORDS, SCHEDULES)
def test_no_state_and_no_clock_stops_a_source(
    entry: Entry, record: SourceRecord | None, schedule: SyncSchedule
) -> None:
    """It is due no later than one that was synced just now, or failed just now, would be."""
    seen = known(entry, record, NOW)
    found = standing(schedule, seen, NOW, pacing=PACING, seed="host")
    latest = schedule.next(NOW, "host runbooks")
    if seen.failures:
        latest = NOW + PACING.retry_most
    assert found.next_run <= latest
    assert known(seen, record, NOW) == seen
    assert not found.running


@given(SCHEDULES, st.sampled_from([0, 3]))
def test_a_sync_that_just_went_well_is_neither_due_nor_overdue(
    schedule: SyncSchedule, failures: int
) -> None:
    record = SourceRecord("runbooks", SourceType.REPO, "", SyncState.COMPLETE, NOW)
    week = NOW - timedelta(days=7)
    before = Entry("runbooks", week, week, failures=failures, error="away" * bool(failures))
    found = standing(schedule, known(before, record, NOW), NOW, pacing=PACING)
    assert found.next_run > NOW
    assert not found.overdue
    assert not found.failing
    assert found.missed == 0
