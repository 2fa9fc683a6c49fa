"""Conversations on a loopback Slack, without a platform around them.

    async with talking() as at:
        await at.conversation(at.asks("which port?")).answer(Reply("8081"))
        (answer,) = at.answers()

Time stands still unless a test moves it; whoever waits is woken at once, and time has passed.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import aiohttp
from slack_sdk.web.async_client import AsyncWebClient

from adapters.slack.conversation import SlackConversation
from adapters.slack.line import Line
from adapters.slack.options import Options
from bot.chat import Incoming, Kind, Person, Place
from tests.contract.inbox_events import Clock
from tests.servers.slack_server import Channel, Sent, SlackServer, User

_KINDS: dict[str, Literal["private", "group", "channel"]] = {
    "channel": "channel",
    "group": "group",
    "mpim": "group",
    "im": "private",
}


@dataclass
class At:
    server: SlackServer
    clock: Clock
    line: Line
    waits: list[float] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.ann: User = self.server.user("U0ANN", "Ann")
        self.ops: Channel = self.server.channel("C0OPS", "ops")
        self.direct: Channel = self.server.direct(self.ann)

    def asks(self, text: str = "which port?", channel: Channel | None = None) -> Incoming:
        """A question that begins a thread."""
        channel = channel or self.ops
        ts = self.server.posted(channel, self.ann, text)
        place = Place("slack", channel.id, _KINDS[channel.kind], thread=ts)
        return Incoming(Kind.QUESTION, place, self.person, ts, text=text)

    def commands(self, text: str, uses: str = "r1") -> Incoming:
        """A slash command outside of threads."""
        self.server.responses[uses] = (self.ops, self.ann.id)
        address = self.server.url.replace("/api/", f"/response/{uses}")
        place = Place("slack", self.ops.id, "channel")
        return Incoming(
            Kind.QUESTION, place, self.person, "trigger.1", text, private=True, reference=address
        )

    def presses(self, event: Incoming, uses: str = "r2", **more: Any) -> Incoming:
        self.server.responses[uses] = (self.ops, self.ann.id)
        address = self.server.url.replace("/api/", f"/response/{uses}")
        pressed = {"value": "u:0123456789ab", "message_id": "17.5", "reference": address}
        return replace(event, kind=Kind.PRESS, **{**pressed, **more})

    @property
    def person(self) -> Person:
        return Person("slack", self.ann.id, self.ann.name)

    def conversation(self, event: Incoming) -> SlackConversation:
        return SlackConversation(event, self.line)

    def answers(self, channel: Channel | None = None) -> list[Sent]:
        return self.server.sent(channel or self.ops)


@asynccontextmanager
async def talking(options: Options | None = None, **server: Any) -> AsyncIterator[At]:
    clock = Clock()
    waits: list[float] = []

    async def sleep(seconds: float) -> None:
        waits.append(seconds)
        clock.advance(seconds)

    async with (
        SlackServer(clock=clock, now=clock, **server) as slack,
        aiohttp.ClientSession() as session,
    ):
        client = AsyncWebClient(slack.token, slack.url, session=session, retry_handlers=[])
        line = Line(client, options or Options(), clock, sleep, "T0TEAM", "U0BOT")
        yield At(slack, clock, line, waits)
