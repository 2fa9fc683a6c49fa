"""Events for the tests of inboxes, and inboxes of every kind on one clock."""

from __future__ import annotations

import uuid
from collections.abc import Collection
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from adapters.memory.inbox import MemoryInbox
from adapters.redis.inbox import RedisInbox
from adapters.redis.server import Server
from adapters.sqlite.inbox import SqliteInbox
from bot.chat import Incoming, Kind, Person, Place
from bot.delivery import Mailbox
from bot.ports import Taken

LEASE = 30.0  # seconds
START = datetime(2026, 5, 4, 3, 0, tzinfo=UTC)
ANN = Person("telegram", "42", "Ann")
BORIS = Person("telegram", "43", "Boris")
OPS = Place("telegram", "-100", "group")


class Clock:
    """Seconds since the epoch, moved by hand."""

    def __init__(self) -> None:
        self.now = START.timestamp()

    def __call__(self) -> float:
        return self.now

    def advance(self, seconds: float) -> None:
        self.now += seconds


async def open_inbox(
    kind: str,
    folder: Path,
    clock: Clock,
    *,
    retention: float = 7 * 86_400.0,
    platforms: Collection[str] = (),
) -> Mailbox:
    """`kind` is "memory", "sqlite" or the URL of a Redis."""
    if kind == "memory":
        return MemoryInbox(retention=retention, platforms=platforms, clock=clock)
    if kind.startswith("redis:"):
        server = Server(kind, prefix=uuid.uuid4().hex)
        return RedisInbox(server, retention=retention, platforms=platforms, clock=clock)
    return await SqliteInbox.open(
        folder / "home" / "inbox.db", retention=retention, platforms=platforms, clock=clock
    )


def event(message: str, text: str = "", *, seconds: float = 0.0, **values: Any) -> Incoming:
    """A question of Ann in the group OPS, asked `seconds` after START."""
    given: dict[str, Any] = {"kind": Kind.QUESTION, "place": OPS, "person": ANN} | values
    at = START + timedelta(seconds=seconds)
    return Incoming(message_id=message, text=text or f"question {message}", at=at, **given)


def private(person: str) -> Place:
    return Place("telegram", person)


async def take(inbox: Mailbox, owner: str = "worker") -> Taken:
    taken = await inbox.take(owner, LEASE)
    assert taken is not None
    return taken


async def taken_texts(inbox: Mailbox) -> list[str]:
    """Takes and finishes everything that waits, one after the other."""
    texts = []
    while (taken := await inbox.take("worker", LEASE)) is not None:
        texts.append(taken.event.text)
        assert await inbox.done(taken)
    return texts
