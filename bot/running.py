"""The running bot: platforms that receive, one desk that has every event answered, a clean end.

    async with chosen_stores(settings, ["telegram"]) as kept:
        bot = Bot(app, kept, lambda wanted: [telegram])
        await bot.run(stop)

Setting `stop` ends it: nothing more is received, what is being answered gets its grace, and what
is left waits in the inbox for the next process.
"""

from __future__ import annotations

import asyncio
import logging
import signal
from collections.abc import Awaitable, Callable, Coroutine, Iterator, Sequence
from contextlib import AsyncExitStack, contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Literal

from bot.access import Access
from bot.answer_cache import AnswerCache, answer_cache
from bot.answering import Answering
from bot.app import App
from bot.attachments import Attachment, Download, Downloading, NotFetched, Trouble
from bot.auditor import Auditor, open_audit
from bot.chat import Incoming, Place
from bot.curating import Curating
from bot.errors import AccessWithdrawn
from bot.groups import PlatformGroups
from bot.hand_ins import Fetch
from bot.home import Home, Pages
from bot.inbox import Desk
from bot.meter import Meter
from bot.minutes import Minutes
from bot.oncall import Watch, make_watch
from bot.ports import (
    Completing,
    Conversation,
    Linking,
    Platform,
    SourceRecord,
)
from bot.readable_sources import readable_sources
from bot.roll import make_access
from bot.seen import true_states
from bot.session_runs import SessionRuns
from bot.stores import Stores
from bot.threads import FollowedThreads
from bot.traces import TraceLog
from graph.model import Scope

_SAME_SIGNAL = 0.5  # seconds

_log = logging.getLogger(__name__)

OnAdded = Callable[[Incoming], Awaitable[Literal["stay", "leave"]]]
"""Asked when the bot was added to a group: whether it stays."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """What platforms ask of the application: whether to stay in a group (`on_added`), what their
    page of the bot shows (`pages`), in which threads it needs no mention (`threads`), and whether
    the files of a question are read (`reads`)."""

    on_added: OnAdded
    pages: Pages
    threads: FollowedThreads
    reads: Callable[[Incoming], Awaitable[bool]]


MakePlatforms = Callable[[Wanted], Sequence[Platform]]


class Bot:
    """Every platform hands its events to one desk, which has them answered. For one `run`.

    `meter` is told of all that happens.
    """

    def __init__(
        self, app: App, kept: Stores, make: MakePlatforms, meter: Meter | None = None
    ) -> None:
        settings = app.settings
        self._grace = settings.desk.grace
        self._receiving = 0  # platforms
        self._watch = make_watch(settings.oncall, settings.home)
        self._platforms: dict[str, Platform] = {}  # made when there is somebody to hand events to
        access = settings.access
        groups = PlatformGroups(access.directory().groups, self._platforms, access.groups_every)
        gate = make_access(settings, kept.roll, groups)
        answers = answer_cache(app, kept.server)
        minutes = self._minutes(app, kept, answers)
        self._answering = _answering(
            app,
            kept,
            gate,
            self._watch,
            minutes,
            link=self._link,
            fetch=self._fetch,
            meter=meter,
            answers=answers,
        )
        self._runs = (
            SessionRuns(app, kept.sessions, app.sessions, kept.leadership) if app.sessions else None
        )
        wanted = Wanted(self._answering.on_added, _home(app, gate), kept.threads, gate.admits)
        self._platforms.update((platform.name, platform) for platform in make(wanted))
        self._desk = Desk(
            kept.inbox,
            self._conversation,
            self._handle,
            options=settings.desk.options(),
            limiter=kept.allowance(settings.rates.rates()),
            gone=self._answering.gone,
            moved=self._answering.moved,
            meter=meter,
        )

    @property
    def platforms(self) -> Sequence[Platform]:
        return tuple(self._platforms.values())

    async def run(self, stop: asyncio.Event) -> None:
        """Receives and answers until `stop` is set, then drains and closes the platforms.

        Raises SettingsError when a platform does not accept its token. When one platform takes
        the bot's access back later, the others go on.
        """
        async with AsyncExitStack() as stack:
            for platform in self._platforms.values():
                stack.push_async_callback(platform.close)
            async with asyncio.TaskGroup() as group:
                group.create_task(self._desk.run())
                beside = [group.create_task(work) for work in self._beside()]
                receiving = [
                    group.create_task(self._receive(platform))
                    for platform in self._platforms.values()
                ]
                await stop.wait()
                for task in receiving:
                    task.cancel()
                await asyncio.wait(receiving)
                await self._desk.drain(self._grace)
                for task in beside:
                    task.cancel()
            if self._runs is not None:
                await self._runs.last()

    def _beside(self) -> Iterator[Coroutine[None, None, None]]:
        """What goes on beside the answering."""
        if self._watch is not None:
            yield self._watch.roster.run()
        if self._runs is not None:
            yield self._runs.run()

    def _minutes(self, app: App, kept: Stores, answers: AnswerCache | None) -> Minutes:
        settings = app.settings
        return Minutes(
            kept.sessions,
            index=app.sessions,
            drop=[TraceLog(settings.home).forget, *([answers.forget] if answers else [])],
            audit=open_audit(settings.home, settings.audit),
            feedback=kept.feedback,
            link=self._link,
        )

    def _link(self, place: Place, message_id: str) -> str:
        platform = self._platforms[place.platform]
        return platform.link(place, message_id) if isinstance(platform, Linking) else ""

    async def _fetch(self, name: str, file: Attachment, limit: int) -> Download:
        platform = self._platforms[name]
        if not isinstance(platform, Downloading):
            raise NotFetched(Trouble.FORBIDDEN)
        return await platform.download(file, limit)

    def _conversation(self, event: Incoming) -> Conversation:
        return self._platforms[event.place.platform].conversation(event)

    async def _handle(
        self, event: Incoming, conversation: Conversation, attempt: int, *, late: bool
    ) -> None:
        platform = self._platforms[event.place.platform]
        if isinstance(platform, Completing):
            event = await platform.completed(event)
        await self._answering(event, conversation, attempt, late=late)

    async def _receive(self, platform: Platform) -> None:
        """A platform that ends by itself must not leave a process behind that only looks alive."""
        self._receiving += 1
        try:
            await platform.run(self._desk)
        except AccessWithdrawn as error:
            self._receiving -= 1
            if not self._receiving:
                raise
            _log.error("%s has ended: %s. %s", platform.name, error, error.remedy)
        else:
            raise RuntimeError(f"{platform.name} stopped receiving")


def _answering(
    app: App,
    kept: Stores,
    gate: Access,
    watch: Watch | None,
    minutes: Minutes,
    *,
    link: Callable[[Place, str], str],
    fetch: Fetch,
    meter: Meter | None,
    answers: AnswerCache | None,
) -> Answering:
    settings = app.settings
    roots = {"slack": settings.slack.command.removeprefix("/")}
    auditor = Auditor(open_audit(settings.home, settings.audit))
    curators = frozenset(settings.access.curators)
    return Answering(
        app.machine,
        gate,
        kept.roll,
        kept.feedback,
        keep=TraceLog(settings.home).add,
        auditor=auditor,
        minutes=minutes,
        sources=partial(readable_sources, app.index),
        web=settings.web,
        contact=settings.contact,
        on_duty=watch.on_duty if watch else None,
        watch=watch,
        threads=kept.threads,
        meter=meter,
        answers=answers,
        roots=roots,
        leave_strangers=settings.leave_strangers,
        curating=Curating(
            app, gate, curators=curators, auditor=auditor, link=link, fetch=fetch, roots=roots
        ),
    )


def _home(app: App, gate: Access) -> Home:
    """The page of the bot, with the state of each source as it really is."""
    settings = app.settings

    async def sources(scope: Scope) -> Sequence[SourceRecord]:
        return await true_states(settings, await readable_sources(app.index, scope), app.server)

    return Home(gate, sources, f"{settings.slack.command} ")


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
