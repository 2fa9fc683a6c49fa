"""`belay run`: the bot on every platform that has a token, or the chat in the terminal."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Coroutine, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

from bot.app import App, opened
from bot.cli.access import note_first_code
from bot.cli.chat import NOTHING_INDEXED, Asking, converse
from bot.cli.sync import bring_up_to_date
from bot.cli.watching import keep_up_to_date
from bot.errors import SourceError, SyncBusy
from bot.library import sync_shelf
from bot.platforms import configured
from bot.ports import Platform
from bot.progress import Silent
from bot.scheduled_syncs import ScheduledSyncs
from bot.schedules import Schedules, opened_schedules
from bot.seen import seen_sources
from bot.settings import Settings
from bot.sync_lead import ONE_MACHINE, unguarded
from bot.terminal import Terminal

if TYPE_CHECKING:
    from bot.http import HttpServer
    from bot.operations import Operations

_LOOK = 0.05  # seconds between two looks whether a platform receives yet
_STOPPED = "stopped before the folders were up to date; the next start goes on from there"

T = TypeVar("T")


async def run_bot(settings: Settings, terminal: Terminal, watch: bool) -> None:
    if configured(settings):
        await _serve(settings, terminal, watch)
        return
    async with opened(settings) as app:
        await _synced(app, terminal)
        async with _kept_fresh(app, terminal, watch):
            await converse(app, terminal, Asking())


async def _synced(app: App, terminal: Terminal) -> None:
    try:
        await bring_up_to_date(app, terminal)
    except (SourceError, SyncBusy) as error:  # what is indexed already still answers
        terminal.note(f"not synced: {error} {error.remedy}")


@asynccontextmanager
async def _kept_fresh(
    app: App, terminal: Terminal, watch: bool, stop: asyncio.Event | None = None
) -> AsyncIterator[Schedules]:
    """Syncs by schedule beside the block until `stop`; with `watch` also folders that change."""
    sync = partial(sync_shelf, app, home=app.settings.home, progress=Silent())
    async with (
        opened_schedules(app.settings, app.server) as schedules,
        asyncio.TaskGroup() as group,
    ):
        sources = partial(seen_sources, app.settings, app.index, app.server)
        syncs = ScheduledSyncs(schedules, sources, sync)
        beside = [group.create_task(_unless(stop or asyncio.Event(), syncs.run()))]
        if watch:
            beside.append(group.create_task(keep_up_to_date(app, terminal)))
        yield schedules
        for task in beside:
            task.cancel()


async def _serve(settings: Settings, terminal: Terminal, watch: bool) -> None:
    """Until a signal ends it. Probes are answered from the first moment on."""
    from bot.http import HttpServer, Listening
    from bot.operations import Operations, opened_tracer
    from bot.running import stop_signals

    with stop_signals() as stop:
        async with AsyncExitStack() as stack:
            tracer = await stack.enter_async_context(opened_tracer(settings))
            operations = Operations(settings, tracer)
            http = HttpServer(Listening(*settings.http_address()))
            http.complete(False)
            operations.serve(http)
            await stack.enter_async_context(http)

            async def prepare() -> App:
                app = await stack.enter_async_context(opened(settings))
                await _synced(app, terminal)
                return app

            app = await _unless(stop, prepare())
            if app is None:
                terminal.note(_STOPPED)
                return
            async with _kept_fresh(app, terminal, watch, stop) as schedules:
                operations.follow(schedules)
                await _answer(app, terminal, http, operations, stop)


async def _answer(
    app: App, terminal: Terminal, http: HttpServer, operations: Operations, stop: asyncio.Event
) -> None:
    from bot.one_bot import OneBot
    from bot.platforms import make_platforms
    from bot.roll import make_access
    from bot.running import Bot
    from bot.stores import chosen_stores

    settings = app.settings
    if unguarded(settings):
        terminal.note(f"BELAY_WEAVIATE_URL without BELAY_REDIS_URL: {ONE_MACHINE}")
    if not (await app.index.info()).chunks:
        terminal.note(NOTHING_INDEXED)

    async def drain() -> None:
        await stop.wait()
        operations.readiness.drain()

    async with chosen_stores(settings, configured(settings), app.server) as kept:
        await note_first_code(make_access(settings, kept.roll), terminal)
        bot = Bot(
            app,
            kept,
            lambda wanted: make_platforms(settings, http=http, wanted=wanted),
            operations.meter,
        )
        operations.depend(app.index, kept.inbox, bot.platforms, kept.server)
        one_bot = OneBot(settings, kept.server)
        await _unless(stop, one_bot.claim())
        async with asyncio.TaskGroup() as group:
            beside = [
                group.create_task(drain()),
                group.create_task(one_bot.keep()),
                group.create_task(_announced(bot.platforms, terminal, http, operations)),
            ]
            await bot.run(stop)
            for task in beside:
                task.cancel()


async def _announced(
    platforms: Sequence[Platform], terminal: Terminal, http: HttpServer, operations: Operations
) -> None:
    """Tells of each platform when it has accepted the token and events come in. Then looks after
    what the bot depends on."""
    from bot.operations import receives

    waiting = list(platforms)
    while waiting:
        for platform in [one for one in waiting if receives(one)]:
            operations.readiness.begin()
            terminal.note(f"answering on {platform.name}; Ctrl-C ends it")
            waiting.remove(platform)
        await asyncio.sleep(_LOOK)
    http.complete(True)
    await operations.readiness.watch()


async def _unless(stop: asyncio.Event, work: Coroutine[Any, Any, T]) -> T | None:
    """What the work returns; None when `stop` was set before, and the work was cancelled."""
    async with asyncio.TaskGroup() as group:
        working, stopping = group.create_task(work), group.create_task(stop.wait())
        await asyncio.wait((working, stopping), return_when=asyncio.FIRST_COMPLETED)
        working.cancel()
        stopping.cancel()
    return None if working.cancelled() else working.result()
