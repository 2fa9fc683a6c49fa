"""The bot on a loopback Telegram: the real desk and platform, a handler of the test's own.

    async with office(answer_with("It is 8081.")) as at:
        question = at.server.says(at.ops, at.anna, "/ask which port?")
        (answer,) = await at.answered(at.ops)

Time stands still unless a test moves it.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

from adapters.memory.inbox import MemoryInbox
from adapters.telegram.factory import open_bot
from adapters.telegram.options import Options
from adapters.telegram.platform import Hook, Telegram
from bot.chat import Incoming, Place, Reply
from bot.delivery import Mailbox
from bot.desk_options import DeskOptions
from bot.http import HttpServer, Listening
from bot.inbox import Desk
from bot.ports import Conversation, Sink
from bot.work import Handler
from tests.bot.desk_kit import Time, settle
from tests.contract.inbox_events import Clock
from tests.servers.telegram_chats import Chat
from tests.servers.telegram_server import Sent, TelegramServer

Handle = Callable[[Incoming, Conversation], Awaitable[None]]
_PATIENCE = 20.0  # seconds, until a test has failed
SECRET = "a-secret-of-the-webhook"


def answer_with(markdown: str, **more: Any) -> Handle:
    async def handle(event: Incoming, conversation: Conversation) -> None:
        await conversation.answer(Reply(markdown, **more))

    return handle


async def echo(event: Incoming, conversation: Conversation) -> None:
    await conversation.answer(Reply(f"re: {event.text}"))


@dataclass
class At:
    """A running bot, and whoever is around it."""

    server: TelegramServer
    time: Time
    telegram: Telegram
    desk: Desk
    inbox: Mailbox
    http: HttpServer
    seen: list[Incoming]
    gone: list[Place]
    moved: list[Incoming]
    working: list[Incoming]

    def __post_init__(self) -> None:
        self.anna = self.server.user(7, "Anna")
        self.boris = self.server.user(8, "Boris", language="ru")
        self.ops = self.server.group(-1001, "Ops", topics=[77, 78])

    async def until(self, condition: Callable[[], Any]) -> None:
        """Lets everybody go on until the condition holds."""
        async with asyncio.timeout(_PATIENCE):
            while not condition():
                await asyncio.sleep(0)

    async def answered(self, chat: Chat, count: int = 1) -> list[Sent]:
        """The bot's messages in a chat, when there are so many and nothing is open any more."""
        await self.until(lambda: len(self.server.sent(chat)) >= count)
        await self.idle()
        assert len(self.server.sent(chat)) == count, self.server.sent(chat)
        return self.server.sent(chat)

    async def idle(self) -> None:
        """Waits until every event was worked on."""
        async with asyncio.timeout(_PATIENCE):
            while await self.inbox.waiting() or self.working:
                await asyncio.sleep(0)
        await settle()

    async def passes(self, seconds: float) -> None:
        await self.time.advance(seconds)


@asynccontextmanager
async def office(
    handle: Handle = echo,
    *,
    answering: Handler | None = None,
    server: TelegramServer | None = None,
    inbox: Mailbox | None = None,
    sink: Callable[[Desk], Sink] = lambda desk: desk,
    webhook: bool = False,
    on_added: Any = None,
    on_moved: Any = None,
    leaves_topic: bool = True,
    options: Options | None = None,
    **desk: Any,
) -> AsyncIterator[At]:
    """Everything but `server` and `handle` as the product wires it; the desk's time and the
    platform's are the test's. `answering` is a handler in the place of `handle`."""
    clock = Clock()
    time = Time(clock)
    box = inbox or MemoryInbox(clock=clock)
    seen: list[Incoming] = []
    gone: list[Place] = []
    left: list[Incoming] = []
    working: list[Incoming] = []

    async def handler(
        event: Incoming, conversation: Conversation, attempt: int, *, late: bool
    ) -> None:
        seen.append(event)
        working.append(event)
        try:
            await (answering or handling)(event, conversation, attempt, late=late)
        finally:
            working.remove(event)

    async def handling(
        event: Incoming, conversation: Conversation, attempt: int, *, late: bool
    ) -> None:
        await handle(event, conversation)

    async def closed(place: Place) -> None:
        gone.append(place)

    async def moved(event: Incoming) -> None:
        if on_moved is not None:
            await on_moved(event)
        left.append(event)

    async with (
        server or TelegramServer(clock=clock) as running,
        HttpServer(Listening(port=0)) as http,
    ):
        address = f"http://127.0.0.1:{http.port}"
        telegram = Telegram(
            open_bot(running.token, running.url),
            hook=Hook(address, SECRET, http) if webhook else None,
            leaves_topic=leaves_topic,
            options=options,
            clock=clock,
            sleep=time.sleep,
            **({"on_added": on_added} if on_added else {}),
        )
        chair = Desk(
            box,
            telegram.conversation,
            handler,
            options=DeskOptions(**{"late_after": 1e12} | desk),
            gone=closed,
            moved=moved,
            clock=clock,
            sleep=time.sleep,
        )
        try:
            async with asyncio.TaskGroup() as group:
                tasks = [
                    group.create_task(chair.run()),
                    group.create_task(telegram.run(sink(chair))),
                ]
                first = "setWebhook" if webhook else "deleteWebhook"
                await running.until(lambda: running.called(first))
                yield At(running, time, telegram, chair, box, http, seen, gone, left, working)
                for task in tasks:
                    task.cancel()
        finally:
            await telegram.close()
