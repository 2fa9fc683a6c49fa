"""A platform that never forgets: every message is one line of a file, written at once."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path

from bot.chat import Incoming, Reply
from bot.ports import Conversation


class Wall(Conversation):
    """Each line begins with `head`, then the message that is answered, tabs between them."""

    def __init__(self, path: Path, event: Incoming, *head: str) -> None:
        self._path, self._head = path, (*head, event.message_id)

    async def progress(self, stage: str) -> None:
        return None

    async def stream(self, markdown: str) -> None:
        return None

    async def answer(self, reply: Reply) -> None:
        await asyncio.sleep(0)
        wall = os.open(self._path, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
        os.write(wall, ("\t".join((*self._head, reply.markdown)) + "\n").encode())
        os.close(wall)
        await asyncio.sleep(0)

    async def say(self, reply: Reply) -> None:
        return None
