"""The running bot: platforms that receive, one desk that has every event answered, a clean end.

    async with stores(settings.home, ["telegram"]) as kept:
        bot = Bot(app, kept, lambda on_added: [telegram])
        await bot.run(stop)

Setting `stop` ends it: nothing more is received, what is being answered gets its grace, and what
is left waits in the inbox for the next process.
"""

from __future__ import annotations

import asyncio
import logging
import signal
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Literal

from bot.access import Roll
from bot.answering import Answering
from bot.app import App
from bot.chat import Incoming
from bot.commands.sources import readable_sources
from bot.delivery import Mailbox
from bot.feedback import FeedbackLog
from bot.inbox import Desk
from bot.limits import Limiter
from bot.ports import Conversation, Platform, Sink
from bot.registry import factory
from bot.roll import make_access, open_roll
from bot.traces import TraceLog

INBOX_FILE, FEEDBACK_FILE = "inbox.db", "feedback.db"

_SAME_SIGNAL = 0.5  # seconds

_log = logging.getLogger(__name__)

OnAdded = Callable[[Incoming], Awaitable[Literal["stay", "leave"]]]
"""Asked when the bot was added to a group: whether it stays."""

MakePlatforms = Callable[[OnAdded], Sequence[Platform]]


@dataclass(frozen=True, slots=True)
class Stores:
    """What a bot must not forget when its process ends."""

    inbox: Mailbox
    roll: Roll
    feedback: FeedbackLog


@asynccontextmanager
async def stores(home: Path, platforms: Sequence[str]) -> AsyncIterator[Stores]:
    """The stores under `home`, with an inbox of which only events of `platforms` are taken.

    Raises StorageError.
    """
    inbox: Mailbox = await factory("inbox.sqlite")(home / INBOX_FILE, platforms=platforms)
    try:
        yield Stores(inbox, open_roll(home), factory("feedback.sqlite")(home / FEEDBACK_FILE))
    finally:
        await inbox.close()


class Bot:
    """Every platform hands its events to one desk, which has them answered. For one `run`."""

    def __init__(self, app: App, kept: Stores, make: MakePlatforms) -> None:
        settings = app.settings
        self._grace = settings.desk.grace
        answering = _answering(app, kept)
        self._platforms = {platform.name: platform for platform in make(answering.on_added)}
        self._desk = Desk(
            kept.inbox,
            self._conversation,
            answering,
            options=settings.desk.options(),
            limiter=Limiter(settings.rates.rates()),
            gone=answering.gone,
            moved=answering.moved,
        )

    async def run(self, stop: asyncio.Event) -> None:
        """Receives and answers until `stop` is set, then drains and closes the platforms.

        Raises SettingsError when a platform does not accept its token.
        """
        async with AsyncExitStack() as stack:
            for platform in self._platforms.values():
                stack.push_async_callback(platform.close)
            async with asyncio.TaskGroup() as group:
                group.create_task(self._desk.run())
                receiving = [
                    group.create_task(_receive(platform, self._desk))
                    for platform in self._platforms.values()
                ]
                await stop.wait()
                for task in receiving:
                    task.cancel()
                await asyncio.wait(receiving)
                await self._desk.drain(self._grace)

    def _conversation(self, event: Incoming) -> Conversation:
        return self._platforms[event.place.platform].conversation(event)


def _answering(app: App, kept: Stores) -> Answering:
    settings = app.settings
    return Answering(
        app.machine,
        make_access(settings, kept.roll),
        kept.roll,
        kept.feedback,
        keep=TraceLog(settings.home).add,
        sources=partial(readable_sources, app.index),
        web=settings.web,
        contact=settings.contact,
        leave_strangers=settings.leave_strangers,
    )


async def _receive(platform: Platform, sink: Sink) -> None:
    """A platform that ends by itself must not leave a process behind that only looks alive."""
    await platform.run(sink)
    raise RuntimeError(f"{platform.name} stopped receiving")


@contextmanager
def stop_signals() -> Iterator[asyncio.Event]:
    """An event that SIGTERM or Ctrl-C sets. Another signal ends the work at once, unless it comes
    with the first: some supervisors tell a process and its group."""
    loop, task, stop = asyncio.get_running_loop(), asyncio.current_task(), asyncio.Event()
    first = 0.0

    def received(name: str) -> None:
        nonlocal first
        if not stop.is_set():
            _log.info("%s: ending", name)
            first = loop.time()
            stop.set()
        elif task is not None and loop.time() - first > _SAME_SIGNAL:
            task.cancel(name)

    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, received, number.name)
    try:
        yield stop
    finally:
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.remove_signal_handler(number)
