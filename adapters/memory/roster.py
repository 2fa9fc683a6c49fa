"""A roster that holds the shifts it is given: for tests and dry runs."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime

from bot.errors import RosterDown
from bot.ports import Finding
from bot.roster import Freshness, Roster, Schedule, Shift, Standing, standing


class MemoryRoster(Roster):
    """`shifts` by the name of their schedule; `trouble` as if the calendars could not be read
    since `read_at`. A schedule without an entry in `shifts` cannot be read at all."""

    def __init__(
        self,
        schedules: Sequence[Schedule],
        shifts: Mapping[str, Sequence[Shift]],
        *,
        read_at: datetime = datetime(2026, 1, 1, tzinfo=UTC),
        trouble: str = "",
    ) -> None:
        self._schedules = {schedule.name: schedule for schedule in schedules}
        self._shifts = shifts
        self.freshness = Freshness(read_at, trouble)

    def schedules(self) -> Sequence[Schedule]:
        return list(self._schedules.values())

    async def on_call(self, schedule: str, at: datetime) -> Standing:
        found = self._schedules[schedule]
        if schedule not in self._shifts:
            raise RosterDown(f"the calendar of {schedule} cannot be read")
        return standing(found, self._shifts[schedule], at, self.freshness)

    async def run(self) -> None:
        await asyncio.Event().wait()

    async def check(self) -> Sequence[Finding]:
        return [self._finding(name) for name in self._schedules]

    def _finding(self, name: str) -> Finding:
        if name not in self._shifts or self.freshness.trouble:
            trouble = self.freshness.trouble or "cannot be read"
            return Finding("oncall", "bad", f"{name}: {trouble}")
        return Finding("oncall", "ok", f"{name}: {len(self._shifts[name])} shifts")
