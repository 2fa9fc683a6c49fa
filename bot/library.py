"""The documents a team has connected: bringing them up to date, listing them."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path

from bot.access_settings import AccessSettings
from bot.app import Library
from bot.errors import SourceError
from bot.ingest.lock import held
from bot.ingest.options import SyncOptions
from bot.ingest.reader import Reader
from bot.ingest.refresh import refresh
from bot.ingest.report import SyncReport
from bot.ingest.sync import sync
from bot.kept import FOLDER, NAMES, KeptDocuments
from bot.ports import KnowledgeIndex, Source, SourceRecord
from bot.progress import Progress
from bot.registry import factory
from bot.sections import SourceSettings
from bot.sync_lead import one_machine
from graph.model import Access, Scope, SourceType

LOCK_FILE = "sync.lock"


@dataclass(frozen=True, slots=True)
class Shelf:
    """A folder and how it is read, or what people handed in (`kind`). Without `access` the
    defaults of the settings hold."""

    name: str
    path: Path
    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    access: Access | None = None
    kind: SourceType = SourceType.FOLDER


async def shelves(app: Library, folders: Sequence[Path], *, every: bool = False) -> list[Shelf]:
    """What a sync goes through: the named folders, or else all that are known; both for `every`.

    Raises SourceError when there is nothing to sync.
    """
    known = await _known(app)
    named: list[Shelf] = []
    for path in folders:
        shelf = _shelf_for(path, [*known, *named])
        if shelf not in named:
            named.append(shelf)
    if named:
        return named + [shelf for shelf in known if every and shelf not in named]
    if not known:
        raise SourceError(
            "There is nothing to sync yet.",
            "Name a folder: belay sync ~/runbooks, or list it under [[sources]] in belay.toml.",
        )
    return list(known)


async def check(app: Library, shelf: Shelf) -> None:
    """Raises SourceError when there is no folder, or nothing in it to read."""
    async for _ in _source(app, shelf).files():
        return


@one_machine
async def remove(app: Library, name: str) -> int:
    """Takes a source out of the index; returns how many chunks went. Raises BotError."""
    with held(app.settings.home / LOCK_FILE):
        gone = await app.index.remove_source(name)
        await refresh(app.index, app.embedder, app.words)
    return gone


@one_machine
async def sync_shelf(
    app: Library,
    shelf: Shelf,
    *,
    home: Path,
    progress: Progress,
    allow_loss: bool = False,
) -> SyncReport:
    """Brings one folder up to date, and the index's profile with it. Raises BotError."""
    ingest, access = app.settings.ingest, app.settings.access
    source = _source(app, shelf)
    if shelf.name not in [record.name for record in await app.index.sources()]:
        await check(app, shelf)  # a path with a typing error is not remembered
    reading = ingest.reading()
    reader: Reader = factory("reader")(reading)
    options = SyncOptions(
        access=shelf.access or access.documents(),
        folders=access.rules(),
        levels=access.levels,
        location=str(shelf.path),
        max_file_bytes=ingest.max_file_bytes,
        mask_secrets=ingest.mask_secrets,
        converters=factory("converters")(reading),
        reader=reader,
        reading=reading,
        loss_share=ingest.shrink_limit,
        allow_loss=allow_loss or shelf.kind in NAMES,
    )
    with closing(reader):
        report = await sync(
            source,
            app.index,
            app.embedder,
            lock=home / LOCK_FILE,
            options=options,
            progress=progress,
        )
    progress.begin("calibrating", None)
    try:
        await refresh(app.index, app.embedder, app.words)
    finally:
        progress.end()
    return report


async def readable_sources(index: KnowledgeIndex, scope: Scope) -> list[SourceRecord]:
    """The sources of which `scope` may read anything, with the number of documents that it may
    read. Raises StorageError."""
    counts = await index.files_in(scope)
    return [
        replace(record, files=counts[record.name])
        for record in await index.sources()
        if record.name in counts
    ]


def kept_shelf(home: Path, kind: SourceType) -> Shelf:
    """The shelf of what people handed in, of one kind."""
    return Shelf(NAMES[kind], home / FOLDER, kind=kind)


async def sync_kept(app: Library, kind: SourceType, progress: Progress) -> SyncReport | None:
    """Brings what people handed in up to date in the index; None when nothing is left of it.
    Raises BotError, EmbedderError."""
    home = app.settings.home
    kept = await asyncio.to_thread(KeptDocuments(home).all, kind)
    if any(not item.draft for item in kept):
        return await sync_shelf(app, kept_shelf(home, kind), home=home, progress=progress)
    if NAMES[kind] in [record.name for record in await app.index.sources()]:
        await remove(app, NAMES[kind])
    return None


def _source(app: Library, shelf: Shelf) -> Source:
    if shelf.kind in NAMES:
        default = shelf.access or app.settings.access.documents()
        kept: Source = factory("source.kept")(app.settings.home, shelf.kind, default)
        return kept
    source: Source = factory("source.folder")(
        shelf.path,
        shelf.name,
        include=shelf.include,
        exclude=shelf.exclude,
        max_bytes=app.settings.ingest.max_file_bytes,
    )
    return source


async def _known(app: Library) -> list[Shelf]:
    """Folders from the settings, then those that were synced before, each once."""
    listed = [_from_settings(item, app.settings.access) for item in app.settings.sources]
    known = _with_synced(listed, await app.index.sources())
    handed_in = await asyncio.to_thread(KeptDocuments(app.settings.home).all)
    kinds = {item.kind for item in handed_in if not item.draft}
    return known + [kept_shelf(app.settings.home, kind) for kind in NAMES if kind in kinds]


def _with_synced(listed: list[Shelf], records: Sequence[SourceRecord]) -> list[Shelf]:
    places = {shelf.path.resolve() for shelf in listed}
    names = {shelf.name for shelf in listed}
    synced = [
        Shelf(record.name, Path(record.location))
        for record in records
        if record.location
        and record.kind not in NAMES
        and record.name not in names
        and Path(record.location).resolve() not in places
    ]
    return listed + synced


def _from_settings(item: SourceSettings, defaults: AccessSettings) -> Shelf:
    path = item.path.expanduser()
    access = defaults.documents(item.audience, item.labels)
    access = replace(access, tenant=item.tenant or access.tenant)
    return Shelf(item.name or path.resolve().name, path, item.include, item.exclude, access)


def _shelf_for(path: Path, known: Sequence[Shelf]) -> Shelf:
    """The known shelf of this folder, or a new one named after it."""
    place = path.expanduser().resolve()
    for shelf in known:
        if shelf.path.resolve() == place:
            return shelf
    names = {shelf.name for shelf in known}
    name, number = place.name or "root", 2
    while name in names:
        name, number = f"{place.name}-{number}", number + 1
    return Shelf(name, place)
