"""A workspace of the loopback Slack: people, channels and what was said in them."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

Json = dict[str, Any]

BOT_USER, BOT_ID, APP_ID, TEAM = "U0BOT", "B0BOT", "A0BELAY", "T0TEAM"
OTHER_TEAM = "T0OTHER"


class Refused(Exception):
    """A method's error, as Slack names it. More of the response in `fields`."""

    def __init__(self, error: str, **fields: Any) -> None:
        super().__init__(error)
        self.error, self.fields = error, fields


@dataclass(frozen=True)
class User:
    """`flags` are Slack's own: is_restricted, is_ultra_restricted, is_stranger, is_bot, deleted."""

    id: str
    name: str
    team: str = TEAM
    locale: str = "en-US"
    flags: Mapping[str, bool] = field(default_factory=dict)

    @property
    def json(self) -> Json:
        return {
            "id": self.id,
            "team_id": self.team,
            "name": self.name.lower().replace(" ", "."),
            "real_name": self.name,
            "profile": {"display_name": self.name, "real_name": self.name, "team": self.team},
            "tz": "Europe/Berlin",
            "locale": self.locale,
            "is_bot": False,
            "is_restricted": False,
            "is_ultra_restricted": False,
            **({"is_stranger": True} if self.team != TEAM else {}),
            **self.flags,
        }


@dataclass
class Channel:
    id: str
    name: str
    kind: Literal["channel", "group", "mpim", "im"] = "channel"
    shared: bool = False  # with another organisation
    member: bool = True  # the bot is
    archived: bool = False
    user: str = ""  # of a direct message

    @property
    def json(self) -> Json:
        return {
            "id": self.id,
            "name": self.name,
            "is_channel": self.kind == "channel",
            "is_group": self.kind == "group",
            "is_im": self.kind == "im",
            "is_mpim": self.kind == "mpim",
            "is_private": self.kind != "channel",
            "is_ext_shared": self.shared,
            "is_shared": self.shared,
            "is_org_shared": False,
            "is_archived": self.archived,
            "is_member": self.member,
            **({"user": self.user} if self.user else {}),
        }


@dataclass(frozen=True)
class Sent:
    """A message of the bot as it is seen now. `to` is who alone sees an ephemeral one."""

    channel: str
    ts: str
    text: str = ""
    markdown: str = ""
    blocks: tuple[Json, ...] = ()
    thread: str = ""
    to: str = ""
    edits: int = 0
    streamed: bool = False
    streaming: bool = False  # not finished yet
    by_response: bool = False  # came through a response_url

    @property
    def shown(self) -> str:
        """What a reader sees, block by block."""
        return "\n".join(filter(None, [self.markdown, *map(_words, self.blocks)])) or self.text

    @property
    def buttons(self) -> list[Json]:
        found: list[Json] = []
        for block in self.blocks:
            for element in block.get("elements", []):
                if element["type"] == "button":
                    found.append(element)
                elif element["type"] == "feedback_buttons":
                    found += [element["positive_button"], element["negative_button"]]
        return found


@dataclass(frozen=True)
class Stream:
    opened: float
    recipient: str


class Workspace:
    """All state. `clock` gives seconds that only grow; message names grow with `now`."""

    def __init__(self, clock: Callable[[], float], now: Callable[[], float]) -> None:
        self.clock, self.now = clock, now
        self.users: dict[str, User] = {}
        self.groups: dict[str, list[str]] = {}  # user groups: ids of their members
        self.channels: dict[str, Channel] = {}
        self.messages: dict[str, dict[str, Json]] = {}
        self.sent: dict[str, Sent] = {}  # by ts
        self.deleted: set[str] = set()
        self.ephemeral: list[Sent] = []
        self.streams: dict[str, Stream] = {}
        self.files: dict[str, tuple[Json, bytes]] = {}
        self._serial = itertools.count(1)
        self.add_user(User(BOT_USER, "Belay", flags={"is_bot": True}))

    def add_user(self, user: User) -> User:
        self.users[user.id] = user
        return user

    def add_channel(self, channel: Channel) -> Channel:
        self.channels[channel.id] = channel
        self.messages[channel.id] = {}
        return channel

    def new_ts(self) -> str:
        return f"{int(self.now())}.{next(self._serial):06d}"

    def channel(self, name: Any) -> Channel:
        """Raises Refused."""
        found = self.channels.get(str(name))
        if found is None:
            raise Refused("channel_not_found")
        return found

    def open_channel(self, name: Any) -> Channel:
        """One that the bot may write to. Raises Refused."""
        channel = self.channel(name)
        if channel.archived:
            raise Refused("is_archived")
        if not channel.member:
            raise Refused("not_in_channel" if channel.kind == "channel" else "channel_not_found")
        return channel

    def store(self, channel: Channel, message: Json) -> Json:
        self.messages[channel.id][message["ts"]] = message
        return message

    def thread(self, channel: Channel, root: str) -> list[Json]:
        """The message `root` and its replies, oldest first. Raises Refused."""
        known = self.messages[channel.id]
        if root not in known:
            raise Refused("thread_not_found")
        return [m for ts, m in sorted(known.items()) if root in (ts, m.get("thread_ts"))]


def _words(block: Json) -> str:
    """The text inside a block, whatever its type."""
    text = block.get("text")
    own = text if isinstance(text, str) else (text or {}).get("text", "")
    if block["type"] in ("actions", "context_actions", "button", "feedback_buttons"):
        return ""
    inner = [
        item for name in ("elements", "fields", "child_blocks") for item in block.get(name, [])
    ]
    cells = [cell for row in block.get("rows", []) for cell in row]
    return "\n".join(filter(None, [own, *(_words({"type": "", **i}) for i in (*inner, *cells))]))
