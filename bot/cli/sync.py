"""Indexing from the command line: `sync`, `sources`, `forget`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from bot.app import Library, open_index, opened_library
from bot.cli import schedules
from bot.cli.adding import tell_ways
from bot.cli.output import to_json
from bot.cli.watching import SHOWN, refuse_to_wait, synced, watch
from bot.errors import SourceError, SyncBusy
from bot.library import Shelf, listed_shelves, remove, shelves
from bot.ports import FileRecord, FileState, SourceRecord
from bot.rebuild import rebuilt
from bot.schedules import looked_after
from bot.seen import seen_sources
from bot.settings import Settings
from bot.source_types import named_types
from bot.terminal import Terminal, printable
from graph.model import SourceType

_VAULT = SourceType.VAULT


@dataclass(frozen=True, slots=True)
class Choices:
    """What `belay sync` was told to do."""

    folders: tuple[Path, ...] = ()
    watch: bool = False
    rebuild: bool = False
    allow_loss: bool = False
    verbose: bool = False


async def sync(settings: Settings, terminal: Terminal, choices: Choices) -> None:
    async with opened_library(settings) as app:
        chosen = await shelves(app, choices.folders, every=choices.rebuild)
        if choices.watch:
            refuse_to_wait(chosen)
        if choices.rebuild:
            async with rebuilt(app, chosen, terminal.progress()) as beside:
                await _sync(beside, terminal, chosen, choices, terminal.plain)
        elif choices.watch and any(shelf.schedule for shelf in chosen):
            await _tried(app, terminal, chosen, choices)
        else:
            await _sync(app, terminal, chosen, choices, terminal.plain)
        if choices.watch:
            await watch(app, terminal, chosen)


async def _tried(
    app: Library, terminal: Terminal, chosen: Sequence[Shelf], choices: Choices
) -> None:
    """The first sync of sources that are tried again by their schedules."""
    try:
        await _sync(app, terminal, chosen, choices, terminal.plain)
    except (SourceError, SyncBusy) as error:
        terminal.note(f"{error} {error.remedy}")


async def bring_up_to_date(app: Library, terminal: Terminal) -> None:
    """Syncs every known source, without those that their schedules look after. Raises SourceError
    when there is none, or when one failed.

    What it reports is not what was asked for, so it stays off standard output.
    """
    left = await looked_after(app.settings, app.index)
    chosen = [shelf for shelf in await shelves(app, []) if shelf.name not in left]
    await _sync(app, terminal, chosen, Choices(), terminal.note)


async def _sync(
    app: Library,
    terminal: Terminal,
    chosen: Sequence[Shelf],
    choices: Choices,
    say: Callable[[str], None],
) -> None:
    """Every folder gets its turn. Raises SourceError when one could not be read."""
    failed: list[str] = []
    for shelf in chosen:
        try:
            report = await synced(app, terminal, shelf, choices.allow_loss)
        except SourceError as error:
            if len(chosen) == 1:
                raise
            terminal.note(f"{shelf.name}: {error} {error.remedy}")
            failed.append(shelf.name)
            continue
        for line in report.lines(0 if choices.verbose else SHOWN):
            say(line)
    if failed:
        raise SourceError(
            f"{len(failed)} of {len(chosen)} sources could not be read: {', '.join(failed)}.",
            "The others are up to date. Take one out for good with `belay forget NAME`.",
        )


async def sources(
    settings: Settings, terminal: Terminal, kinds: Sequence[str], as_json: bool
) -> None:
    types = named_types(kinds).known
    index = await open_index(settings)
    try:
        records = await seen_sources(settings, index)
        standings, leader = await schedules.scheduled(settings, records, terminal)
        records = schedules.with_unread(records, standings, settings)
        records = [item for item in records if not types or item.kind in types]
        standings = {item.name: standings[item.name] for item in records if item.name in standings}
        files = {item.name: await index.records(item.name) for item in records}
    finally:
        await index.close()
    if as_json:
        rows = [_row(record, files[record.name].values()) for record in records]
        for item in rows:
            one = standings.get(str(item["name"]))
            item["schedule"] = schedules.row(one, leader) if one else None
        terminal.plain(to_json(rows))
        return
    if not records and types:
        terminal.note(f"No source of this type is indexed: {', '.join(sorted(types))}.")
        tell_ways(settings, terminal, types)
        return
    if not records:
        terminal.note("No folder is indexed yet. Try: belay sync ~/runbooks")
        return
    columns = ("source", "type", "state", "files", "chunks", "skipped", "last sync", "place")
    terminal.table(columns, [_cells(record) for record in records])
    for record in records:
        for path, words in _remarks(files[record.name].values()).items():
            terminal.plain(printable(f"  {record.name}/{path}: {words}"))
    for line in schedules.lines(standings, leader):
        terminal.plain(line)


def _row(record: SourceRecord, files: Iterable[FileRecord]) -> dict[str, object]:
    skipped = {item.path: _why(item) for item in files if item.state is FileState.SKIPPED}
    problems = {
        item.path: item.detail for item in files if item.detail and item.path not in skipped
    }
    return asdict(record) | {"skipped_files": skipped, "problems": problems}


def _remarks(files: Iterable[FileRecord]) -> dict[str, str]:
    """What an owner should know of a file: why it was skipped, or how it had to be read."""
    found: dict[str, str] = {}
    for item in sorted(files, key=lambda item: item.path):
        if item.state is FileState.SKIPPED:
            found[item.path] = f"skipped, {_why(item)}"
        elif item.detail:
            found[item.path] = item.detail
    return found


def _why(item: FileRecord) -> str:
    return item.reason + (f" ({item.detail})" if item.detail else "")


def _cells(record: SourceRecord) -> tuple[str, ...]:
    last = record.last_run.strftime("%Y-%m-%d %H:%M") if record.last_run else "never"
    state = record.state.value + (f": {record.message}" if record.message else "")
    counts = (str(record.files), str(record.chunks), str(record.skipped))
    return (record.name, record.kind.value, state, *counts, last, record.location)


async def forget(settings: Settings, terminal: Terminal, name: str) -> None:
    async with opened_library(settings) as app:
        names = [record.name for record in await app.index.sources()]
        if name not in names:
            known = ", ".join(names) or "none"
            raise SourceError(f"There is no source {name!r}.", f"Known sources: {known}.")
        vaults = [shelf.name for shelf in listed_shelves(settings) if shelf.kind is _VAULT]
        if name in vaults:
            raise SourceError(
                f"{name!r} is a vault: it is read only.",
                "Take it out of belay.toml first; then it can be forgotten.",
            )
        gone = await remove(app, name)
    terminal.plain(f"{name}: {gone} chunks removed")
