"""Cron expressions, intervals and jitter: at which moments a source is due."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.sync_schedule import SyncSchedule, cron_expression, shown

BERLIN = ZoneInfo("Europe/Berlin")
TIMES = st.integers(0, 2 * 365 * 86_400).map(
    lambda seconds: datetime(2026, 1, 1, tzinfo=UTC) + timedelta(seconds=seconds)
)
MINUTE, HOUR, DAY = timedelta(minutes=1), timedelta(hours=1), timedelta(days=1)


def moments(schedule: SyncSchedule, after: datetime, count: int) -> list[datetime]:
    found: list[datetime] = []
    for _ in range(count):
        found.append(schedule.next(found[-1] if found else after, "seed"))
    return found


def on_clocks(times: list[datetime], zone: ZoneInfo) -> list[str]:
    return [f"{time.astimezone(zone):%d %H:%M}" for time in times]


@given(
    step=st.sampled_from([1, 5, 7, 15, 30]),
    hours=st.sets(st.integers(0, 23), min_size=1, max_size=4),
    after=TIMES,
)
def test_the_next_moment_is_the_first_minute_that_fits(
    step: int, hours: set[int], after: datetime
) -> None:
    listed = ",".join(map(str, sorted(hours)))
    found = SyncSchedule(f"*/{step} {listed} * * *").next(after, "")
    minute = after.replace(second=0, microsecond=0) + MINUTE
    while minute.minute % step or minute.hour not in hours:
        minute += MINUTE
    assert found == minute


def test_a_run_in_the_night_is_on_the_clocks_of_its_zone() -> None:
    schedule = SyncSchedule("30 6 * * MON-FRI", zone="Europe/Berlin")
    friday = datetime(2026, 3, 27, 12, 0, tzinfo=UTC)
    due = moments(schedule, friday, 2)
    assert due == [
        datetime(2026, 3, 30, 4, 30, tzinfo=UTC),
        datetime(2026, 3, 31, 4, 30, tzinfo=UTC),
    ]
    assert SyncSchedule("30 6 * * MON-FRI").next(friday, "").hour == 6


def test_the_hour_that_clocks_skip_drops_no_run() -> None:
    """On 29 March 2026 clocks in Berlin go from 2:00 to 3:00."""
    schedule = SyncSchedule("30 2 * * *", zone="Europe/Berlin")
    due = moments(schedule, datetime(2026, 3, 27, 12, 0, tzinfo=UTC), 3)
    assert on_clocks(due, BERLIN) == ["28 02:30", "29 03:00", "30 02:30"]


def test_runs_that_fall_into_a_skipped_hour_come_together() -> None:
    schedule = SyncSchedule("0,30 2 * * *", zone="Europe/Berlin")
    due = moments(schedule, datetime(2026, 3, 28, 12, 0, tzinfo=UTC), 3)
    assert on_clocks(due, BERLIN) == ["29 03:00", "30 02:00", "30 02:30"]


def test_the_hour_that_clocks_repeat_has_one_run() -> None:
    """On 25 October 2026 clocks in Berlin show 2:30 twice."""
    schedule = SyncSchedule("30 2 * * *", zone="Europe/Berlin")
    due = moments(schedule, datetime(2026, 10, 24, 12, 0, tzinfo=UTC), 2)
    assert due == [
        datetime(2026, 10, 25, 0, 30, tzinfo=UTC),
        datetime(2026, 10, 26, 1, 30, tzinfo=UTC),
    ]
    between = datetime(2026, 10, 25, 1, 10, tzinfo=UTC)  # 2:10, the second time
    assert schedule.next(between, "") == due[1]


@pytest.mark.parametrize("day", ["2026-03-29", "2026-10-25"])
def test_every_quarter_of_an_hour_is_that_whatever_clocks_do(day: str) -> None:
    schedule = SyncSchedule("*/15 * * * *", zone="Europe/Berlin")
    start = datetime.fromisoformat(f"{day}T00:00+00:00")
    assert moments(schedule, start, 12) == [start + 15 * MINUTE * n for n in range(1, 13)]


@given(
    after=TIMES,
    jitter=st.sampled_from([timedelta(0), MINUTE, HOUR, 7 * DAY]),
    cron=st.sampled_from(["", "*/10 * * * *", "0 3 * * *", "30 2 * * SUN", "0 0 29 2 *"]),
    zone=st.sampled_from(["UTC", "Europe/Berlin", "America/St_Johns", "Pacific/Apia"]),
)
def test_jitter_only_makes_late_and_mixes_no_moments(
    after: datetime, jitter: timedelta, cron: str, zone: str
) -> None:
    """However large it is: one run for each moment, in their order."""
    exact = SyncSchedule(cron, zone=zone)
    late = SyncSchedule(cron, zone=zone, jitter=jitter)
    moment, found = exact.next(after, "a"), late.next(after, "a")
    assert moment > after
    assert moment <= found <= moment + jitter
    assert found <= exact.next(moment, "a")
    assert late.next(found, "a") >= exact.next(moment, "a")
    assert found == late.next(after, "a")


def test_moments_that_passed_are_counted_up_to_a_thousand() -> None:
    start = datetime(2026, 5, 4, tzinfo=UTC)
    quarters = SyncSchedule("*/15 * * * *")
    assert quarters.passed(start, start) == 0
    assert quarters.passed(start, start + 14 * MINUTE) == 0
    assert quarters.passed(start, start + HOUR) == 4
    assert quarters.passed(start + HOUR, start) == 0
    assert SyncSchedule("* * * * *").passed(start, start + 365 * DAY) == 1000
    daily = SyncSchedule(every=DAY)
    assert daily.passed(start, start + 3.5 * DAY) == 3
    assert daily.passed(start + HOUR, start) == 0


REFUSED = {
    "": "0 fields",
    "* * * *": "4 fields",
    "*/5 * * * * *": "6 fields",  # seconds in front, or a year behind
    "61 * * * *": "minute",
    "0 24 * * *": "hour",
    "0 0 0 * *": "day-of-month",
    "0 0 * 13 *": "month",
    "0 0 * * 8": "day-of-week",
    "*/0 * * * *": "minute",
    "5-1 * * * *": "minute",
    "0 0 30 2 *": "day-of-month",
    "0 0 31 4,6,9,11 *": "day-of-month",
    "a b c d e": "minute",
    "٣ * * * *": "minute",
    "0 0 * * FRO": "day-of-week",
    "@reboot": "1 field",
    "@often": "1 field",
    "every 5 minutes": "3 fields",
}


@pytest.mark.parametrize("text", REFUSED)
def test_what_is_no_cron_expression_is_refused_with_the_reason(text: str) -> None:
    with pytest.raises(ValueError, match=REFUSED[text]):
        cron_expression(text)


ACCEPTED = {
    "*/15 * * * *": "*/15 * * * *",
    "  0   3 * *   sun ": "0 3 * * sun",
    "@daily": "0 0 * * *",
    "@Hourly": "0 * * * *",
    "0 9 1-7 jan,jul MON#1": "0 9 1-7 jan,jul MON#1",
    "0 0 29 2 *": "0 0 29 2 *",
    "0 22 L * *": "0 22 L * *",
}


@pytest.mark.parametrize("text", ACCEPTED)
def test_what_people_write_in_crontabs_is_read(text: str) -> None:
    assert cron_expression(text) == ACCEPTED[text]


def test_durations_for_people() -> None:
    times = [
        timedelta(seconds=0.07),
        timedelta(seconds=61),
        MINUTE,
        90 * MINUTE,
        HOUR,
        DAY,
        2 * DAY,
    ]
    assert [shown(time) for time in times] == [
        "0.1 s", "61 s", "1 min", "90 min", "1 h", "24 h", "2 d",
    ]  # fmt: skip
