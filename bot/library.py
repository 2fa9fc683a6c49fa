"""The documents a team has connected: bringing them up to date, listing them."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from urllib.parse import quote

from bot.app import Library
from bot.errors import SettingsError, SourceError
from bot.expansion import expanding, expansion_mark
from bot.fenced import fenced
from bot.ingest.calibrate import GROWTH
from bot.ingest.fingerprint import digest, rules
from bot.ingest.lock import held
from bot.ingest.options import SyncOptions
from bot.ingest.reader import Reader
from bot.ingest.refresh import refresh
from bot.ingest.report import SyncReport
from bot.ingest.sync import sync
from bot.kept import FOLDER, NAMES, KeptDocuments
from bot.ports import Source, SourceRecord
from bot.progress import Progress
from bot.registry import factory
from bot.settings import Settings
from bot.source_settings import Remote, SourceSettings
from bot.sync_lead import one_machine
from bot.sync_schedule import SyncSchedule
from graph.model import Access, SourceType

LOCK_FILE, REPOSITORIES = "sync.lock", "repos"


@dataclass(frozen=True, slots=True)
class Shelf:
    """A folder and how it is read, or what people handed in (`kind`), or the copy in `path` of a
    repository (`remote`). Without `access` the defaults of the settings hold. `reading` of one
    with a schedule changes with the settings by which it is read."""

    name: str
    path: Path
    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    access: Access | None = None
    kind: SourceType = SourceType.FOLDER
    remote: Remote | None = None
    schedule: SyncSchedule | None = None
    reading: str = ""

    @property
    def location(self) -> str:
        """For people; addresses hold no secrets."""
        return self.remote.url if self.remote else str(self.path)


async def shelves(app: Library, folders: Sequence[Path], *, every: bool = False) -> list[Shelf]:
    """What a sync goes through: the named folders and sources, or else all that are known; both
    for `every`.

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


async def check(source: Source) -> None:
    """Raises SourceError when there is no such place, or nothing in it to read."""
    async for _ in source.files():
        return


@one_machine
async def remove(app: Library, name: str) -> int:
    """Takes a source out of the index; returns how many chunks went. Raises BotError."""
    with held(app.settings.home / LOCK_FILE):
        index = await fenced(app.index)
        gone = await index.remove_source(name)
        await refresh(index, app.embedder, app.words)
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
    source = app.fetched.get(shelf.name) or source_of(app, shelf)
    if shelf.name not in [record.name for record in await app.index.sources()]:
        with held(home / LOCK_FILE):
            await check(source)  # a path with a typing error is not remembered
    async with expanding(app.settings) as expander:
        with reading(app.settings) as options:
            report = await sync(
                source,
                app.index,
                app.embedder,
                lock=home / LOCK_FILE,
                options=replace(
                    options,
                    access=shelf.access or options.access,
                    location=shelf.location,
                    links=shelf.remote.link if shelf.remote else "",
                    allow_loss=allow_loss or shelf.kind in NAMES,
                ),
                expander=expander,
                progress=progress,
            )
    progress.begin("calibrating", None)
    try:
        info = await app.index.info()
        anew = report.embedded >= GROWTH * info.chunks  # as many vectors are others than before
        await refresh(app.index, app.embedder, app.words, force=bool(info.chunks) and anew)
    finally:
        progress.end()
    return report


@contextmanager
def reading(settings: Settings) -> Iterator[SyncOptions]:
    """How documents are read by the settings, with a reader that is closed at the end."""
    options = _options(settings)
    reader: Reader = factory("reader")(options.reading)
    with closing(reader):
        yield replace(options, converters=factory("converters")(options.reading), reader=reader)


def _options(settings: Settings) -> SyncOptions:
    ingest, access = settings.ingest, settings.access
    return SyncOptions(
        access=access.documents(),
        folders=access.rules(),
        levels=access.levels,
        max_file_bytes=ingest.max_file_bytes,
        mask_secrets=ingest.mask_secrets,
        reading=ingest.reading(),
        loss_share=ingest.shrink_limit,
    )


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


def source_of(app: Library, shelf: Shelf) -> Source:
    """What reads a shelf."""
    if shelf.kind in NAMES:
        default = shelf.access or app.settings.access.documents()
        kept: Source = factory("source.kept")(app.settings.home, shelf.kind, default)
        return kept
    ways = {
        "include": shelf.include,
        "exclude": shelf.exclude,
        "max_bytes": app.settings.ingest.max_file_bytes,
        "kind": shelf.kind,
    }
    source: Source
    if shelf.remote is not None:
        limits = app.settings.git.limits()
        make = factory("source.git")
        source = make(shelf.name, shelf.remote, shelf.path, limits=limits, **ways)
    else:
        source = factory("source.folder")(shelf.path, shelf.name, **ways)
    return source


async def _known(app: Library) -> list[Shelf]:
    """Folders from the settings, then those that were synced before, each once."""
    listed = listed_shelves(app.settings)
    known = _with_synced(listed, await app.index.sources())
    handed_in = await asyncio.to_thread(KeptDocuments(app.settings.home).all)
    kinds = {item.kind for item in handed_in if not item.draft}
    return known + [kept_shelf(app.settings.home, kind) for kind in NAMES if kind in kinds]


def listed_shelves(settings: Settings) -> list[Shelf]:
    """The sources of the settings. Raises SettingsError when two have one name."""
    listed = [_from_settings(item, settings) for item in settings.sources]
    names = [shelf.name for shelf in listed]
    for name in names:
        if names.count(name) > 1:
            raise SettingsError(
                f"Two sources are called {name!r}.", "Give one of them another name: [[sources]]."
            )
    return listed


def _with_synced(listed: list[Shelf], records: Sequence[SourceRecord]) -> list[Shelf]:
    places = {shelf.path.resolve() for shelf in listed if shelf.remote is None}
    names = {shelf.name for shelf in listed}
    synced = [
        Shelf(record.name, Path(record.location))
        for record in records
        if record.location
        and record.kind is SourceType.FOLDER
        and record.name not in names
        and Path(record.location).resolve() not in places
    ]
    return listed + synced


def _from_settings(item: SourceSettings, settings: Settings) -> Shelf:
    access = settings.access.documents(item.audience, item.labels)
    access = replace(access, tenant=item.tenant or access.tenant)
    name, remote = item.called(), item.remote()
    path = settings.home / REPOSITORIES / quote(name, safe="") if remote else item.place()
    kind, schedule = item.source_type(), item.planned(settings.schedules)
    shelf = Shelf(name, path, item.include, item.exclude, access, kind, remote, schedule)
    return replace(shelf, reading=_reading(shelf, access, settings)) if schedule else shelf


def _reading(shelf: Shelf, access: Access, settings: Settings) -> str:
    options = replace(_options(settings), links=shelf.remote.link if shelf.remote else "")
    branch = (shelf.remote.branch, shelf.remote.folder) if shelf.remote else ()
    place = (shelf.location, *branch, shelf.include, shelf.exclude, options.max_file_bytes)
    by = rules(options, replace(access, source_type=shelf.kind))
    return digest(f"{by} {place!r} {expansion_mark(settings)}".rstrip().encode())


def _shelf_for(path: Path, known: Sequence[Shelf]) -> Shelf:
    """The known shelf of this name or folder, or a new one named after the folder. A folder goes
    before another folder of its name, but not before a repository."""
    place = path.expanduser().resolve()
    named = {shelf.name: shelf for shelf in known}.get(str(path))
    if named and (named.remote or not place.exists()):
        return named
    for shelf in known:
        if shelf.remote is None and shelf.path.resolve() == place:
            return shelf
    names = {shelf.name for shelf in known}
    name, number = place.name or "root", 2
    while name in names:
        name, number = f"{place.name}-{number}", number + 1
    return Shelf(name, place)
