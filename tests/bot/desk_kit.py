"""A desk that works in a test: time moved by hand, a platform that remembers what was shown."""

from __future__ import annotations

import asyncio
import heapq
from collections import defaultdict
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from itertools import count
from typing import Any

from contract.inbox_events import Clock

from bot.chat import Incoming, Place, Reply
from bot.delivery import Journal, Mailbox
from bot.desk_options import DeskOptions
from bot.inbox import Desk
from bot.limits import Limiter
from bot.meter import Meter
from bot.ports import Conversation

Handle = Callable[[Incoming, Conversation, int, bool], Awaitable[None]]


class Time:
    """A clock and the sleepers that wait for it."""

    def __init__(self, clock: Clock) -> None:
        self.clock = clock
        self._sleepers: list[tuple[float, int, asyncio.Future[None]]] = []
        self._order = count()

    async def sleep(self, seconds: float) -> None:
        waking = asyncio.get_running_loop().create_future()
        heapq.heappush(self._sleepers, (self.clock() + seconds, next(self._order), waking))
        await waking

    async def advance(self, seconds: float) -> None:
        """Time passes; everybody who is woken does what there is to do, in the order of time."""
        end = self.clock() + seconds
        while self._sleepers and self._sleepers[0][0] <= end:
            at, _, waking = heapq.heappop(self._sleepers)
            self.clock.now = max(self.clock.now, at)
            if not waking.done():
                waking.set_result(None)
                await settle()
        self.clock.now = end
        await settle()


async def settle() -> None:
    """Lets every task go on until all of them wait for something."""
    for _ in range(50):
        await asyncio.sleep(0)


class Messenger:
    """A platform: what it showed by place id, and what goes wrong there."""

    def __init__(self) -> None:
        self.shown: dict[str, list[str]] = defaultdict(list)
        self.said: dict[str, list[str]] = defaultdict(list)
        self.faults: list[Exception] = []  # raised by the next calls, before anything is shown
        self.dies_after: list[Exception] = []  # raised by the next calls, when it was shown
        self.held: asyncio.Event | None = None  # calls wait for it, when it was shown

    def conversation(self, event: Incoming) -> Conversation:
        return _Talk(self, event.place)

    async def show(self, place: Place, text: str) -> None:
        if self.faults:
            raise self.faults.pop(0)
        self.shown[place.id].append(text)
        if self.held is not None:
            await self.held.wait()
        if self.dies_after:
            raise self.dies_after.pop(0)


class _Talk(Conversation):
    def __init__(self, messenger: Messenger, place: Place) -> None:
        self._messenger, self._place = messenger, place

    async def progress(self, stage: str) -> None:
        return None

    async def stream(self, markdown: str) -> None:
        return None

    async def answer(self, reply: Reply) -> None:
        await self._messenger.show(self._place, reply.markdown)

    async def say(self, reply: Reply) -> None:
        self._messenger.said[self._place.id].append(reply.markdown)


class InParts(Messenger):
    """Shows an answer line by line, one call each."""

    def conversation(self, event: Incoming) -> Conversation:
        return _TalkInParts(self, event.place)


class _TalkInParts(_Talk):
    async def answer_in_parts(self, reply: Reply, journal: Journal) -> None:
        for number, line in enumerate(reply.markdown.splitlines()):
            async with journal.part(number) as go:
                if go:
                    await self._messenger.show(self._place, line)


async def echo(event: Incoming, conversation: Conversation, attempt: int, late: bool) -> None:
    await conversation.answer(Reply(f"re: {event.text}"))


def desk_of(
    inbox: Mailbox,
    messenger: Messenger,
    time: Time,
    handle: Handle = echo,
    *,
    limiter: Limiter | None = None,
    gone: Callable[[Place], Awaitable[None]] | None = None,
    meter: Meter | None = None,
    **options: Any,
) -> Desk:
    async def handler(
        event: Incoming, conversation: Conversation, attempt: int, *, late: bool
    ) -> None:
        await handle(event, conversation, attempt, late)

    return Desk(
        inbox,
        messenger.conversation,
        handler,
        options=DeskOptions(**options),
        limiter=limiter,
        gone=gone,
        meter=meter,
        clock=time.clock,
        sleep=time.sleep,
    )


@asynccontextmanager
async def at_work(desk: Desk) -> AsyncIterator[asyncio.Task[None]]:
    """The desk's process; leaving the block kills it as a cancelled main task does."""
    async with asyncio.TaskGroup() as group:
        running = group.create_task(desk.run())
        await settle()
        yield running
        running.cancel()


class Diligent:
    """A handler that waits to be told to go on, and remembers what it was given."""

    def __init__(self) -> None:
        self.go = asyncio.Event()
        self.begun: list[str] = []
        self.late: list[bool] = []
        self.attempts: list[int] = []

    async def __call__(
        self, event: Incoming, conversation: Conversation, attempt: int, late: bool
    ) -> None:
        self.begun.append(event.text)
        self.late.append(late)
        self.attempts.append(attempt)
        await self.go.wait()
        await conversation.answer(Reply(f"re: {event.text}"))


class Failing:
    """A handler that raises what it is given, then answers."""

    def __init__(self, *faults: Exception) -> None:
        self.faults = list(faults)

    async def __call__(
        self, event: Incoming, conversation: Conversation, attempt: int, late: bool
    ) -> None:
        if self.faults:
            raise self.faults.pop(0)
        await conversation.answer(Reply(f"re: {event.text}"))


async def accept(desk: Desk, *events: Incoming) -> None:
    for each in events:
        await desk.accept(each)
    await settle()
