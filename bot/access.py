"""Who may talk to the bot: people and places that an admin has let in, nobody else.

An unknown person or place learns only how to ask for access: a short code that an admin passes
to `/allow` or `belay allow`. While there is no admin at all, the code that `belay run` prints
makes the first person who sends it one.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from typing import Protocol

from bot.chat import Incoming, Person, Place
from graph.model import LEVELS, Scope, levels_up_to

CODE_LIFE = timedelta(hours=1)
CODE_LENGTH = 8
_ALPHABET = "ABCDEFGHJKMNPQRSTUVWXYZ23456789"  # no letters or digits that look alike


class Role(StrEnum):
    ADMIN = "admin"
    MEMBER = "member"
    STRANGER = "stranger"


@dataclass(frozen=True, slots=True)
class Grant:
    """An entry of the roll: `key` is a person ("telegram:42") or a place ("telegram:-100:chat")."""

    key: str
    level: str = LEVELS[0]
    admin: bool = False
    by: str = ""  # the admin's key, or "cli", "settings", "pairing"
    at: datetime | None = None


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


class Access:
    """Decides for every event. Admins from the settings need no entry in the roll."""

    def __init__(
        self,
        roll: Roll,
        admins: frozenset[str],
        *,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
        private_names: frozenset[str] = frozenset(),
    ) -> None:
        self._roll = roll
        self._admins = admins
        self._now = now
        self._private_names = private_names

    async def role(self, person: Person) -> Role:
        """Bots are strangers, whatever the roll says."""
        if person.is_bot:
            return Role.STRANGER
        if person.key in self._admins:
            return Role.ADMIN
        grant = await self._roll.grant(person.key)
        if grant is None:
            return Role.STRANGER
        return Role.ADMIN if grant.admin else Role.MEMBER

    async def scope(self, event: Incoming) -> Scope | None:
        """What everybody who reads the answer may see; None when nobody let them in.

        In private that is the person's own level, in a group the level the place was let in with:
        an admin who asks in a group sees what the group may see. Whoever asks in a group for an
        answer to themselves gets their own level, or that of the group when they have none. A
        guest in a group needs to be let in by name, and sees no more than both levels allow.
        """
        if event.person.is_bot:
            return None
        if event.place.kind == "private" or event.private:
            own = await self._own_level(event.person)
            if own is not None or is_personal(event):
                return self._scope(own, event) if own else None
        grant = await self._roll.grant(place_key(event.place))
        level = grant.level if grant else None
        if level is not None and is_personal(event):
            own = await self._own_level(event.person)
            level = min(level, own, key=LEVELS.index) if own else None
        return self._scope(level, event) if level else None

    async def _own_level(self, person: Person) -> str | None:
        if person.key in self._admins:
            return LEVELS[-1]
        grant = await self._roll.grant(person.key)
        return grant.level if grant else None

    def _scope(self, level: str, event: Incoming) -> Scope:
        return Scope(
            levels=levels_up_to(level),
            now=self._now(),
            place=talk_key(event),
            private_names=self._private_names,
        )

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
        await self._save(Grant(person.key, LEVELS[-1], admin=True, by="pairing"))
        return True

    async def allow(self, what: str, by: str, *, level: str = "", admin: bool = False) -> str:
        """Lets in who asked with the code `what`, or the key itself ("telegram:42"); returns the
        key, or "" for a code that is unknown or has expired. Raises ValueError for a level that
        does not exist."""
        if level and level not in LEVELS:
            raise ValueError(f"there is no level {level!r}; use one of {', '.join(LEVELS)}")
        key = what if ":" in what else await self._key_of(what)
        if key:
            default = LEVELS[-1] if admin else LEVELS[0]
            await self._save(Grant(key, level or default, admin, by))
        return key

    async def _key_of(self, text: str) -> str:
        code = await self._roll.redeem(normalised(text), self._now())
        return code.key if code else ""

    async def _save(self, grant: Grant) -> None:
        await self._roll.save(replace(grant, at=self._now()))

    async def moved(self, old: Place, new_id: str) -> None:
        """A group became a supergroup: it keeps what it was granted."""
        await self._roll.rename(place_key(old), place_key(replace(old, id=new_id)))


def normalised(code: str) -> str:
    """Codes as people type them: any case, blanks and hyphens."""
    return "".join(letter for letter in code.upper() if letter in _ALPHABET)
