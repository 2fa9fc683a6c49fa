"""The bot on a loopback Slack: the real desk and platform, a handler of the test's own.

    async with office(answer_with("It is 8081.")) as at:
        await at.server.says(at.ops, at.ann, f"{MENTION} which port?")
        (answer,) = await at.answered(at.ops)

Time stands still unless a test moves it; only requests are signed at the time that it is, which
Bolt compares.
"""

from __future__ import annotations

import asyncio
import time as wall
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

from adapters.memory.inbox import MemoryInbox
from adapters.memory.threads import MemoryThreads
from adapters.slack.factory import create
from adapters.slack.lookups import everybody
from adapters.slack.options import Options
from adapters.slack.platform import Slack
from adapters.slack.webhook import PATH
from bot.chat import Incoming, Place, Reply
from bot.delivery import Mailbox
from bot.desk_options import DeskOptions
from bot.home import Page, Pages, Section
from bot.http import HttpServer, Listening
from bot.inbox import Desk
from bot.ports import Conversation, Sink
from bot.threads import FollowedThreads
from tests.bot.desk_kit import Time, settle
from tests.contract.inbox_events import Clock
from tests.servers.slack_server import Channel, Sent, SlackServer

Handle = Callable[[Incoming, Conversation], Awaitable[None]]
_PATIENCE = 20.0  # seconds, until a test has failed


def answer_with(markdown: str, **more: Any) -> Handle:
    async def handle(event: Incoming, conversation: Conversation) -> None:
        await conversation.answer(Reply(markdown, **more))

    return handle


async def echo(event: Incoming, conversation: Conversation) -> None:
    await conversation.answer(Reply(f"re: {event.text}"))


async def some_page(person: Any, language: str) -> Page:
    section = Section("Read", ("runbooks: 3 files", "`/belay help` helps & <@U0CEO>"))
    return Page(f"Hello {person.name or person.id}, {language}", (section,))


@dataclass
class At:
    """A running bot, and whoever is around it. `seen` are the events as they were worked on."""

    server: SlackServer
    time: Time
    slack: Slack
    desk: Desk
    inbox: Mailbox
    threads: FollowedThreads
    http: HttpServer
    seen: list[Incoming]
    gone: list[Place]
    working: list[Incoming]
    receiving: asyncio.Task[None]

    def __post_init__(self) -> None:
        self.ann = self.server.user("U0ANN", "Ann")
        self.boris = self.server.user("U0BORIS", "Boris")
        self.ops = self.server.channel("C0OPS", "ops")
        self.direct = self.server.direct(self.ann)

    async def until(self, condition: Callable[[], Any]) -> None:
        """Lets everybody go on until the condition holds."""
        async with asyncio.timeout(_PATIENCE):
            while not condition():
                await asyncio.sleep(0)

    async def answered(self, channel: Channel, count: int = 1) -> list[Sent]:
        """The bot's messages in a channel, when there are so many and nothing is open any more."""
        await self.until(lambda: len(self.server.sent(channel)) >= count)
        await self.idle()
        assert len(self.server.sent(channel)) == count, self.server.sent(channel)
        return self.server.sent(channel)

    async def reconnected(self, before: object) -> None:
        """Time passes until the bot has one connection, and that is not `before`."""
        sockets = self.server.notices.sockets
        async with asyncio.timeout(_PATIENCE):
            while len(sockets) != 1 or sockets[0] is before:
                await self.time.advance(1)

    async def idle(self) -> None:
        """Waits until every event was worked on."""
        async with asyncio.timeout(_PATIENCE):
            while await self.inbox.waiting() or self.working:
                await asyncio.sleep(0)
        await settle()


@asynccontextmanager
async def office(
    handle: Handle = echo,
    *,
    server: SlackServer | None = None,
    inbox: Mailbox | None = None,
    sink: Callable[[Desk], Sink] = lambda desk: desk,
    http: bool = False,
    follows: bool = True,
    pages: Pages = some_page,
    options: Options | None = None,
    reads: Callable[[Incoming], Awaitable[bool]] = everybody,
    completes: bool = True,
    **desk: Any,
) -> AsyncIterator[At]:
    """Everything but `server` and `handle` as the product wires it; the desk's time and the
    platform's are the test's. `http`: by signed requests instead of a socket."""
    clock = Clock()
    time = Time(clock)
    box, threads = inbox or MemoryInbox(clock=clock), MemoryThreads()
    seen: list[Incoming] = []
    gone: list[Place] = []
    working: list[Incoming] = []

    async with (
        server or SlackServer(clock=clock, now=clock) as running,
        HttpServer(Listening(port=0)) as web,
    ):
        running.notices.now = wall.time
        slack = create(
            running.token,
            app_token="" if http else running.app_token,
            signing_secret=running.secret,
            api_url=running.url,
            http=web,
            threads=threads if follows else None,
            pages=pages,
            reads=reads,
            options=options,
            clock=clock,
            now=clock,
            sleep=time.sleep,
        )

        async def handler(
            event: Incoming, conversation: Conversation, attempt: int, *, late: bool
        ) -> None:
            working.append(event)
            try:
                whole = await slack.completed(event) if completes else event
                seen.append(whole)
                await handle(whole, conversation)
            finally:
                working.remove(event)

        async def closed(place: Place) -> None:
            gone.append(place)

        chair = Desk(
            box,
            slack.conversation,
            handler,
            options=DeskOptions(late_after=1e12, **desk),
            gone=closed,
            clock=clock,
            sleep=time.sleep,
        )
        try:
            async with asyncio.TaskGroup() as group:
                working_desk = group.create_task(chair.run())
                receiving = group.create_task(slack.run(sink(chair)))
                running.notices.url = f"http://127.0.0.1:{web.port}{PATH}" if http else ""
                await running.until(lambda: running.called("auth.test"))
                if not http:
                    await running.notices.connected()
                at = At(
                    running, time, slack, chair, box, threads, web, seen, gone, working, receiving
                )
                yield at
                working_desk.cancel()
                receiving.cancel()
        finally:
            await slack.close()
