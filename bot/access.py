"""Who may talk to the bot: people and places that an admin has let in, nobody else.

An unknown person or place learns only how to ask for access: a short code that an admin passes
to `/allow` or `belay allow`. While there is no admin at all, the code that `belay run` prints
makes the first person who sends it one.
"""

from __future__ import annotations

import secrets
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from typing import Protocol

from bot.audience import Directory, Reader, scope_of
from bot.chat import Incoming, Person, Place
from graph.model import EVERYBODY, LEVELS, Scope

CODE_LIFE = timedelta(hours=1)
CODE_LENGTH = 8
_ALPHABET = "ABCDEFGHJKMNPQRSTUVWXYZ23456789"  # no letters or digits that look alike


class Role(StrEnum):
    ADMIN = "admin"
    MEMBER = "member"
    STRANGER = "stranger"


@dataclass(frozen=True, slots=True)
class Grant:
    """An entry of the roll: `key` is a person ("telegram:42") or a place ("telegram:-100:chat").

    Without labels it opens what is open to all labels; `tenant` is "" for the settings' own.
    """

    key: str
    level: str = LEVELS[0]
    admin: bool = False
    by: str = ""  # the admin's key, or "cli", "settings", "pairing"
    at: datetime | None = None
    labels: frozenset[str] = frozenset()
    tenant: str = ""


@dataclass(frozen=True, slots=True)
class Code:
    """A request for access. `key` is empty in the code that makes the first admin."""

    text: str
    key: str
    expires: datetime


class Roll(Protocol):
    """The stored list of those who were let in. All methods raise StorageError."""

    async def grant(self, key: str) -> Grant | None: ...

    async def grants(self) -> list[Grant]: ...

    async def save(self, grant: Grant) -> None: ...

    async def revoke(self, key: str) -> bool: ...

    async def save_code(self, code: Code) -> None:
        """Replaces an earlier code for the same key."""

    async def code_for(self, key: str) -> Code | None: ...

    async def redeem(self, text: str, now: datetime) -> Code | None:
        """Takes a code that has not expired out of the list; None for any other."""

    async def rename(self, old: str, new: str) -> None:
        """A place has a new id: what was granted to it moves, and its code."""


def place_key(place: Place) -> str:
    """A place as an entry of the roll; topics share their chat's. A place that other
    organisations share is another one: what was granted before they came does not hold there."""
    return f"{place.platform}:{place.id}:{'shared' if place.outsiders else 'chat'}"


def talk_key(event: Incoming, *, told: bool = False) -> str:
    """The talk whose earlier turns may be recalled where `event` is asked: that of its channel, or
    all that is said in private with one person.

    With `told` the talk that its turns belong to: what is answered in private, in the middle of a
    channel, is no part of the channel's.
    """
    if event.place.kind == "private" or (told and event.private):
        return f"{event.person.key}:private"
    return place_key(event.place)


def is_personal(event: Incoming) -> bool:
    """Whether access is a matter of the person and not of the place: in private, and for a guest
    among people of the organisation."""
    return event.place.kind == "private" or (event.person.outsider and not event.place.outsiders)


Groups = Callable[[Person], Awaitable[frozenset[str]]]
"""The keys of the directory's groups that a person is in; none when it cannot be found out."""


async def no_groups(_: Person) -> frozenset[str]:
    return frozenset()


class Access:
    """Decides for every event. Who is named in the settings needs no entry in the roll, and has
    the rights of the settings whatever the roll says."""

    def __init__(
        self,
        roll: Roll,
        admins: frozenset[str],
        *,
        directory: Directory | None = None,
        groups: Groups = no_groups,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
        private_names: frozenset[str] = frozenset(),
    ) -> None:
        self._roll = roll
        self._admins = admins
        self._directory = directory or Directory()
        self._groups = groups
        self._now = now
        self._private_names = private_names

    async def role(self, person: Person) -> Role:
        """Bots are strangers, whatever the roll says."""
        if person.is_bot:
            return Role.STRANGER
        if person.key in self._admins:
            return Role.ADMIN
        grant = await self._roll.grant(person.key)
        if grant is not None and grant.admin:
            return Role.ADMIN
        known = await self._reader(person)
        return Role.STRANGER if known is None or known.guest else Role.MEMBER

    async def admins(self) -> frozenset[str]:
        """The keys of all admins: of the settings, and of the roll. Raises StorageError."""
        return self._admins.union(grant.key for grant in await self._roll.grants() if grant.admin)

    async def admits(self, event: Incoming) -> bool:
        """Whether a question may be asked there at all. Raises StorageError."""
        return await self.scope(event) is not None

    async def scope(self, event: Incoming) -> Scope | None:
        """What everybody who reads the answer may see; None when nobody let them in.

        In private those are the person's own rights, in a group the rights the place was let in
        with: an admin who asks in a group sees what the group may see. Whoever asks in a group for
        an answer to themselves gets their own rights, or those of the group when they have none. A
        guest in a group needs to be let in by name, and sees no more than both allow. Where the
        settings list the members of a place, what every one of them may see counts.
        """
        if event.person.is_bot:
            return None
        audience = await self._audience(event)
        asked = Scope(now=self._now(), place=talk_key(event), private_names=self._private_names)
        return scope_of(audience, self._directory.levels, asked)

    async def _audience(self, event: Incoming) -> Sequence[Reader]:
        """Everybody who reads the answer; nobody when one of them is unknown."""
        own = await self._reader(event.person)
        alone = event.place.kind == "private" or event.private
        if alone and (own is not None or is_personal(event)):
            return _known([own])
        here = await self._readers(event.place)
        named = event.person.key in self._directory.people
        if here and (named or is_personal(event) or self._lists_members(event.place)):
            return _known([*here, own])
        return here

    async def _readers(self, place: Place) -> Sequence[Reader]:
        """Who may be where the answer is shown. What the settings say of a place holds for it
        without outsiders; with them it needs a grant of its own."""
        rule = self._directory.places.get(_spot(place))
        if rule is None or place.outsiders:
            grant = await self._roll.grant(place_key(place))
            return _known([self._granted(grant)])
        members = [await self._reader(_person(key)) for key in rule.members]
        return _known([*members, rule.reader] if rule.reader else members)

    def _lists_members(self, place: Place) -> bool:
        rule = self._directory.places.get(_spot(place))
        return rule is not None and bool(rule.members)

    async def _reader(self, person: Person) -> Reader | None:
        """The rights of a person: of the settings, or else of the roll, with their groups'."""
        known = self._directory.people.get(person.key)
        if known is None and person.key in self._admins:
            return self._directory.highest
        if known is None:
            known = self._granted(await self._roll.grant(person.key))
        if not self._directory.groups or (known is not None and known.guest):
            return known
        if person.outsider:  # a group of the organisation says nothing of them
            return known
        return self._directory.joined(known, await self._groups(person))

    def _granted(self, grant: Grant | None) -> Reader | None:
        if grant is None:
            return None
        labels = grant.labels or frozenset({EVERYBODY} if grant.admin else ())
        return Reader(grant.level, labels, grant.tenant or self._directory.tenant)

    async def code(self, event: Incoming) -> Code:
        """The code by which this person, or this group, can be let in; the same within its life."""
        return await self._code(event.person.key if is_personal(event) else place_key(event.place))

    async def first_code(self) -> Code | None:
        """The code that makes its first user admin; None when there is an admin already."""
        if self._admins or any(grant.admin for grant in await self._roll.grants()):
            return None
        return await self._code("")

    async def _code(self, key: str) -> Code:
        known = await self._roll.code_for(key)
        if known is not None and known.expires > self._now():
            return known
        text = "".join(secrets.choice(_ALPHABET) for _ in range(CODE_LENGTH))
        code = Code(text, key, self._now() + CODE_LIFE)
        await self._roll.save_code(code)
        return code

    async def pair(self, text: str, person: Person) -> bool:
        """Makes `person` the first admin when `text` is the printed code."""
        if await self.first_code() is None or person.is_bot:
            return False
        code = await self._roll.redeem(normalised(text), self._now())
        if code is None or code.key:
            return False
        await self._save(Grant(person.key, self.levels[-1], admin=True, by="pairing"))
        return True

    @property
    def levels(self) -> tuple[str, ...]:
        """The ladder, lowest first."""
        return self._directory.levels

    def by_settings(self, key: str) -> bool:
        """Whether the settings say what this person or place may read; the roll then does not."""
        place = key.rpartition(":")[0] if key.endswith(":chat") else ""
        return key in self._directory.people or place in self._directory.places

    async def allow(
        self,
        what: str,
        by: str,
        *,
        level: str = "",
        admin: bool = False,
        labels: frozenset[str] = frozenset(),
        tenant: str = "",
    ) -> str:
        """Lets in who asked with the code `what`, or the key itself ("telegram:42"); returns the
        key, or "" for a code that is unknown or has expired. Raises ValueError for a level that
        does not exist."""
        if level and level not in self.levels:
            raise ValueError(f"there is no level {level!r}; use one of {', '.join(self.levels)}")
        key = what if ":" in what else await self._key_of(what)
        if key:
            default = self.levels[-1] if admin else self.levels[0]
            grant = Grant(key, level or default, admin, by, labels=labels, tenant=tenant)
            await self._save(grant)
        return key

    async def _key_of(self, text: str) -> str:
        code = await self._roll.redeem(normalised(text), self._now())
        return code.key if code else ""

    async def _save(self, grant: Grant) -> None:
        await self._roll.save(replace(grant, at=self._now()))

    async def moved(self, old: Place, new_id: str) -> None:
        """A group became a supergroup: it keeps what it was granted."""
        await self._roll.rename(place_key(old), place_key(replace(old, id=new_id)))


def _known(readers: Sequence[Reader | None]) -> Sequence[Reader]:
    """Nobody when one of them is unknown: what they may see is not known either."""
    known = [reader for reader in readers if reader is not None]
    return known if len(known) == len(readers) else ()


def _spot(place: Place) -> str:
    """A place as the settings write it."""
    return f"{place.platform}:{place.id}"


def _person(key: str) -> Person:
    platform, _, name = key.partition(":")
    return Person(platform, name)


def normalised(code: str) -> str:
    """Codes as people type them: any case, blanks and hyphens."""
    return "".join(letter for letter in code.upper() if letter in _ALPHABET)
