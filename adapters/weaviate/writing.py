"""Changes of the chunks, in an order that leaves nothing missing wherever it breaks off.

Weaviate has no transactions. What a file holds now is stored beside what it held before, under ids
of its own; only then the old objects go, and the file's record is written last. Whoever reads
meanwhile sees both versions for a moment, never none. What a crash leaves is chunks of both
versions, and a record that still describes the old one or is missing: the next sync reads the file
again, finds the new objects stored, and deletes the old ones.

A text (access rule and content hash) is findable once: where it was first. A copy of it elsewhere
becomes findable before the first one goes; a crash in between leaves both findable, which searches
unite and the next change of the file ends. One process writes at a time.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from uuid import UUID

from weaviate.classes.query import Filter

from adapters.weaviate.collections import Collections
from adapters.weaviate.facts import Facts
from adapters.weaviate.faults import FAULTS
from adapters.weaviate.files import Files
from adapters.weaviate.paging import BATCH, delete_all, everything, groups, insert
from adapters.weaviate.rows import ChunkRow, chunk_rows, document_key, document_of, exact
from adapters.weaviate.scopes import Where
from bot.ports import Chunk, FileRecord
from graph.model import Document


@dataclass(frozen=True, slots=True)
class _Stored:
    id: UUID
    document: Document
    text: str
    findable: bool


class Writing:
    """To be called by one task at a time."""

    def __init__(self, collections: Collections, facts: Facts, files: Files) -> None:
        self._collections = collections
        self._facts = facts
        self._files = files

    async def replace(self, source: str, record: FileRecord, chunks: Sequence[Chunk]) -> int:
        """Returns how many of the file's chunks are findable; the others are duplicates."""
        document = (source, record.path)
        rows = chunk_rows(source, record.path, chunks)
        stored = {item.id: item for item in await self._of_document(document)}
        shown = {row.id: stored[row.id].findable for row in rows if row.id in stored}
        fresh = [row for row in rows if row.id not in stored]
        stale = [item for item in stored.values() if item.id not in shown]
        if fresh or stale:
            await self._facts.grow_revision()
            taken = await self._taken([row.text for row in fresh], document)
            shown |= {row.id: row.text not in taken for row in fresh}
            await self._add(fresh, shown)
            kept = {row.text for row in rows}
            await self._promote({item.text for item in stale if item.findable} - kept, {document})
            await self._delete([item.id for item in stale])
        await self._files.save(source, record, len(rows))
        return sum(shown.values())

    async def remove(self, source: str, paths: Sequence[str]) -> int:
        """Returns by how many the findable chunks became fewer."""
        documents = [(source, path) for path in paths]
        gone = 0
        for some in groups(documents):
            keys = [document_key(document) for document in some]
            gone += await self._withdraw(
                Filter.by_property("document").contains_any(keys), set(some)
            )
        await self._files.forget(documents)
        return gone

    async def remove_source(self, source: str) -> int:
        """Returns by how many the findable chunks became fewer."""
        where = Filter.by_property("source").equal(exact(source))
        stored = await self._stored(where)
        gone = await self._withdraw(where, {item.document for item in stored})
        await self._files.forget_source(source)
        await self._facts.forget_source(source)
        return gone

    async def _withdraw(self, where: Where, documents: set[Document]) -> int:
        stored = await self._stored(where)
        if not stored:
            return 0
        await self._facts.grow_revision()
        shown = {item.text for item in stored if item.findable}
        promoted = await self._promote(shown, documents)
        await delete_all(self._collections.chunks, where)
        return len(shown) - promoted

    async def _add(self, rows: Sequence[ChunkRow], shown: dict[UUID, bool]) -> None:
        """All of them or, as far as the server still listens, none."""
        objects = [row.to_object(findable=shown[row.id]) for row in rows]
        try:
            await insert(self._collections.chunks, objects)
        except FAULTS:
            await self._delete([row.id for row in rows])
            raise

    async def _delete(self, ids: Sequence[UUID]) -> None:
        for some in groups(ids):
            await delete_all(self._collections.chunks, Filter.by_id().contains_any(list(some)))

    async def _taken(self, texts: Iterable[str], document: Document) -> set[str]:
        """Those of `texts` that another document shows."""
        return {
            item.text
            for item in await self._with_texts(texts)
            if item.findable and item.document != document
        }

    async def _promote(self, texts: Iterable[str], leaving: set[Document]) -> int:
        """Makes each text findable at another place that has it; returns how many have one."""
        heirs: dict[str, _Stored] = {}
        for item in await self._with_texts(texts):
            if item.document in leaving:
                continue
            heir = heirs.get(item.text, item)
            heirs[item.text] = min(heir, item, key=lambda one: (not one.findable, one.document))
        for heir in heirs.values():
            if not heir.findable:
                await self._collections.chunks.data.update(heir.id, properties={"findable": True})
        return len(heirs)

    async def _with_texts(self, texts: Iterable[str]) -> list[_Stored]:
        found: list[_Stored] = []
        for some in groups(sorted(texts), BATCH):
            found += await self._stored(Filter.by_property("text").contains_any(list(some)))
        return found

    async def _of_document(self, document: Document) -> list[_Stored]:
        return await self._stored(Filter.by_property("document").equal(document_key(document)))

    async def _stored(self, where: Where) -> list[_Stored]:
        names = ("document", "text", "findable")
        return [
            _Stored(
                item.uuid,
                document_of(item.properties["document"]),
                item.properties["text"],
                item.properties["findable"],
            )
            for item in await everything(self._collections.chunks, where, names)
        ]
