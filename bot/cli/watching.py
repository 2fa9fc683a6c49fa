"""Sources that are kept in sync while a process stays: by their changes, or by their schedules."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from functools import partial

from bot.app import Library
from bot.errors import BotError, SourceError, SyncBusy
from bot.ingest.report import SyncReport
from bot.ingest.watch import watch as watch_folder
from bot.kept import NAMES
from bot.library import Shelf, shelves, sync_shelf
from bot.progress import Silent
from bot.scheduled_syncs import ScheduledSyncs
from bot.schedules import opened_schedules
from bot.seen import seen_sources
from bot.terminal import Terminal
from graph.errors import GraphError

SHOWN = 5  # skipped files listed under each reason
_GIVE_SCHEDULE = (
    'Give it one under [[sources]], such as schedule = "*/15 * * * *"; `belay run` keeps it, too.'
)


async def synced(
    app: Library, terminal: Terminal, shelf: Shelf, allow_loss: bool = False
) -> SyncReport:
    """One sync of one source, with a bar. Raises BotError, EmbedderError."""
    progress = terminal.progress()
    try:
        return await sync_shelf(
            app, shelf, home=app.settings.home, progress=progress, allow_loss=allow_loss
        )
    finally:
        progress.end()


async def watch(app: Library, terminal: Terminal, chosen: Sequence[Shelf]) -> None:
    """Folders by their changes, and sources with a schedule by that."""
    folders = _folders(chosen)
    scheduled = [shelf for shelf in chosen if shelf.schedule is not None]
    if left := _unseen(chosen):
        terminal.note(f"{_says_nothing(left)} {_GIVE_SCHEDULE}")
    async with asyncio.TaskGroup() as group:
        if folders:
            group.create_task(_watch_folders(app, terminal, folders))
        if scheduled:
            group.create_task(_follow(app, terminal, scheduled))


def refuse_to_wait(chosen: Sequence[Shelf]) -> None:
    """Raises SourceError when there is nothing that could be watched."""
    if _folders(chosen) or any(shelf.schedule for shelf in chosen):
        return
    if left := _unseen(chosen):
        raise SourceError(_says_nothing(left), _GIVE_SCHEDULE)
    message = "There is nothing to watch: what is handed in changes by `belay documents` only."
    raise SourceError(message, "Name a folder: belay sync --watch ~/runbooks")


def _unseen(chosen: Sequence[Shelf]) -> list[str]:
    return [shelf.name for shelf in chosen if shelf.remote and shelf.schedule is None]


def _says_nothing(names: Sequence[str]) -> str:
    have = "have" if len(names) > 1 else "has"
    listed = ", ".join(map(repr, names))
    return f"Nobody tells when a repository changes, and {listed} {have} no schedule."


def _folders(chosen: Sequence[Shelf]) -> list[Shelf]:
    return [shelf for shelf in chosen if shelf.kind not in NAMES and not shelf.remote]


async def _watch_folders(app: Library, terminal: Terminal, folders: Sequence[Shelf]) -> None:
    terminal.note(f"watching {', '.join(str(shelf.path) for shelf in folders)}; Ctrl-C ends it")
    async with asyncio.TaskGroup() as group:
        for shelf in folders:
            group.create_task(_watch_one(app, terminal, shelf))


async def _follow(app: Library, terminal: Terminal, scheduled: Sequence[Shelf]) -> None:
    """Also tells what the scheduled syncs changed."""

    async def one(shelf: Shelf) -> SyncReport:
        report = await sync_shelf(app, shelf, home=app.settings.home, progress=Silent())
        if report.changed:
            for line in report.lines(SHOWN):
                terminal.plain(line)
        return report

    names = ", ".join(f"{shelf.name} ({shelf.schedule})" for shelf in scheduled)
    terminal.note(f"syncing by schedule: {names}; Ctrl-C ends it")
    async with opened_schedules(app.settings, app.server) as found:
        sources = partial(seen_sources, app.settings, app.index, app.server)
        await ScheduledSyncs(replace(found, shelves=tuple(scheduled)), sources, one).run()


async def keep_up_to_date(app: Library, terminal: Terminal) -> None:
    """Syncs a folder again whenever it changes, until cancelled."""
    if folders := _folders(await shelves(app, [])):
        await _watch_folders(app, terminal, folders)
    else:
        terminal.note("--watch: there is no folder; repositories are synced by their schedules")


async def _watch_one(app: Library, terminal: Terminal, shelf: Shelf) -> None:
    async def again() -> None:
        try:
            report = await _in_turn(app, terminal, shelf)
        except (BotError, GraphError) as error:  # the next change is another chance
            terminal.note(f"{shelf.name}: {error} {getattr(error, 'remedy', '')}".rstrip())
            return
        if report.changed:
            for line in report.lines(SHOWN):
                terminal.plain(line)

    try:
        await watch_folder(shelf.path, again, ignored=app.settings.home)
    except SourceError as error:
        terminal.note(f"{shelf.name}: not watched any more. {error} {error.remedy}")


async def _in_turn(app: Library, terminal: Terminal, shelf: Shelf) -> SyncReport:
    """A change is not lost because another sync was at work."""
    told = False
    while True:
        try:
            return await synced(app, terminal, shelf)
        except SyncBusy:
            if not told:
                terminal.note(f"{shelf.name}: changed, waiting for another sync to end")
            told = True
            await asyncio.sleep(app.settings.schedules.look.total_seconds())
