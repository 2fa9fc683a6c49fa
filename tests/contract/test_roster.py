"""The contract of the roster: whatever it reads, it repeats that and nothing else."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from adapters.ical import create
from adapters.memory.roster import MemoryRoster
from bot.errors import RosterDown
from bot.roster import HORIZON, Feed, Roster, Schedule, Shift
from tests.servers.calendar_server import calendar, event

NOW = datetime(2026, 3, 2, 3, 0, tzinfo=UTC)
PAYMENTS, SEARCH, GONE = Schedule("payments", ("billing",)), Schedule("search"), Schedule("gone")
Make = Callable[[Mapping[Schedule, Sequence[Shift]]], Roster]


def at(day: int, hour: int = 9) -> datetime:
    return datetime(2026, 3, day, hour, tzinfo=UTC)


def shift(person: str, start: datetime, end: datetime, role: str = "") -> Shift:
    return Shift(person, start, end, role)


@pytest.fixture(params=["memory", "ical"])
def make(request: pytest.FixtureRequest, tmp_path: Path) -> Make:
    """A roster of these shifts; the calendar of the schedule `gone` cannot be read."""

    def memory(shifts: Mapping[Schedule, Sequence[Shift]]) -> Roster:
        schedules = [*shifts, GONE]
        return MemoryRoster(schedules, {item.name: shifts[item] for item in shifts})

    def ical(shifts: Mapping[Schedule, Sequence[Shift]]) -> Roster:
        for schedule, own in shifts.items():
            (tmp_path / f"{schedule.name}.ics").write_text(calendar(*map(written, own)))
        feeds = [Feed(item, file=tmp_path / f"{item.name}.ics") for item in (*shifts, GONE)]
        return create(feeds, tmp_path / "copies", now=lambda: NOW)

    return memory if request.param == "memory" else ical


def written(item: Shift) -> str:
    assert item.start is not None
    assert item.end is not None
    role = f" ({item.role})" if item.role else ""
    return event(f"{item.person}{role}", item.start, item.end)


async def test_schedules_come_in_the_order_of_the_settings(make: Make) -> None:
    roster = make({SEARCH: [], PAYMENTS: []})
    assert list(roster.schedules()) == [SEARCH, PAYMENTS, GONE]


async def test_a_shift_holds_from_its_first_moment_up_to_but_not_including_its_last(
    make: Make,
) -> None:
    roster = make({PAYMENTS: [shift("Ann", at(2), at(3)), shift("Boris", at(3), at(4))]})
    second = timedelta(seconds=1)
    people = [
        [one.person for one in (await roster.on_call("payments", moment)).now]
        for moment in (at(2) - second, at(2), at(3) - second, at(3), at(4))
    ]
    assert people == [[], ["Ann"], ["Ann"], ["Boris"], []]


async def test_whoever_follows_is_named_and_when(make: Make) -> None:
    roster = make({PAYMENTS: [shift("Ann", at(2), at(3)), shift("Boris", at(4), at(5))]})
    standing = await roster.on_call("payments", at(2))
    assert standing.schedule == PAYMENTS
    assert standing.next == (shift("Boris", at(4), at(5)),)
    assert standing.change == at(3)
    gap = await roster.on_call("payments", at(3))
    assert (gap.now, gap.change) == ((), at(4))


async def test_each_role_has_its_own_people_and_its_own_next(make: Make) -> None:
    first, second = shift("Ann", at(2), at(9), "primary"), shift("Cara", at(2), at(5), "secondary")
    then, later = shift("Boris", at(9), at(16), "primary"), shift("Dan", at(5), at(9), "secondary")
    roster = make({PAYMENTS: [later, then, second, first]})
    standing = await roster.on_call("payments", at(3))
    assert standing.now == (first, second)
    assert set(standing.next) == {then, later}


async def test_shifts_of_one_person_that_touch_are_one(make: Make) -> None:
    days = [shift("Ann", at(day), at(day + 1)) for day in range(2, 6)]
    roster = make({PAYMENTS: [*days, shift("Boris", at(6), at(7)), shift("Ann", at(7), at(8))]})
    standing = await roster.on_call("payments", at(4))
    assert standing.now == (shift("Ann", at(2), at(6)),)
    assert standing.next == (shift("Boris", at(6), at(7)),)


async def test_a_bound_beyond_the_horizon_is_not_made_up(make: Make) -> None:
    always = shift("Ann", NOW - 3 * HORIZON, NOW + 3 * HORIZON)
    standing = await make({PAYMENTS: [always]}).on_call("payments", NOW)
    assert standing.now == (Shift("Ann", None, None),)
    assert (standing.next, standing.change) == ((), None)
    assert NOW < standing.reach <= NOW + HORIZON


async def test_a_moment_in_any_zone_is_that_moment(make: Make) -> None:
    roster = make({PAYMENTS: [shift("Ann", at(2), at(3))]})
    there = at(2).astimezone(ZoneInfo("Asia/Kathmandu"))
    assert (await roster.on_call("payments", there)).now == (shift("Ann", at(2), at(3)),)


async def test_an_empty_calendar_names_nobody(make: Make) -> None:
    standing = await make({PAYMENTS: []}).on_call("payments", NOW)
    assert (standing.now, standing.next, standing.freshness.trouble) == ((), (), "")


async def test_a_calendar_that_cannot_be_read_gives_no_answer(make: Make) -> None:
    roster = make({PAYMENTS: []})
    with pytest.raises(RosterDown):
        await roster.on_call("gone", NOW)
    with pytest.raises(KeyError):
        await roster.on_call("nowhere", NOW)


async def test_the_check_says_which_calendar_is_broken(make: Make) -> None:
    findings = await make({PAYMENTS: [shift("Ann", at(2, 0), at(3))]}).check()
    assert [finding.state for finding in findings] == ["ok", "bad"]
    assert "payments" in findings[0].message
    assert "gone" in findings[1].message
