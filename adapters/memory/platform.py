"""A messenger in memory: what people say comes in, what the bot says can be read."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence

from adapters.memory.conversation import MemoryConversation
from adapters.memory.files import MemoryFiles
from bot.chat import Incoming, Reply
from bot.errors import SettingsError
from bot.ports import Finding, Platform, Sink


class MemoryPlatform(Platform, MemoryFiles):
    """Behaves like a messenger that was given a token. `refused` is what is wrong with it."""

    def __init__(self, name: str = "memory", *, refused: str = "") -> None:
        super().__init__()
        self._name, self._refused = name, refused
        self._queue: asyncio.Queue[Incoming] = asyncio.Queue()
        self._changed = asyncio.Event()
        self.conversations: dict[str, list[MemoryConversation]] = {}
        self.receiving = False
        self.closed = False

    @property
    def name(self) -> str:
        return self._name

    async def run(self, sink: Sink) -> None:
        if self._refused:
            raise SettingsError(self._refused)
        self.receiving = True
        try:
            while True:
                await sink.accept(await self._queue.get())
                self._queue.task_done()
        finally:
            self.receiving = False

    def conversation(self, event: Incoming) -> MemoryConversation:
        """A new one for each attempt at the event; `shown` has all of them."""
        made = _Watched(self._note)
        self.conversations.setdefault(event.key, []).append(made)
        return made

    async def close(self) -> None:
        self.closed = True

    async def check(self) -> Sequence[Finding]:
        if self._refused:
            return [Finding(self._name, "bad", self._refused)]
        return [Finding(self._name, "ok", "in memory")]

    async def says(self, *events: Incoming) -> None:
        """Returns when the bot has accepted the events."""
        for event in events:
            self._queue.put_nowait(event)
        await self._queue.join()

    def shown(self, event: Incoming) -> str:
        """What could be seen in reply to an event, all attempts in one text."""
        return "\n".join(seen.shown for seen in self.conversations.get(event.key, []))

    async def until(self, condition: Callable[[], bool], *, within: float = 20.0) -> None:
        """Waits until the condition holds; it is looked at whenever the bot says something."""
        async with asyncio.timeout(within):
            while not condition():
                self._changed.clear()
                await self._changed.wait()

    def _note(self) -> None:
        self._changed.set()


class _Watched(MemoryConversation):
    def __init__(self, note: Callable[[], None]) -> None:
        super().__init__()
        self._note = note

    async def answer(self, reply: Reply) -> None:
        await super().answer(reply)
        self._note()

    async def say(self, reply: Reply) -> None:
        await super().say(reply)
        self._note()
