"""Slack's notices as events of the application. Pure: nothing is asked or sent.

What is not for the bot is None: other bots, its own messages, joins, previews of links. A message
that mentions nobody may still be for the bot, in a thread that it follows: it comes out with
`addressed` off. `app_mention` and `message` of one text are the same event. Message ids: a press
is named by its time, a slash command by its trigger, what happens to a place by the event's time.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Literal

from adapters.slack.file_objects import attachments_of
from adapters.slack.words import Json, forwarded, mentions, question, typed
from bot.chat import Incoming, Kind, Person, Place, Quote

PLATFORM = "slack"

_SAID = frozenset({None, "file_share", "thread_broadcast", "me_message"})
PlaceKind = Literal["private", "group", "channel"]

_KINDS: Mapping[str, PlaceKind] = {
    "im": "private",
    "app_home": "private",
    "mpim": "group",
    "group": "group",
    "channel": "channel",
}
_SLACKBOT = "USLACKBOT"
_HELP = "help"


@dataclass(frozen=True, slots=True)
class Me:
    """The bot in its workspace, as auth.test tells. `enterprise` is the organisation's id,
    `url` the workspace's address."""

    user: str
    team: str
    bot: str = ""
    enterprise: str = ""
    url: str = ""


@dataclass(frozen=True, slots=True)
class HomeOpened:
    person: Person


@dataclass(frozen=True, slots=True)
class AssistantOpened:
    """Somebody opened the pane beside a channel: a new thread in their direct messages."""

    place: Place
    person: Person


@dataclass(frozen=True, slots=True)
class Withdrawn:
    """The workspace took the app's access back. `how` is "uninstalled" or "revoked"."""

    how: Literal["uninstalled", "revoked"]


Notice = Incoming | HomeOpened | AssistantOpened | Withdrawn


def notice(kind: str, body: Json, me: Me, now: datetime) -> Notice | None:
    """`kind` is that of a Socket Mode envelope: events_api, slash_commands or interactive.

    Raises KeyError, TypeError, ValueError, AttributeError for what is no such notice.
    """
    if kind == "slash_commands":
        return _command(body, me, now)
    if kind == "interactive":
        return _press(body, me) if body.get("type") == "block_actions" else None
    event = body["event"]
    read = _EVENTS.get(event.get("type"))
    return read(event, me, body.get("is_ext_shared_channel") is True) if read else None


def moment(ts: str) -> datetime:
    """The time in the name of a message. Raises ValueError."""
    return datetime.fromtimestamp(float(ts), UTC)


def _message(event: Json, me: Me, shared: bool) -> Incoming | None:
    match event.get("subtype"):
        case "message_changed":
            return _edit(event, me, shared)
        case "message_deleted":
            old = event.get("previous_message") or {}
            return _taken_back(event, old, str(event["deleted_ts"]), me, shared)
        case subtype if subtype in _SAID and not event.get("hidden"):
            return _said(event, event, me, shared)
    return None


def _said(event: Json, message: Json, me: Me, shared: bool) -> Incoming | None:
    """A message as a question; `event` says where it was said."""
    person = _author(message, me)
    if person is None:
        return None
    place = _place(event, message, shared)
    named, text = mentions(message, me.user), question(message, me.user)
    addressed = named.me or place.kind == "private"
    if not addressed and (named.others or place.thread == message["ts"]):
        return None
    passed_on, author = forwarded(message)
    return Incoming(
        Kind.QUESTION,
        place,
        person,
        str(message["ts"]),
        text=text,
        at=moment((message.get("edited") or message)["ts"]),
        addressed=addressed,
        quote=Quote(passed_on, author) if passed_on else None,
        attachments=tuple(str(file.get("name") or "file") for file in message.get("files") or ()),
        files=attachments_of(message),
    )


def _edit(event: Json, me: Me, shared: bool) -> Incoming | None:
    """New words of a message. Slack also calls it a change when it shows a preview of a link,
    counts replies, or leaves a gap where a message was deleted."""
    new, old = event["message"], event.get("previous_message") or {}
    if new.get("subtype") == "tombstone":
        return _taken_back(event, old, str(new["ts"]), me, shared)
    person, same = _author(new, me), new.get("text") == old.get("text")
    if person is None or same or new.get("subtype") not in _SAID or "edited" not in new:
        return None
    place = _place(event, new, shared)
    added = mentions(new, me.user).me and not mentions(old, me.user).me
    return Incoming(
        Kind.EDIT,
        place,
        person,
        str(new["ts"]),
        text=question(new, me.user),
        at=moment(new["edited"]["ts"]),
        addressed=added or place.kind == "private",
        attachments=tuple(str(file.get("name") or "file") for file in new.get("files") or ()),
        files=attachments_of(new),
    )


def _taken_back(event: Json, old: Json, ts: str, me: Me, shared: bool) -> Incoming | None:
    person = _author(old, me)
    if person is None:
        return None
    place = _place(event, {"ts": ts, "thread_ts": old.get("thread_ts")}, shared)
    return Incoming(Kind.DELETE, place, person, ts, at=moment(str(event.get("ts") or ts)))


def _author(message: Json, me: Me) -> Person | None:
    """Whoever wrote; None for bots, this one included."""
    user = message.get("user")
    by_bot = message.get("bot_id") or message.get("subtype") == "bot_message"
    if not user or by_bot or user in (me.user, _SLACKBOT):
        return None
    team = message.get("user_team") or message.get("source_team") or message.get("team")
    return _person(str(user), team, me)


def _person(user: str, team: Any, me: Me) -> Person:
    """In an organisation of several workspaces, another team is no other company: people.py
    looks there."""
    stranger = bool(team) and team != me.team and not me.enterprise
    return Person(PLATFORM, user, outsider=stranger)


def _place(event: Json, message: Json, shared: bool) -> Place:
    channel = str(event["channel"])
    kind = _KINDS.get(str(event.get("channel_type")), _kind_of(channel))
    thread = str(message.get("thread_ts") or message["ts"])
    return Place(PLATFORM, channel, kind, thread, outsiders=shared)


def _kind_of(channel: str) -> PlaceKind:
    """As far as an id tells: private channels have begun with C for years."""
    return (
        "private" if channel.startswith("D") else "group" if channel.startswith("G") else "channel"
    )


def _joined(event: Json, me: Me, shared: bool) -> Incoming | None:
    inviter = event.get("inviter") if event.get("user") == me.user else None
    return _change(Kind.ADDED, event, str(inviter), shared) if inviter else None


def _left(event: Json, me: Me, shared: bool) -> Incoming:
    return _change(Kind.REMOVED, event, str(event.get("actor_id") or me.user), shared)


def _change(kind: Kind, event: Json, person: str, shared: bool) -> Incoming:
    channel, ts = str(event["channel"]), str(event["event_ts"])
    place = Place(PLATFORM, channel, _kind_of(channel), outsiders=shared)
    return Incoming(kind, place, Person(PLATFORM, person), ts, at=moment(ts))


def _renamed(event: Json, me: Me, shared: bool) -> Incoming:
    """A channel got another id, as private ones do when they are shared."""
    old, ts = str(event["old_channel_id"]), str(event["event_ts"])
    place, new = Place(PLATFORM, old, _kind_of(old)), str(event["new_channel_id"])
    return Incoming(Kind.MOVED, place, Person(PLATFORM, ""), ts, at=moment(ts), moved_to=new)


def _command(body: Json, me: Me, now: datetime) -> Incoming:
    """A slash command: its sub-word becomes the command; without one it is a call for help."""
    channel = str(body["channel_id"])
    name = str(body.get("channel_name", ""))
    closed = name == "privategroup" or name.startswith("mpdm-")
    kind = "group" if closed else _kind_of(channel)
    words = typed(str(body.get("text") or "")).strip().lstrip("/") or _HELP
    return Incoming(
        Kind.QUESTION,
        Place(PLATFORM, channel, kind),
        _person(str(body["user_id"]), None, me),
        str(body["trigger_id"]),
        text=f"/{words}",
        at=now,
        reference=str(body.get("response_url", "")),
        private=True,
    )


def _press(body: Json, me: Me) -> Incoming | None:
    action, container = body["actions"][0], body.get("container") or {}
    value = action.get("value") or (action.get("selected_option") or {}).get("value")
    channel = (body.get("channel") or {}).get("id") or container.get("channel_id")
    if not value or not channel:
        return None
    message = body.get("message") or {}
    thread = message.get("thread_ts") or container.get("thread_ts")
    if not thread and not container.get("is_ephemeral"):
        thread = message.get("ts") or container.get("message_ts")
    user = body["user"]
    return Incoming(
        Kind.PRESS,
        Place(PLATFORM, str(channel), _kind_of(str(channel)), str(thread or "")),
        _person(str(user["id"]), user.get("team_id"), me),
        str(action["action_ts"]),
        at=moment(action["action_ts"]),
        value=str(value),
        reference=str(body.get("response_url", "")),
        private=container.get("is_ephemeral") is True,
    )


def _home(event: Json, me: Me, shared: bool) -> HomeOpened | None:
    return HomeOpened(Person(PLATFORM, str(event["user"]))) if event.get("tab") == "home" else None


def _assistant(event: Json, me: Me, shared: bool) -> AssistantOpened:
    thread = event["assistant_thread"]
    place = Place(PLATFORM, str(thread["channel_id"]), "private", str(thread["thread_ts"]))
    return AssistantOpened(place, Person(PLATFORM, str(thread["user_id"])))


def _uninstalled(event: Json, me: Me, shared: bool) -> Withdrawn:
    return Withdrawn("uninstalled")


def _revoked(event: Json, me: Me, shared: bool) -> Withdrawn | None:
    """Tokens of people are none of the bot's."""
    return Withdrawn("revoked") if event.get("tokens", {}).get("bot") else None


_EVENTS: Mapping[str, Callable[[Json, Me, bool], Notice | None]] = {
    "message": _message,
    "app_mention": lambda event, me, shared: _said(event, event, me, shared),
    "app_home_opened": _home,
    "app_uninstalled": _uninstalled,
    "assistant_thread_started": _assistant,
    "channel_archive": _left,
    "channel_deleted": _left,
    "channel_id_changed": _renamed,
    "channel_left": _left,
    "group_archive": _left,
    "group_deleted": _left,
    "group_left": _left,
    "member_joined_channel": _joined,
    "tokens_revoked": _revoked,
}

HEARD = frozenset(_EVENTS)
"""The types of the events that are read."""

SUBSCRIBED = HEARD - {"message"} | {
    "message.channels",
    "message.groups",
    "message.im",
    "message.mpim",
}
"""The events that the app must be subscribed to; the manifest lists them."""
