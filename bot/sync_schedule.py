"""When a source is due: by a cron expression on the clocks of a time zone, or at an interval."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, tzinfo
from hashlib import blake2b
from itertools import islice
from zoneinfo import ZoneInfo

from cronsim import CronSim, CronSimError

_NAMED = {
    "@hourly": "0 * * * *",
    "@daily": "0 0 * * *",
    "@midnight": "0 0 * * *",
    "@weekly": "0 0 * * 0",
    "@monthly": "0 0 1 * *",
    "@yearly": "0 0 1 1 *",
    "@annually": "0 0 1 1 *",
}
_FIELDS = 5  # minute, hour, day of the month, month, day of the week
_ANY = datetime(2026, 1, 1, tzinfo=UTC)
_COUNTED = 1000  # ticks; whoever missed more learns that it were at least so many


@dataclass(frozen=True, slots=True)
class SyncSchedule:
    """The moments at which a source is due. Without `cron` that is `every` after the last run.

    Each comes up to `jitter` late, always the same for one moment and one `seed`, so that many
    sources and replicas do not ask one server in the same second.
    """

    cron: str = ""
    every: timedelta = timedelta(hours=24)
    zone: str = "UTC"
    jitter: timedelta = timedelta(0)

    def next(self, after: datetime, seed: str) -> datetime:
        """When it is due first, of all moments later than `after`. Time zones that put their
        clocks forward skip no run, and those that put them back repeat none."""
        if not self.cron:
            due = after + self.every
            return due + _late(min(self.jitter, self.every), seed, due)
        tick, following = islice(self._ticks(after), 2)
        return tick + _late(min(self.jitter, following - tick), seed, tick)

    def passed(self, after: datetime, until: datetime) -> int:
        """How many moments lie after `after`, up to `until`; at most a thousand are counted."""
        if not self.cron:
            return max(min((until - after) // self.every, _COUNTED), 0)
        count = 0
        for tick in self._ticks(after):
            if tick > until or count == _COUNTED:
                break
            count += 1
        return count

    def _ticks(self, after: datetime) -> Iterator[datetime]:
        """In UTC, each later than the one before: of an hour that clocks show twice, cron knows
        the first only, and what falls into an hour that they skip comes together behind it."""
        last = after.astimezone(UTC)
        for found in CronSim(self.cron, after.astimezone(_zone(self.zone))):
            tick = found.astimezone(UTC)
            if tick > last:
                last = tick
                yield tick

    def __str__(self) -> str:
        return f"{self.cron} ({self.zone})" if self.cron else f"every {shown(self.every)}"


def cron_expression(text: str) -> str:
    """Five fields, with names such as @daily spelled out. Raises ValueError, which says what is
    wrong with it."""
    expression = _NAMED.get(text.lower(), text)
    fields = expression.split()
    if len(fields) != _FIELDS:
        count = f"{len(fields)} field{'s' * (len(fields) != 1)}"
        raise ValueError(f"it has {count}, not {_FIELDS}")
    try:
        found = list(islice(CronSim(expression, _ANY), 2))
    except CronSimError as error:
        raise ValueError(str(error).lower().replace("bad ", "wrong ", 1)) from None
    if len(found) < 2:  # noqa: PLR2004 - a source is read more than once
        raise ValueError("there is no such day")
    return " ".join(fields)


def shown(time: timedelta) -> str:
    """A duration for people: `90 s`, `15 min`, `24 h`, `3 d`."""
    seconds = time.total_seconds()
    for size, unit in ((86_400, "d"), (3_600, "h"), (60, "min")):
        if seconds >= 2 * size or (seconds == size and unit != "d"):
            return f"{seconds / size:.3g} {unit}"
    return f"{round(seconds, 1):g} s"


def _late(most: timedelta, seed: str, moment: datetime) -> timedelta:
    """A share of `most` that looks random: it is drawn from the moment itself."""
    digest = blake2b(f"{seed} {moment.isoformat()}".encode(), digest_size=8).digest()
    return most * (int.from_bytes(digest, "big") / 2**64)


def _zone(name: str) -> tzinfo:
    """cronsim knows that nothing is skipped or repeated in UTC itself."""
    return UTC if name == "UTC" else ZoneInfo(name)
