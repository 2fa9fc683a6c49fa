"""The roster as a team uses it: schedules by the names that people say, the schedule of a channel,
people of calendars as people of chats, and the time zone of whoever asks."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime, tzinfo
from difflib import get_close_matches
from pathlib import Path
from zoneinfo import ZoneInfo

from bot.chat import Incoming, Person, Place
from bot.errors import RosterDown
from bot.hand_off import Duty
from bot.oncall_settings import OnCallSettings
from bot.registry import factory
from bot.roster import Freshness, Roster, Schedule, Shift
from bot.when import When
from graph.text import WORD, fold, stem

COPIES = "oncall"
"""The folder below the data folder in which the last good calendars lie."""

_CLOSE = 0.6  # of 1: how alike a name must be to be suggested
_HANDOVERS = 60  # looked at within one span of time
_GENERIC = frozenset(
    stem(word)
    for word in (
        *("the", "a", "our", "team", "service", "schedule", "rotation", "on", "for", "of", "in"),
        *("команда", "сервис", "график", "расписание", "группа", "по", "за", "в", "на", "для"),
    )
)


@dataclass(frozen=True, slots=True)
class Colleague:
    """Somebody whom calendars name. `keys` are who they are in chats: "slack:U012AB3CD"."""

    name: str
    emails: tuple[str, ...] = ()
    spellings: tuple[str, ...] = ()
    keys: tuple[str, ...] = ()
    zone: str = ""

    def on(self, platform: str) -> Person | None:
        """The same person in a messenger."""
        for key in self.keys:
            found, _, number = key.partition(":")
            if found == platform:
                return Person(platform, number, self.name)
        return None


@dataclass(frozen=True, slots=True)
class Report:
    """Who is on call from `start` on: at that moment, or up to `end` when there is one.

    `gaps` are stretches with nobody; `next` follows what the report covers; the calendar was
    looked at up to `reach`.
    """

    schedule: Schedule
    start: datetime
    end: datetime | None
    shifts: tuple[Shift, ...]
    gaps: tuple[tuple[datetime, datetime], ...]
    next: tuple[Shift, ...]
    reach: datetime
    freshness: Freshness


@dataclass(frozen=True, slots=True)
class Watch:
    """`places` are schedules by the place that they belong to, as "slack:C012AB3CD"; `zone` is
    used for people of whom nothing else is known."""

    roster: Roster
    people: tuple[Colleague, ...] = ()
    places: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    zone: str = "UTC"
    now: Callable[[], datetime] = lambda: datetime.now(UTC)

    def named(self, words: str) -> Schedule | None:
        """The schedule that `words` name: exactly, or but for endings and words such as "team".
        None when none or several do."""
        schedules = self.roster.schedules()
        folded = _folded(words)
        exact = [item for item in schedules if folded in map(_folded, _names(item))]
        if len(exact) == 1:
            return exact[0]
        stems = _stems(words)
        alike = [item for item in schedules if stems and stems in map(_stems, _names(item))]
        return alike[0] if len(alike) == 1 else None

    def closest(self, words: str) -> Schedule | None:
        """What may have been meant by a name that is none: to be suggested, never used."""
        by_name = {_folded(name): item for item in self.roster.schedules() for name in _names(item)}
        found = get_close_matches(
            " ".join(sorted(_stems(words))) or _folded(words), by_name, 1, _CLOSE
        )
        found = found or get_close_matches(_folded(words), by_name, 1, _CLOSE)
        return by_name[found[0]] if found else None

    def of_place(self, place: Place) -> tuple[Schedule, ...]:
        """The schedules that a channel stands for; the only one there is, anywhere."""
        schedules = {item.name: item for item in self.roster.schedules()}
        names = self.places.get(f"{place.platform}:{place.id}", ())
        if not names and len(schedules) == 1:
            return tuple(schedules.values())
        return tuple(schedules[name] for name in names)

    def zone_of(self, person: Person, place: Place, schedule: Schedule | None = None) -> tzinfo:
        """The asker's own zone, else that of the channel's team, of the schedule, of everybody."""
        own = next((item.zone for item in self.people if person.key in item.keys), "")
        team = self.of_place(place)[:1] if place.kind != "private" else ()
        asked = (schedule,) if schedule is not None else ()
        teams = [item.zone for item in (*team, *asked)]
        return ZoneInfo(own or next(iter(teams), self.zone))

    def colleague(self, shift: Shift) -> Colleague | None:
        """Whom a calendar means: by address first, by name when only one person has it."""
        email = shift.email.casefold()
        for item in self.people:
            if email and email in item.emails:
                return item
        name = _folded(shift.person)
        alike = [i for i in self.people if name in map(_folded, (i.name, *i.spellings, *i.emails))]
        return alike[0] if len(alike) == 1 else None

    def mentions(self, shifts: Collection[Shift], platform: str) -> tuple[Person, ...]:
        """The people of `shifts` in a messenger, each once; those without an id there are left
        out."""
        found = [item.on(platform) for shift in shifts if (item := self.colleague(shift))]
        return tuple(dict.fromkeys(person for person in found if person is not None))

    async def report(self, schedule: Schedule, when: When | None = None) -> Report:
        """Who is on call at a moment (by default now) or over a span. Raises RosterDown."""
        start, end = (when.start, when.end) if when else (self.now(), None)
        standing = await self.roster.on_call(schedule.name, start)
        shifts, gaps, moment = list(standing.now), [], start
        for _ in range(_HANDOVERS if end else 0):
            assert end is not None
            until = min(standing.change or end, end)
            if not standing.now and until > moment:
                gaps.append((moment, until))
            if until >= end:
                break
            moment = until
            standing = await self.roster.on_call(schedule.name, moment)
            shifts += [shift for shift in standing.now if not _has(shifts, shift)]
        return Report(
            schedule, start, end, tuple(shifts), tuple(gaps), standing.next, standing.reach,
            standing.freshness,
        )  # fmt: skip

    async def on_duty(self, event: Incoming) -> Duty | None:
        """Who is on call now for the place where something is asked: for a hand-off."""
        shifts: list[Shift] = []
        for schedule in self.of_place(event.place):
            with suppress(RosterDown):
                shifts += (await self.report(schedule)).shifts
        known = [(shift, self.colleague(shift)) for shift in shifts if shift.person]
        names = dict.fromkeys(one.name if one else shift.person for shift, one in known)
        return Duty(tuple(names), self.mentions(shifts, event.place.platform)) if names else None

    async def unmapped(self, platforms: Collection[str]) -> Sequence[str]:
        """Names of people on call now or next who are nobody on any of `platforms`."""
        shifts: list[Shift] = []
        for schedule in self.roster.schedules():
            with suppress(RosterDown):
                standing = await self.roster.on_call(schedule.name, self.now())
                shifts += [*standing.now, *standing.next]
        found: dict[str, None] = {}
        for shift in shifts:
            known = self.colleague(shift)
            if shift.person and not (known and any(map(known.on, platforms))):
                found[known.name if known else shift.person] = None
        return list(found)


def make_watch(settings: OnCallSettings, home: Path) -> Watch | None:
    """The watch over the schedules of the settings; None without any. Nothing is read yet."""
    if not settings.schedules:
        return None
    people = tuple(
        Colleague(item.name, item.emails, item.aliases, item.keys(), item.zone)
        for item in settings.people
    )
    places: dict[str, tuple[str, ...]] = {}
    for item in settings.schedules:
        for place in item.channels:
            places[place] = (*places.get(place, ()), item.name)
    roster: Roster = factory("roster.ical")(
        settings.feeds(),
        home / COPIES,
        known=[word for one in people for word in (one.name, *one.spellings, *one.emails)],
        ca_file=settings.ca_file,
        refresh=settings.refresh,
        timeout=settings.timeout,
    )
    return Watch(roster, people, places, settings.zone)


def _names(schedule: Schedule) -> Iterator[str]:
    yield schedule.name
    yield from schedule.aliases


def _folded(words: str) -> str:
    return " ".join(fold(word) for word in WORD.findall(words))


def _stems(words: str) -> frozenset[str]:
    found = frozenset(stem(fold(word)) for word in WORD.findall(words))
    return found - _GENERIC or found


def _has(shifts: Sequence[Shift], shift: Shift) -> bool:
    """Whether the same time on call stands in `shifts` already."""
    return any(
        (known.person, known.role) == (shift.person, shift.role)
        and (known.end == shift.end or known.start == shift.start)
        for known in shifts
    )
