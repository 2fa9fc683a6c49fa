"""A replica of a bot in a process of its own: takes what waits in a Redis until it is killed."""

from __future__ import annotations

import asyncio
import os
from multiprocessing.connection import Connection
from pathlib import Path

from adapters.redis.inbox import RedisInbox
from adapters.redis.server import Server, Waits
from bot.chat import Incoming, Reply
from bot.inbox import Desk, DeskOptions
from bot.ports import Conversation

OPTIONS = DeskOptions(lease=1.0, poll=0.05, backoff=0.1)
WAITS = Waits(connect=0.5, answer=0.5, mark=0.5, attempts=2)


class _Wall(Conversation):
    """A platform that never forgets: every message is one line of a file, written at once."""

    def __init__(self, path: Path, event: Incoming) -> None:
        self._path, self._event = path, event

    async def progress(self, stage: str) -> None:
        return None

    async def stream(self, markdown: str) -> None:
        return None

    async def answer(self, reply: Reply) -> None:
        await asyncio.sleep(0)
        line = f"{self._event.place.id}\t{self._event.message_id}\t{reply.markdown}\n".encode()
        wall = os.open(self._path, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
        os.write(wall, line)
        os.close(wall)
        await asyncio.sleep(0)

    async def say(self, reply: Reply) -> None:
        return None


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
            RedisInbox(server), lambda event: _Wall(folder / "wall", event), handle, options=OPTIONS
        )
        report.send("ready")
        await desk.run()

    asyncio.run(work())
