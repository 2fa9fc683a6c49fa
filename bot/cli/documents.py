"""`belay add`, `belay note`, `belay documents`: documents that people hand in."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from bot.app import Library, open_index, opened_library
from bot.auditor import TERMINAL
from bot.cli.output import to_json
from bot.errors import SettingsError, SourceError
from bot.handed_in import Understood, text_of, understand
from bot.kept import NAMES, Kept, KeptDocuments, file_name
from bot.kept_changes import KeptChanges
from bot.ports import FileState, SourceFile
from bot.settings import Settings
from bot.source_types import document_types
from bot.terminal import Terminal
from graph.model import EVERYBODY, SourceType

_NOTE = "note.md"
_NOT_SHOWN = ("batch", "from")  # of one document: the origin says it


@dataclass(frozen=True, slots=True)
class About:
    """What the person who hands a document in says of it."""

    title: str = ""
    level: str = ""
    labels: tuple[str, ...] = ()
    expires: str = ""

    def fields(self, settings: Settings) -> dict[str, Any]:
        """As fields of Kept. Raises SettingsError for an unknown level, or no date."""
        level = settings.access.chosen(self.level) if self.level else ""
        labels = self.labels or (EVERYBODY,)
        return {
            "title": " ".join(self.title.split()),
            "audience": level,
            "labels": labels,
            "expires": _day(self.expires),
        }


def _day(text: str) -> datetime | None:
    if not text:
        return None
    try:
        return datetime.strptime(text, "%Y-%m-%d").replace(tzinfo=UTC)
    except ValueError:
        raise SettingsError(
            f"--expires: {text!r} is no date.", "Write it as in 2027-01-31."
        ) from None


async def add(settings: Settings, terminal: Terminal, files: Sequence[Path], about: About) -> None:
    """Every file is read first: one that cannot be taken keeps all of them out, and so does an
    index that does not take them."""
    if about.title and len(files) > 1:
        raise SettingsError("--title is of one file.", "Hand the files in one by one.")
    fields = about.fields(settings)
    store = KeptDocuments(settings.home)
    contents = [(path, _read(path, settings)) for path in files]
    async with opened_library(settings) as library:
        taken: list[Understood] = []
        new: dict[bytes, Path] = {}
        for path, data in contents:
            file = SourceFile(file_name(path.name), data, title=fields["title"])
            taken.append(await understand(library, SourceType.UPLOAD, file))
            if store.holding(data) is None:
                new.setdefault(data, path)
        async with _changes(library, store, terminal) as changes:
            named = [(path.name, data) for data, path in new.items()]
            made = await changes.add(SourceType.UPLOAD, named, TERMINAL.key, **fields)
    added = dict(zip(new, made, strict=True))
    for (path, data), understood in zip(contents, taken, strict=True):
        if kept := added.pop(data, None):
            _told(terminal, kept, understood)
        elif known := store.holding(data):
            waits = f"; a draft: belay documents publish {known.id}" if known.draft else ""
            terminal.plain(
                f"{path}: its content is kept already, as {known.id} ({known.name}){waits}"
            )


async def note(
    settings: Settings, terminal: Terminal, text: str, about: About, *, publish: bool
) -> None:
    if not text.strip():
        text = await asyncio.to_thread(sys.stdin.read)
    if not text.strip():
        raise SourceError("The note is empty.", "Write it behind the command, or pipe it in.")
    fields, store = about.fields(settings), KeptDocuments(settings.home)
    data = text.strip().encode("utf-8", "replace") + b"\n"
    if (known := store.holding(data)) is not None:
        raise SourceError(f"This note is kept already, as {known.id}.", "Replace or delete it.")
    async with opened_library(settings) as library:
        file = SourceFile(_NOTE, data, title=fields["title"])
        understood = await understand(library, SourceType.MANUAL, file)
        if publish:
            async with _changes(library, store, terminal) as changes:
                [kept] = await changes.add(
                    SourceType.MANUAL, [(_NOTE, data)], TERMINAL.key, **fields
                )
        else:
            kept = store.add(SourceType.MANUAL, _NOTE, data, TERMINAL.key, **fields, draft=True)
    _told(terminal, kept, understood)
    if not publish:
        terminal.plain(f"a draft; publish it with: belay documents publish {kept.id}")


async def show_all(
    settings: Settings, terminal: Terminal, kinds: Sequence[str], as_json: bool
) -> None:
    types = document_types(kinds)
    rows = [_row(item) for item in KeptDocuments(settings.home).all() if item.kind in types]
    index = await open_index(settings)
    try:
        for record in await index.sources():
            if record.kind in types and record.kind not in NAMES:
                files = await index.records(record.name)
                rows += [
                    {"id": f"{record.name}/{path}", "type": record.kind, "title": file.title,
                     "state": "published", "by": record.name, "from": ""}
                    for path, file in sorted(files.items())
                    if file.state is FileState.INDEXED
                ]  # fmt: skip
    finally:
        await index.close()
    if as_json:
        terminal.plain(to_json(rows))
    elif rows:
        columns = ("id", "type", "state", "title", "by", "from")
        shown = columns if any(row["from"] for row in rows) else columns[:-1]
        terminal.table(shown, [[str(row[name]) for name in shown] for row in rows])
    else:
        terminal.note("There are no documents yet. Try: belay add FILE, or: belay sync ~/runbooks")


def _row(kept: Kept) -> dict[str, Any]:
    state = "draft" if kept.draft else "published"
    plain = {key: value for key, value in asdict(kept).items() if key not in ("kind", "draft")}
    told = {"type": kept.kind, "state": state, "title": kept.title or kept.name}
    return {**plain, **told, "from": _said_in(kept)}


def _said_in(kept: Kept) -> str:
    """A link to the message that brought it; private chats have none on some platforms."""
    platform = kept.by.partition(":")[0]
    return kept.origin or ("" if platform == TERMINAL.platform else f"private chat on {platform}")


async def show(settings: Settings, terminal: Terminal, name: str) -> None:
    store = KeptDocuments(settings.home)
    kept = await _own(settings, store, name)
    for key, value in _row(kept).items():
        if value and key not in _NOT_SHOWN:
            words = ", ".join(value) if isinstance(value, tuple) else str(value)
            terminal.plain(f"{key.replace('_', ' ')}: {words}")
    terminal.plain("")
    file = SourceFile(file_name(kept.name), store.data(kept))
    terminal.plain(await text_of(settings, file))


async def publish(settings: Settings, terminal: Terminal, name: str) -> None:
    store = KeptDocuments(settings.home)
    kept = await _own(settings, store, name)
    if not kept.draft:
        terminal.plain(f"{kept.id}: published already")
        return
    async with opened_library(settings) as library, _changes(library, store, terminal) as changes:
        [published] = await changes.publish([kept])
    terminal.plain(f"{published.id}: published")


async def replace(settings: Settings, terminal: Terminal, name: str, file: Path) -> None:
    store = KeptDocuments(settings.home)
    kept = await _own(settings, store, name)
    data = _read(file, settings)
    async with opened_library(settings) as library:
        given = SourceFile(file_name(file.name), data, title=kept.title)
        understood = await understand(library, kept.kind, given)
        async with _changes(library, store, terminal) as changes:
            _told(terminal, await changes.replace(kept, file.name, data), understood)


async def delete(settings: Settings, terminal: Terminal, name: str) -> None:
    store = KeptDocuments(settings.home)
    kept = await _own(settings, store, name)
    async with opened_library(settings) as library, _changes(library, store, terminal) as changes:
        await changes.delete(kept)
    terminal.plain(f"{kept.id}: deleted ({kept.name})")


async def _own(settings: Settings, store: KeptDocuments, name: str) -> Kept:
    """Raises SourceError, which says why, for a document that was not handed in."""
    if "/" not in name:
        return store.get(name)
    index = await open_index(settings)
    try:
        records = await index.sources()
    finally:
        await index.close()
    for record in records:
        if name.startswith(f"{record.name}/") and record.kind not in NAMES:
            why = "is read-only" if record.kind is SourceType.VAULT else "is changed where it is"
            raise SourceError(
                f"{name!r} was not handed in: its source {record.name!r} ({record.kind}) {why}.",
                "Change the file there, and run `belay sync`.",
            )
    return store.get(name.rpartition("/")[2])


def _read(path: Path, settings: Settings) -> bytes:
    limit = settings.ingest.max_file_bytes
    try:
        with path.open("rb") as file:
            data = file.read(limit + 1)
    except OSError as error:
        reason = (error.strerror or "unreadable").lower()
        raise SourceError(
            f"The file {str(path)!r} cannot be read: {reason}.", "Check the path and permissions."
        ) from None
    if len(data) > limit:
        raise SourceError(
            f"The file {str(path)!r} is larger than {limit} bytes.",
            "Split it, or raise [ingest] max_file_bytes.",
        )
    return data


@asynccontextmanager
async def _changes(
    library: Library, store: KeptDocuments, terminal: Terminal
) -> AsyncIterator[KeptChanges]:
    progress = terminal.progress()
    try:
        yield KeptChanges(library, store, progress)
    finally:
        progress.end()


def _told(terminal: Terminal, kept: Kept, understood: Understood) -> None:
    terminal.plain(f"{kept.id}: {kept.name}")
    for line in understood.lines():
        terminal.plain(f"  {line}")
