"""Takes a history into the session log, whatever it was exported from."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from bot.errors import SourceError
from bot.histories import jsonl, slack, telegram
from bot.histories.entry import Entry, turns_of
from bot.ports import KnowledgeIndex
from bot.sessions import SessionLog
from graph.model import Document

NOWHERE = ""
"""The source of a document that is not indexed: nobody may read what was drawn from it."""

_FORMATS: Mapping[str, str] = {".jsonl": "JSON lines", ".zip": "Slack", ".json": "Telegram"}


@dataclass(frozen=True, slots=True)
class Loaded:
    """How much a history held."""

    sessions: int
    turns: int


async def load_history(path: Path, log: SessionLog, index: KnowledgeIndex, tenant: str) -> Loaded:
    """Adds the turns of `path`; those that are there already stay one. Raises SourceError, and
    StorageError."""
    resolve = resolver(await _documents(index))
    read = await asyncio.to_thread(lambda: list(_sessions(path, resolve)))
    turns = 0
    for entries in read:
        said = turns_of(entries, tenant)
        turns += len(said)
        await log.add(said)
    return Loaded(len(read), turns)


def _sessions(path: Path, resolve: jsonl.Resolve) -> Iterator[list[Entry]]:
    if not path.is_file():
        raise SourceError(f"There is no file {str(path)!r}.", "Name an exported history.")
    match path.suffix.lower():
        case ".jsonl":
            yield from jsonl.sessions(path, resolve)
        case ".zip":
            yield from slack.sessions(path)
        case ".json":
            yield from telegram.sessions(path)
        case _:
            known = ", ".join(f"{end} ({name})" for end, name in _FORMATS.items())
            raise SourceError(f"{path.name} is no history that can be read.", f"Known: {known}.")


async def _documents(index: KnowledgeIndex) -> frozenset[Document]:
    names = [record.name for record in await index.sources()]
    return frozenset([(name, path) for name in names for path in await index.records(name)])


def resolver(known: frozenset[Document]) -> Callable[[str], tuple[Document, ...]]:
    """Finds documents by their path, or by "source/path"; one that is not known is NOWHERE, so
    that what was drawn from it stays closed."""
    places: dict[str, list[Document]] = {}
    for source, path in sorted(known):
        places.setdefault(path, []).append((source, path))
        places.setdefault(f"{source}/{path}", []).append((source, path))
    return lambda path: tuple(places.get(path, [(NOWHERE, path)]))
