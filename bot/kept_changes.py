"""Changes of what was handed in: in the data folder and in the index, or in neither.

A change whose sync fails is undone. A process that dies in between leaves the data folder changed,
and the next sync, or the same change again, brings the index after it.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace

from bot.app import Library
from bot.errors import SourceError
from bot.kept import NAMES, Kept, KeptDocuments, file_name
from bot.library import sync_kept
from bot.progress import Progress, Silent


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
            await self._sync(drafts)
        await asyncio.to_thread(self._sweep, known)
        return made

    async def replace(self, kept: Kept, file: str, data: bytes) -> Kept:
        """Another content under the same id, for the same readers."""
        content = await asyncio.to_thread(self._store.keep, data)
        made = replace(kept, name=file_name(file), content=content, size=len(data))
        async with self._undone([kept], [made]):
            await asyncio.to_thread(self._store.put, made)
            await self._sync([made])
        await asyncio.to_thread(self._store.sweep, kept.content)
        return made

    async def delete(self, kept: Kept) -> None:
        """Out of the index first, then out of the data folder. A draft is in no index."""
        if not kept.draft:
            async with self._undone([kept], []):
                await asyncio.to_thread(self._store.put, replace(kept, draft=True))
                await self._sync([kept])
        await asyncio.to_thread(self._store.delete, kept)

    def _replaced(self, draft: Kept) -> Kept | None:
        """None when the document that it was to replace has gone since."""
        if not draft.replaces:
            return None
        try:
            return self._store.get(draft.replaces)
        except SourceError:
            return None

    async def _sync(self, changed: Sequence[Kept]) -> None:
        for kind in dict.fromkeys(kept.kind for kept in changed):
            await sync_kept(self._library, kind, self._progress)

    @asynccontextmanager
    async def _undone(self, before: Sequence[Kept], made: Sequence[Kept]) -> AsyncIterator[None]:
        """When the block fails, or is cancelled, the records are again as they were."""
        try:
            yield
        except BaseException:
            self._put(before)
            self._sweep(made)
            raise

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
