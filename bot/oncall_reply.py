"""Who is on call, in words: on the clocks of whoever asks, with the age of what is known.

Names come from calendars: they are escaped, and nothing in them becomes a link or a mention.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta, tzinfo

from bot.oncall import Report, Watch
from bot.oncall_texts import age, written
from bot.roster import HORIZON, Shift
from bot.texts import literal, text
from graph.model import Language

_FOLLOWING = 4  # people named as next
_SHIFTS = 20  # shown of a long span


@dataclass(frozen=True, slots=True)
class Teller:
    """Tells reports to one person: in their language, on their clocks, as of `now`."""

    watch: Watch
    language: Language
    zone: tzinfo
    now: datetime

    def report(self, report: Report) -> str:
        """Canonical Markdown."""
        lines = [self._head(report)]
        if report.shifts:
            lines += ["", *self._lines(report)]
        after = [self._next(report.next)] if report.next else []
        return "\n".join([*lines, "", " ".join([*after, f"*{self._age(report)}*"])])

    def overview(self, reports: Sequence[tuple[str, Report | None]], at: datetime) -> str:
        """One line a schedule, None for one whose calendar cannot be read."""
        head = self._text("oncall_overview", at=self._at(at, year=True), zone=self._zone)
        return "\n".join([head, "", *(self._line(name, report) for name, report in reports)])

    def who(self, shift: Shift) -> str:
        """A person and the part they play, escaped."""
        known = self.watch.colleague(shift)
        name = known.name if known else shift.person
        shown = literal(name) if name else self._text("oncall_unnamed")
        return f"{shown} ({literal(shift.role)})" if shift.role else shown

    @property
    def _zone(self) -> str:
        return str(self.zone)

    def _head(self, report: Report) -> str:
        schedule = literal(report.schedule.name)
        start = self._at(report.start, year=True)
        if report.end is not None:
            key = "oncall_over" if report.shifts else "oncall_nobody_over"
            end = self._at(report.end)
            return self._text(key, schedule=schedule, start=start, end=end, zone=self._zone)
        if report.shifts:
            return self._text("oncall_at", schedule=schedule, at=start, zone=self._zone)
        starts = [shift.start for shift in report.next if shift.start is not None]
        key = "oncall_nobody_until" if starts else "oncall_nobody"
        until = self._at(min(starts, default=report.reach))
        return self._text(key, schedule=schedule, at=start, zone=self._zone, until=until)

    def _lines(self, report: Report) -> list[str]:
        """Shifts, and between them the gaps, in order."""
        begun = report.reach - 2 * HORIZON
        lines = [(shift.start or begun, self._shift(shift, report)) for shift in report.shifts]
        lines += [(start, self._gap(start, end)) for start, end in report.gaps]
        return [line for _, line in sorted(lines, key=lambda item: item[0])][:_SHIFTS]

    def _shift(self, shift: Shift, report: Report) -> str:
        known = shift.start is not None
        since = self._at(shift.start or report.reach - 2 * HORIZON)
        return self._text(
            "oncall_shift" if shift.end else "oncall_shift_open",
            who=self.who(shift),
            since=since if known else self._text("oncall_since_before", at=since),
            until=self._at(shift.end or report.reach),
        )

    def _gap(self, start: datetime, end: datetime) -> str:
        return self._text("oncall_gap", start=self._at(start), end=self._at(end))

    def _next(self, shifts: Sequence[Shift]) -> str:
        people = "; ".join(self._followers(shifts[:_FOLLOWING]))
        return self._text("oncall_next", people=people)

    def _followers(self, shifts: Sequence[Shift]) -> Iterator[str]:
        for shift in shifts:
            assert shift.start is not None  # a shift that begins later
            yield self._text("oncall_next_one", who=self.who(shift), at=self._at(shift.start))

    def _line(self, name: str, report: Report | None) -> str:
        if report is None:
            people = self._text("oncall_overview_down")
        elif not report.shifts:
            people = self._text("oncall_overview_nobody")
        else:
            people = ", ".join(self._until(shift) for shift in report.shifts)
        if report is not None and report.freshness.trouble:
            people += f" — *{self._age(report)}*"
        return self._text("oncall_overview_line", schedule=literal(name), people=people)

    def _until(self, shift: Shift) -> str:
        if shift.end is None:
            return self._text("oncall_overview_open", who=self.who(shift))
        return self._text("oncall_overview_one", who=self.who(shift), until=self._at(shift.end))

    def _age(self, report: Report) -> str:
        key, count = age(max(self.now - report.freshness.read_at, timedelta()))
        told = self._text(key, count=count)
        return self._text("oncall_copy" if report.freshness.trouble else "oncall_read", age=told)

    def _at(self, moment: datetime, *, year: bool = False) -> str:
        other = moment.astimezone(self.zone).year != self.now.astimezone(self.zone).year
        return written(moment, self.zone, self.language, year=year or other)

    def _text(self, key: str, /, **values: object) -> str:
        return text(key, self.language, **values)
