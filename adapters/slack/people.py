"""Who is who: guests and people of other organisations count as outsiders (and who is unknown).

What Slack says of a person or a channel is kept for a while, so that a question does not wait for
it; a person who became a guest is one at the latest when that time is over.
"""

from __future__ import annotations

import logging
from collections import OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Generic, TypeVar

from adapters.slack.events import Me, PlaceKind
from adapters.slack.options import Options
from adapters.slack.reading import NotGiven, Reading
from bot.chat import Person, Place
from bot.errors import SettingsError

_log = logging.getLogger(__name__)
_T = TypeVar("_T")

_GROUPS = "Give the app the scope usergroups:read, and check the group's id in [[access.groups]]."
_OUTSIDE = ("is_restricted", "is_ultra_restricted", "is_stranger", "deleted")


@dataclass(frozen=True, slots=True)
class Profile:
    """What Slack says of a person. `language` is an IETF tag."""

    name: str = ""
    outsider: bool = True
    is_bot: bool = False
    language: str = ""


@dataclass(frozen=True, slots=True)
class _Channel:
    title: str
    kind: PlaceKind | None
    shared: bool


class _Kept(Generic[_T]):
    """Values by name, each for a time, the newest `size` of them."""

    def __init__(self, size: int, seconds: float, clock: Callable[[], float]) -> None:
        self._size, self._seconds, self._clock = size, seconds, clock
        self._values: OrderedDict[str, tuple[float, _T]] = OrderedDict()

    def get(self, name: str) -> _T | None:
        until, value = self._values.get(name, (0.0, None))
        return value if self._clock() < until else None

    def put(self, name: str, value: _T) -> _T:
        self._values[name] = (self._clock() + self._seconds, value)
        self._values.move_to_end(name)
        while len(self._values) > self._size:
            self._values.popitem(last=False)
        return value


class People:
    """Raises AccessWithdrawn, and DeliveryFailed while Slack cannot be reached."""

    def __init__(self, reading: Reading, options: Options, clock: Callable[[], float]) -> None:
        self._reading = reading
        size, seconds = options.known, options.known_for
        self._profiles: _Kept[Profile] = _Kept(size, seconds, clock)
        self._channels: _Kept[_Channel] = _Kept(size, seconds, clock)
        self._told: set[str] = set()

    async def person(self, known: Person, me: Me) -> tuple[Person, str]:
        """The person with name and standing, and their language."""
        if not known.id:
            return replace(known, outsider=True), ""
        profile = await self.profile(known.id, me)
        name, is_bot, outsider = profile.name, profile.is_bot, profile.outsider
        return replace(known, name=name, is_bot=is_bot, outsider=outsider), profile.language

    async def profile(self, user: str, me: Me) -> Profile:
        found = self._profiles.get(user)
        if found is not None:
            return found
        try:
            told = await self._reading("users.info", user=user, include_locale=True)
        except NotGiven as refusal:
            self._note(f"nobody says who {user} is", refusal)
            return Profile()
        return self._profiles.put(user, _profile(told["user"], me))

    async def place(self, known: Place) -> Place:
        """The place with its title, its kind and whether other organisations read along."""
        if known.kind == "private":
            return known
        channel = self._channels.get(known.id) or await self._channel(known)
        shared = known.outsiders or channel.shared
        kind = channel.kind or known.kind
        return replace(known, title=channel.title, outsiders=shared, kind=kind)

    async def members(self, group: str) -> frozenset[str]:
        """The ids of the people in a user group. Raises SettingsError when Slack does not tell."""
        try:
            told = await self._reading("usergroups.users.list", usergroup=group)
        except NotGiven as refusal:
            raise SettingsError(f"Slack does not tell ({refusal.code})", _GROUPS) from refusal
        return frozenset(str(user) for user in told.get("users") or ())

    async def _channel(self, place: Place) -> _Channel:
        """Without an answer it counts as shared: nothing is shown by accident."""
        try:
            told = await self._reading("conversations.info", channel=place.id)
        except NotGiven as refusal:
            self._note(f"nobody says what {place.id} is", refusal)
            return _Channel("", None, shared=True)
        channel = told["channel"]
        shared = any(channel.get(name) for name in ("is_ext_shared", "is_pending_ext_shared"))
        closed = channel.get("is_private") or channel.get("is_mpim")
        kind: PlaceKind = "group" if closed else "channel"
        described = _Channel(str(channel.get("name", "")), kind, bool(shared))
        return self._channels.put(place.id, described)

    def _note(self, what: str, refusal: NotGiven) -> None:
        """Once for each reason: a missing scope concerns everybody."""
        if refusal.code not in self._told:
            self._told.add(refusal.code)
            _log.warning("%s (%s): they count as outsiders", what, refusal.code)


def _profile(user: Mapping[str, Any], me: Me) -> Profile:
    described = user.get("profile") or {}
    name = described.get("display_name") or user.get("real_name") or user.get("name") or ""
    outside = any(user.get(flag) for flag in _OUTSIDE) or not _is_of(user, me)
    language = str(user.get("locale") or "")
    return Profile(str(name), outside, bool(user.get("is_bot")), language)


def _is_of(user: Mapping[str, Any], me: Me) -> bool:
    """Whether the person belongs to the bot's workspace, or to its organisation."""
    if user.get("team_id") == me.team:
        return True
    organisation = (user.get("enterprise_user") or {}).get("enterprise_id")
    return bool(me.enterprise) and organisation == me.enterprise
