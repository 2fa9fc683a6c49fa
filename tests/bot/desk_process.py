"""A bot in a process of its own: answers what waits in an inbox until it is killed."""

from __future__ import annotations

import asyncio
from multiprocessing.connection import Connection
from pathlib import Path

from wall import Wall

from adapters.sqlite.inbox import SqliteInbox
from bot.chat import Incoming, Reply
from bot.desk_options import DeskOptions
from bot.inbox import Desk
from bot.ports import Conversation

OPTIONS = DeskOptions(lease=1.0, poll=0.05)


def answer_until_killed(report: Connection, home: Path) -> None:
    """Reports each event that was handled, and "idle" when nothing waits any more."""

    async def handle(
        event: Incoming, conversation: Conversation, attempt: int, *, late: bool
    ) -> None:
        await conversation.answer(Reply(f"re: {event.text}"))
        report.send(event.message_id)

    async def work() -> None:
        inbox = await SqliteInbox.open(home / "inbox.db")
        desk = Desk(inbox, lambda event: Wall(home / "wall", event), handle, options=OPTIONS)
        async with asyncio.TaskGroup() as group:
            group.create_task(desk.run())
            while await inbox.waiting():
                await asyncio.sleep(OPTIONS.poll)
            await desk.drain(1.0)
        await inbox.close()
        report.send("idle")

    asyncio.run(work())
