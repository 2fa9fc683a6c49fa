"""Indexing from the command line: `sync`, `sources`, `forget`."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path

from bot.app import App, opened
from bot.errors import BotError, SourceError
from bot.ingest.watch import watch as watch_folder
from bot.library import Shelf, shelves, sync_shelf
from bot.ports import FileState, SourceRecord
from bot.settings import Settings
from bot.terminal import Terminal

_SHOWN = 5  # skipped files listed under each reason


@dataclass(frozen=True, slots=True)
class Choices:
    """What `belay sync` was told to do."""

    folders: tuple[Path, ...] = ()
    watch: bool = False
    rebuild: bool = False
    allow_loss: bool = False
    verbose: bool = False


async def sync(settings: Settings, terminal: Terminal, choices: Choices) -> None:
    async with opened(settings, check=False) as app:
        chosen = await shelves(app, choices.folders)
        if choices.rebuild:
            await app.index.reset()
        shown = 0 if choices.verbose else _SHOWN
        await _sync(app, terminal, chosen, choices.allow_loss, shown)
        if choices.watch:
            await _watch(app, terminal, chosen)


async def bring_up_to_date(app: App, terminal: Terminal) -> None:
    """Syncs every known folder. Raises SourceError when there is none, or when one failed."""
    await _sync(app, terminal, await shelves(app, []), False, _SHOWN)


async def keep_up_to_date(app: App, terminal: Terminal) -> None:
    """Syncs a folder again whenever it changes, until cancelled."""
    await _watch(app, terminal, await shelves(app, []))


async def _sync(
    app: App, terminal: Terminal, chosen: Sequence[Shelf], allow_loss: bool, shown: int
) -> None:
    """Every folder gets its turn; the first failure is raised when all had theirs."""
    failed: list[BotError] = []
    for shelf in chosen:
        progress = terminal.progress()
        try:
            report = await sync_shelf(
                app, shelf, home=app.settings.home, progress=progress, allow_loss=allow_loss
            )
        except SourceError as error:
            terminal.note(f"{shelf.name}: {error}")
            failed.append(error)
            continue
        finally:
            progress.end()
        for line in report.lines(shown):
            terminal.plain(line)
    if failed:
        raise failed[0]


async def _watch(app: App, terminal: Terminal, chosen: Sequence[Shelf]) -> None:
    terminal.note(f"watching {', '.join(str(shelf.path) for shelf in chosen)}; Ctrl-C ends it")

    async def again(shelf: Shelf) -> None:
        try:
            await _sync(app, terminal, [shelf], False, _SHOWN)
        except BotError as error:  # the next change is another chance
            terminal.note(f"error: {error} {error.remedy}".rstrip())

    async with asyncio.TaskGroup() as group:
        for shelf in chosen:
            group.create_task(watch_folder(shelf.path, partial(again, shelf)))


async def sources(settings: Settings, terminal: Terminal, as_json: bool) -> None:
    async with opened(settings, check=False) as app:
        records = await app.index.sources()
        skipped = {record.name: await _skipped(app, record.name) for record in records}
    if as_json:
        rows = [asdict(record) | {"skipped_files": skipped[record.name]} for record in records]
        terminal.plain(json.dumps(rows, ensure_ascii=False, indent=2, default=str))
        return
    if not records:
        terminal.note("No folder is indexed yet. Try: belay sync ~/runbooks")
        return
    columns = ("source", "state", "files", "chunks", "skipped", "last sync", "folder")
    terminal.table(columns, [_cells(record) for record in records])
    for record in records:
        for path, reason in list(skipped[record.name].items()):
            terminal.plain(f"  {record.name}/{path}: skipped, {reason}")


def _cells(record: SourceRecord) -> tuple[str, ...]:
    last = record.last_run.strftime("%Y-%m-%d %H:%M") if record.last_run else "never"
    state = record.state.value + (f": {record.message}" if record.message else "")
    counts = (str(record.files), str(record.chunks), str(record.skipped))
    return (record.name, state, *counts, last, record.location)


async def _skipped(app: App, source: str) -> dict[str, str]:
    known = await app.index.records(source)
    return {
        path: record.reason + (f" ({record.detail})" if record.detail else "")
        for path, record in sorted(known.items())
        if record.state is FileState.SKIPPED
    }


async def forget(settings: Settings, terminal: Terminal, name: str) -> None:
    from bot.ingest.refresh import refresh

    async with opened(settings, check=False) as app:
        names = [record.name for record in await app.index.sources()]
        if name not in names:
            known = ", ".join(names) or "none"
            raise SourceError(f"There is no source {name!r}.", f"Known sources: {known}.")
        gone = await app.index.remove_source(name)
        await refresh(app.index, app.embedder, app.words)
    terminal.plain(f"{name}: {gone} chunks removed")
