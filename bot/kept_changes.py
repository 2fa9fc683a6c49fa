"""Changes of what was handed in: in the data folder and in the index, or in neither.

A change whose sync fails is undone, and what the index took of it by then is taken out again. A
process that dies in between leaves the data folder changed, and the next sync, or the same change
again, brings the index after it.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any

from bot.app import Library
from bot.errors import BotError, IndexIncompatible, SourceError, SyncBusy
from bot.kept import NAMES, Kept, KeptDocuments, file_name
from bot.library import sync_kept
from bot.progress import Progress, Silent
from graph.errors import GraphError
from graph.model import SourceType

_REFUSED = (SyncBusy, IndexIncompatible)
"""Nothing was stored, or another process has taken over."""

_log = logging.getLogger(__name__)


class KeptChanges:
    """All methods raise BotError and GraphError; then nothing was changed."""

    def __init__(
        self, library: Library, store: KeptDocuments, progress: Progress | None = None
    ) -> None:
        self._library, self._store = library, store
        self._progress = progress or Silent()

    async def findable(self, kept: Kept) -> bool:
        """Whether it is published, and in the index."""
        if kept.draft:
            return False
        return kept.path in await self._library.index.records(NAMES[kept.kind])

    async def add(
        self, kind: SourceType, files: Sequence[tuple[str, bytes]], by: str, **about: Any
    ) -> list[Kept]:
        """New documents that are findable at once, all of them or none; each a name and its
        content. `about` are further fields of Kept. Without files the index is brought up to date:
        an earlier process may have died before."""
        made: list[Kept] = []
        async with self._undone([], made):
            for name, data in files:
                made.append(self._store.add(kind, name, data, by, **about))
            await self._sync([kind])
        return made

    async def publish(self, drafts: Sequence[Kept]) -> list[Kept]:
        """They become findable. One that replaces a document takes its place, with its id and its
        readers."""
        olds = [await asyncio.to_thread(self._replaced, draft) for draft in drafts]
        made = [_published(draft, old) for draft, old in zip(drafts, olds, strict=True)]
        known = [old for old in olds if old is not None]
        async with self._undone([*known, *drafts], made):
            await asyncio.to_thread(self._put, made)
            await asyncio.to_thread(
                self._drop, [d for d, old in zip(drafts, olds, strict=True) if old]
            )
            await self._sync([draft.kind for draft in drafts])
        await asyncio.to_thread(self._sweep, known)
        return made

    async def replace(self, kept: Kept, file: str, data: bytes) -> Kept:
        """Another content under the same id, for the same readers."""
        content = await asyncio.to_thread(self._store.keep, data)
        made = replace(kept, name=file_name(file), content=content, size=len(data))
        async with self._undone([kept], [made]):
            await asyncio.to_thread(self._store.put, made)
            await self._sync([made.kind])
        await asyncio.to_thread(self._store.sweep, kept.content)
        return made

    async def delete(self, kept: Kept) -> None:
        """Out of the index first, then out of the data folder. A draft is in no index."""
        if not kept.draft:
            async with self._undone([kept], []):
                await asyncio.to_thread(self._store.put, replace(kept, draft=True))
                await self._sync([kept.kind])
        await asyncio.to_thread(self._store.delete, kept)

    def _replaced(self, draft: Kept) -> Kept | None:
        """None when the document that it was to replace has gone since."""
        if not draft.replaces:
            return None
        try:
            return self._store.get(draft.replaces)
        except SourceError:
            return None

    async def _sync(self, kinds: Sequence[SourceType]) -> None:
        for kind in dict.fromkeys(kinds):
            await sync_kept(self._library, kind, self._progress)

    @asynccontextmanager
    async def _undone(self, before: Sequence[Kept], made: Sequence[Kept]) -> AsyncIterator[None]:
        """When the block fails, or is cancelled, the records are again as they were, without those
        that are only among `made`; what the index stored by then follows them."""
        try:
            yield
        except BaseException as error:
            self._put(before)
            known = {kept.id for kept in before}
            self._drop([kept for kept in made if kept.id not in known])
            self._sweep(made)
            if not isinstance(error, _REFUSED):
                await self._follow([kept.kind for kept in (*before, *made)])
            raise

    async def _follow(self, kinds: Sequence[SourceType]) -> None:
        """Brings the index after the data folder: a part may be stored, and the source be called
        failed for what is not there any more."""
        try:
            await self._sync(kinds)
        except (BotError, GraphError) as error:
            _log.warning("the index may hold a part of it until the next sync: %s", error)

    def _put(self, records: Sequence[Kept]) -> None:
        for kept in records:
            self._store.put(kept)

    def _drop(self, records: Sequence[Kept]) -> None:
        for kept in records:
            self._store.drop(kept)

    def _sweep(self, records: Sequence[Kept]) -> None:
        for kept in records:
            self._store.sweep(kept.content)


def _published(draft: Kept, old: Kept | None) -> Kept:
    """As it is kept from now on; `batch` still leads from the draft's buttons to it."""
    batch = draft.batch or draft.id
    if old is None:
        return replace(draft, draft=False, draft_until=None, replaces="", batch=batch)
    return replace(
        old,
        name=draft.name,
        content=draft.content,
        size=draft.size,
        by=draft.by,
        added_at=draft.added_at,
        title=draft.title,
        origin=draft.origin,
        batch=batch,
    )
