"""An index whose writer may have been replaced meanwhile: it looks before each change.

What is read needs no lead. A change that was on its way when the lead was lost may still arrive; it
is a whole file, and the next sync sees by its fingerprint that it is not the newest.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Collection, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Protocol, runtime_checkable

from bot.adopting import Renewing
from bot.leadership import Lead
from bot.ports import Chunk, FileRecord, IndexInfo, KnowledgeIndex, SourceRecord, Stored
from graph.model import Document, Passage, Scope
from graph.ports import Candidate, Search, Vector
from graph.profile import Profile
from graph.terms import TermCounts


@runtime_checkable
class Fencing(Protocol):
    """A store that itself compares the numbers of its writers, in one step with each change."""

    async def fenced(self) -> KnowledgeIndex:
        """The same index for one more writer. From now on the changes of earlier ones raise
        LeadLost and change nothing. It is closed with the index that it comes from. Raises
        StorageError."""


async def fenced(index: KnowledgeIndex) -> KnowledgeIndex:
    """`index` for whoever has just become its only writer, where the store can tell writers
    apart; else `index` itself. Raises StorageError."""
    return await index.fenced() if isinstance(index, Fencing) else index


class FencedIndex(KnowledgeIndex):
    """Confirms the lead immediately before each change: for stores that cannot compare.

    Changes raise LeadLost as well as what those of `index` raise.
    """

    def __init__(self, index: KnowledgeIndex, lead: Lead) -> None:
        self._index, self._lead = index, lead

    async def begin(self, embedder: str, dimension: int, chunker: str) -> None:
        await self._lead.confirm()
        await self._index.begin(embedder, dimension, chunker)

    async def replace(self, source: str, record: FileRecord, chunks: Sequence[Chunk]) -> int:
        await self._lead.confirm()
        return await self._index.replace(source, record, chunks)

    async def remove(self, source: str, paths: Sequence[str]) -> int:
        await self._lead.confirm()
        return await self._index.remove(source, paths)

    async def save_source(self, record: SourceRecord) -> None:
        await self._lead.confirm()
        await self._index.save_source(record)

    async def remove_source(self, name: str) -> int:
        await self._lead.confirm()
        return await self._index.remove_source(name)

    async def save_profile(self, profile: Profile) -> None:
        await self._lead.confirm()
        await self._index.save_profile(profile)

    async def reset(self) -> None:
        await self._lead.confirm()
        await self._index.reset()

    async def profile(self) -> Profile:
        return await self._index.profile()

    async def search(self, search: Search, scope: Scope) -> Sequence[Candidate]:
        return await self._index.search(search, scope)

    async def mentioned(self, terms: Sequence[str], scope: Scope) -> frozenset[str]:
        return await self._index.mentioned(terms, scope)

    async def document(self, passage: Passage, scope: Scope) -> Sequence[Passage]:
        return await self._index.document(passage, scope)

    async def readable(self, documents: Collection[Document], scope: Scope) -> frozenset[Document]:
        return await self._index.readable(documents, scope)

    async def info(self) -> IndexInfo:
        return await self._index.info()

    async def records(self, source: str) -> Mapping[str, FileRecord]:
        return await self._index.records(source)

    async def stored(self, source: str, path: str) -> Sequence[Stored]:
        return await self._index.stored(source, path)

    async def sources(self) -> Sequence[SourceRecord]:
        return await self._index.sources()

    async def files_in(self, scope: Scope) -> Mapping[str, int]:
        return await self._index.files_in(scope)

    def chunks(self) -> AsyncIterator[tuple[Passage, Vector, TermCounts]]:
        return self._index.chunks()

    async def close(self) -> None:
        await self._index.close()


class FencedRenewing(FencedIndex, Renewing):
    """One that can be filled anew beside itself, of which the lead is confirmed as well before
    the new one takes its place."""

    def __init__(self, index: KnowledgeIndex, renewing: Renewing, lead: Lead) -> None:
        super().__init__(index, lead)
        self._renewing = renewing

    @asynccontextmanager
    async def renewed(self) -> AsyncIterator[KnowledgeIndex]:
        async with self._renewing.renewed() as fresh:
            yield FencedIndex(fresh, self._lead)
            await self._lead.confirm()


def behind(index: KnowledgeIndex, lead: Lead) -> KnowledgeIndex:
    """`index`, which is changed only while `lead` holds."""
    if isinstance(index, Renewing):
        return FencedRenewing(index, index, lead)
    return FencedIndex(index, lead)
