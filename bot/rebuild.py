"""Builds the index anew while the old one answers, and switches when the new one is whole.

What takes long and may fail, reading and embedding, goes into a file of its own. A build that was
cut off goes on with the next one.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path

from bot.adopting import Adopting, Renewing
from bot.app import Library
from bot.engines import REBUILT
from bot.errors import IndexIncompatible
from bot.fenced import fenced
from bot.ingest.lock import held
from bot.ingest.version import CHUNKER_VERSION
from bot.library import LOCK_FILE, Shelf, check, source_of
from bot.migration import Migration
from bot.ports import KnowledgeIndex
from bot.progress import Progress
from bot.registry import factory
from bot.sync_lead import TASK, sole_writer


@asynccontextmanager
async def rebuilt(
    app: Library, chosen: Sequence[Shelf], progress: Progress
) -> AsyncIterator[Library]:
    """A library whose index is built beside; at the end of the block it takes the place of `app`'s.

    When the block raises, or a folder or the embedder cannot be read before, the old index stays
    as it was. Raises BotError, EmbedderError.
    """
    with held(app.settings.home / LOCK_FILE):
        sources = {shelf.name: source_of(app, shelf) for shelf in chosen}
        for source in sources.values():
            await check(source)
    await app.embedder.embed_questions(["ready"])
    path = app.settings.home / REBUILT
    with held(app.settings.home / LOCK_FILE):
        beside = await _begun(app, path)
    try:
        yield replace(app, index=beside, fetched=sources)
        with held(app.settings.home / LOCK_FILE):
            await _forget_others(beside, chosen)
            async with sole_writer(app.settings, TASK, app.index, server=app.server) as index:
                await _switch(await fenced(index), beside, path, progress)
    finally:
        await beside.close()
    _remove(path)


async def _begun(app: Library, path: Path) -> KnowledgeIndex:
    """What an earlier build with the same tools left is kept."""
    index: KnowledgeIndex = await factory("index.sqlite")(path)
    tools = (app.embedder.name, app.embedder.dimension, CHUNKER_VERSION)
    try:
        await index.begin(*tools)
    except IndexIncompatible:
        await index.reset()
        await index.begin(*tools)
    return index


async def _forget_others(index: KnowledgeIndex, chosen: Sequence[Shelf]) -> None:
    """Folders that were part of an earlier build, and are not known any more."""
    names = {shelf.name for shelf in chosen}
    for record in await index.sources():
        if record.name not in names:
            await index.remove_source(record.name)


async def _switch(
    index: KnowledgeIndex, beside: KnowledgeIndex, path: Path, progress: Progress
) -> None:
    """In one step where the store can do that; else as a copy, without embedding again."""
    if isinstance(index, Adopting):
        await index.adopt(path)
    elif not await beside.sources():
        return
    elif isinstance(index, Renewing):
        async with index.renewed() as fresh:
            await Migration(beside, fresh).run(progress)
    else:
        await Migration(beside, index).run(progress, overwrite=True)


def _remove(path: Path) -> None:
    for suffix in ("", "-wal", "-shm"):
        path.with_name(path.name + suffix).unlink(missing_ok=True)
