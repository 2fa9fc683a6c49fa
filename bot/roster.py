"""Who is on call: shifts of people on named schedules, and who stands at a given moment.

A roster only repeats what its calendars say. Between two shifts nobody is on call, and a moment
that no calendar reaches is answered with nobody, never with the last person known.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Protocol

from bot.ports import Finding

HORIZON = timedelta(days=100)
"""How far to both sides of a moment shifts are looked at."""


@dataclass(frozen=True, slots=True)
class Schedule:
    """`aliases` are other names that people use: services, a team's name in another language.
    `zone` is an IANA time zone, in which the team lives."""

    name: str
    aliases: tuple[str, ...] = ()
    zone: str = "UTC"


@dataclass(frozen=True, slots=True)
class Feed:
    """Where the calendar of a schedule is read: at `url`, mostly a secret, or in `file`."""

    schedule: Schedule
    url: str = field(default="", repr=False)
    file: Path | None = None


@dataclass(frozen=True, slots=True)
class Shift:
    """Somebody's time on call, from `start` up to but not including `end`, in UTC.

    None stands for a bound that lies beyond the horizon. `person` is the name as the calendar
    writes it; `role` is what it calls the part they play ("primary"), often "".
    """

    person: str
    start: datetime | None
    end: datetime | None
    role: str = ""
    email: str = ""


@dataclass(frozen=True, slots=True)
class Freshness:
    """`read_at`: when the calendar was last read. `trouble`: why it could not be read again
    since, in a few words for the operator; "" while all is well."""

    read_at: datetime
    trouble: str = ""


@dataclass(frozen=True, slots=True)
class Standing:
    """Who is on call at `at`, and who follows: for each role the next shifts to begin.

    `reach` is how far ahead the calendar was looked at.
    """

    schedule: Schedule
    at: datetime
    now: tuple[Shift, ...]
    next: tuple[Shift, ...]
    reach: datetime
    freshness: Freshness

    @property
    def change(self) -> datetime | None:
        """When somebody next comes or goes; None when nobody does before `reach`."""
        moments = [shift.end for shift in self.now] + [shift.start for shift in self.next]
        return min((moment for moment in moments if moment is not None), default=None)


class Roster(Protocol):
    """The schedules of the settings, read from wherever they are kept."""

    def schedules(self) -> Sequence[Schedule]:
        """Every schedule, in the order of the settings."""

    async def on_call(self, schedule: str, at: datetime) -> Standing:
        """Who stands at `at` (aware). Raises KeyError for an unknown name, RosterDown when the
        calendar cannot be read and no earlier copy of it is left."""

    async def run(self) -> None:
        """Keeps the calendars fresh until cancelled."""

    async def check(self) -> Sequence[Finding]:
        """One finding a schedule: whether its calendar can be read, and whom it names."""


def standing(
    schedule: Schedule, shifts: Iterable[Shift], at: datetime, freshness: Freshness
) -> Standing:
    """What `shifts` (whole, with both bounds) say of `at`; those beyond the horizon are ignored.

    Shifts of one person in one role that touch or overlap count as one.
    """
    at = at.astimezone(UTC)
    first, last = horizon(at)
    runs = _bounded(_runs(_within(shifts, first, last)), first, last)
    now = [run for run in runs if _starts(run, first) <= at and (run.end is None or at < run.end)]
    later = [run for run in runs if run.start is not None and run.start > at]
    starts: dict[str, datetime] = {}
    for run in later:
        assert run.start is not None
        starts[run.role] = min(run.start, starts.get(run.role, run.start))
    following = [run for run in later if run.start == starts[run.role]]
    now.sort(key=lambda run: (run.role.casefold(), run.person.casefold()))
    return Standing(schedule, at, tuple(now), tuple(following), last, freshness)


def horizon(at: datetime) -> tuple[datetime, datetime]:
    """The span of time that decides about `at`: whole days of UTC."""
    day = at.astimezone(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
    return day - HORIZON, day + HORIZON


def _within(shifts: Iterable[Shift], first: datetime, last: datetime) -> list[Shift]:
    return [
        shift
        for shift in shifts
        if shift.start is not None
        and shift.end is not None
        and shift.start < shift.end
        and shift.start < last
        and shift.end > first
    ]


def _runs(shifts: Sequence[Shift]) -> list[Shift]:
    """Shifts in order, those that go on without a break joined."""
    joined: dict[tuple[str, str], list[Shift]] = {}
    for shift in sorted(shifts, key=_order):
        runs = joined.setdefault((shift.person.casefold(), shift.role.casefold()), [])
        before = runs[-1] if runs else None
        if before is None or before.end is None or shift.start is None or shift.start > before.end:
            runs.append(shift)
        else:
            assert shift.end is not None
            runs[-1] = replace(
                before, end=max(before.end, shift.end), email=before.email or shift.email
            )
    return sorted((run for runs in joined.values() for run in runs), key=_order)


def _order(shift: Shift) -> tuple[datetime, str, str]:
    assert shift.start is not None
    return shift.start, shift.role.casefold(), shift.person.casefold()


def _bounded(runs: Sequence[Shift], first: datetime, last: datetime) -> list[Shift]:
    """Runs with None for a bound past which nothing was looked at."""
    return [
        replace(
            run,
            start=run.start if run.start is not None and run.start > first else None,
            end=run.end if run.end is not None and run.end < last else None,
        )
        for run in runs
    ]


def _starts(run: Shift, first: datetime) -> datetime:
    return first if run.start is None else run.start
