"""How scheduled sources stand, as `belay sources` and `belay doctor` tell it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from bot.errors import BotError, StorageError
from bot.ports import Finding, SourceRecord
from bot.redaction import redact
from bot.schedules import standings_of
from bot.settings import Settings
from bot.standing import Standing
from bot.sync_schedule import shown
from bot.terminal import Terminal
from bot.timetable import Leader

_SEE, _START = "see `belay sources`", "start `belay run`"
_NOBODY = "scheduled syncs are not running: start `belay run`, or `belay sync --watch`"


async def scheduled(
    settings: Settings, records: Sequence[SourceRecord], terminal: Terminal
) -> tuple[Mapping[str, Standing], Leader | None]:
    """By source; `records` with their true states. What cannot be read is told, and keeps nobody
    from the rest."""
    try:
        standings, leader = await standings_of(settings, records)
    except BotError as error:
        terminal.note(f"schedules cannot be told: {error} {error.remedy}")
        return {}, None
    return {one.source: one for one in standings}, leader


def with_unread(
    records: Sequence[SourceRecord], standings: Mapping[str, Standing], settings: Settings
) -> list[SourceRecord]:
    """Scheduled sources are listed from the start, also one whose server never answered."""
    from bot.library import listed_shelves

    read = {record.name for record in records}
    unread = [
        SourceRecord(shelf.name, shelf.kind, shelf.location)
        for shelf in listed_shelves(settings)
        if shelf.name in standings and shelf.name not in read
    ]
    return sorted([*records, *unread], key=lambda record: record.name)


def lines(
    standings: Mapping[str, Standing], leader: Leader | None, now: datetime | None = None
) -> Iterator[str]:
    """For people: a line a source, and who runs them."""
    now = now or datetime.now(UTC)
    for name in sorted(standings):
        one = standings[name]
        yield f"  {name}: {one.schedule}; {'; '.join(_states(one, now))}"
    if standings:
        yield f"scheduled syncs are run by {leader.name}" if leader else _NOBODY


def _states(one: Standing, now: datetime) -> Iterator[str]:
    entry = one.entry
    if one.since is not None:
        yield f"runs since {_time(one.since)}"
    else:
        when = "now" if one.next_run <= now else _time(one.next_run)
        yield f"next {'try' if one.failing else 'run'} {when}"
    if one.failing:
        times = f"{entry.failures} times in a row" if entry.failures > 1 else "the last time"
        yield f"failed {times}: {entry.error}"
    elif entry.by and entry.ended is not None and entry.started is not None:
        yield (
            f"last run {_time(entry.started)}, {shown(entry.ended - entry.started)}: "
            f"{entry.indexed} indexed, {entry.unchanged} unchanged, {entry.removed} removed, "
            f"{entry.skipped} skipped"
        )
    if entry.missed:
        yield f"{entry.missed} left out before it"
    if one.overdue:
        yield f"OVERDUE, last complete {_time(entry.succeeded) if entry.succeeded else 'never'}"


def row(one: Standing, leader: Leader | None) -> dict[str, Any]:
    """The same for programs. Of a sync by hand nobody counted what it did."""
    entry = one.entry
    names = ("indexed", "unchanged", "removed", "skipped")
    counts = {name: getattr(entry, name) if entry.by else None for name in names}
    return {
        "schedule": one.schedule.cron or None,
        "time_zone": one.schedule.zone,
        "every_seconds": None if one.schedule.cron else one.schedule.every.total_seconds(),
        "next_run": one.next_run,
        "running": one.running,
        "overdue": one.overdue,
        "last_run": {
            "started": entry.started,
            "ended": entry.ended,
            "result": "never" if entry.started is None else _result(one),
            "error": entry.error,
            **counts,
            "missed": entry.missed,
            "by": entry.by,
        },
        "last_success": entry.succeeded,
        "failures_in_a_row": entry.failures,
        "leader": leader.name if leader else None,
    }


def _result(one: Standing) -> str:
    if one.entry.ended is None:
        return "running" if one.running else "interrupted"
    return "failed" if one.failing else "complete"


async def checked(settings: Settings, records: Sequence[SourceRecord]) -> Finding:
    """For `belay doctor`: what is overdue or failing, what runs, and whether anybody runs the
    syncs; `records` with their true states. Raises SettingsError."""
    try:
        standings, leader = await standings_of(settings, records)
    except StorageError as error:
        message = f"how scheduled sources stand cannot be told: {error}"
        return Finding("schedules", "note", redact(message), error.remedy)
    if not standings:
        return Finding("schedules", "ok", "no source has one")
    words = [
        f"{one.source} failed {one.entry.failures} times in a row: {one.entry.error}"
        for one in standings
        if one.failing
    ]
    words += [f"{one.source} is overdue" for one in standings if one.overdue]
    count = f"{len(standings)} scheduled source{'s' * (len(standings) != 1)}"
    names = ", ".join(one.source for one in standings if one.running)
    running = f"; running: {names}" if names else ""
    if words:
        return Finding("schedules", "note", f"{count}{running}; {'; '.join(words)}", _SEE)
    if leader is None:
        return Finding("schedules", "note", f"{count}{running}; nobody runs them now", _START)
    first = standings[0]
    told = f"{count}, run by {leader.name}{running}; next: {first.source}, {_time(first.next_run)}"
    return Finding("schedules", "ok", told)


def _time(time: datetime) -> str:
    return f"{time.astimezone(UTC):%Y-%m-%d %H:%M} UTC"
