"""A replica of a bot in a process of its own: takes what waits in a Redis until it is killed."""

from __future__ import annotations

import asyncio
from multiprocessing.connection import Connection
from pathlib import Path

from wall import Wall

from adapters.redis.inbox import RedisInbox
from adapters.redis.server import Server, Waits
from bot.chat import Incoming, Reply
from bot.desk_options import DeskOptions
from bot.inbox import Desk
from bot.ports import Conversation

OPTIONS = DeskOptions(lease=1.0, poll=0.05, backoff=0.1)
WAITS = Waits(connect=0.5, answer=0.5, mark=0.5, attempts=2)


def replica(report: Connection, url: str, folder: Path, thinking: float) -> None:
    """Says "ready", then works for ever; each question is thought about for `thinking` seconds."""

    async def handle(
        event: Incoming, conversation: Conversation, attempt: int, *, late: bool
    ) -> None:
        await asyncio.sleep(thinking)
        await conversation.answer(Reply(f"re: {event.text}"))

    async def work() -> None:
        server = Server(url, waits=WAITS)
        await server.ready()
        desk = Desk(
            RedisInbox(server),
            lambda event: Wall(folder / "wall", event, event.place.id),
            handle,
            options=OPTIONS,
        )
        report.send("ready")
        await desk.run()

    asyncio.run(work())
