"""What an index knows of each file, whether it has chunks or was skipped."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from weaviate.classes.data import DataObject
from weaviate.classes.query import Filter

from adapters.weaviate.collections import Collections
from adapters.weaviate.paging import delete_all, everything, groups, insert
from adapters.weaviate.rows import exact, file_from_json, object_id, record_to_json, spot
from bot.ports import FileRecord
from graph.model import Document


@dataclass(frozen=True, slots=True)
class Held:
    """How many objects a document has in the collection of chunks."""

    document: Document
    chunks: int


class Files:
    """One object a file, written after its chunks: a file without it is read again."""

    def __init__(self, collections: Collections) -> None:
        self._collections = collections

    async def records(self, source: str) -> dict[str, FileRecord]:
        """By path."""
        wanted = Filter.by_property("source").equal(exact(source))
        found = await everything(self._collections.files, wanted, ("data",))
        records = [file_from_json(item.properties["data"]) for item in found]
        return {record.path: record for record in sorted(records, key=lambda item: item.path)}

    async def held(self) -> list[Held]:
        """The documents that have chunks, in order."""
        found = await everything(self._collections.files, None, ("source_name", "path", "held"))
        documents = [
            Held((item.properties["source_name"], item.properties["path"]), item.properties["held"])
            for item in found
        ]
        return sorted((d for d in documents if d.chunks), key=lambda item: item.document)

    async def save(self, source: str, record: FileRecord, chunks: int) -> None:
        identity = object_id("file", source, record.path)
        properties = {
            "source": exact(source),
            "source_name": source,
            "path": record.path,
            "held": chunks,
            "spot": spot(identity),
            "data": record_to_json(record),
        }
        await insert(self._collections.files, [DataObject(properties=properties, uuid=identity)])

    async def forget(self, documents: Sequence[Document]) -> None:
        for some in groups(documents):
            ids = [object_id("file", *document) for document in some]
            await delete_all(self._collections.files, Filter.by_id().contains_any(ids))

    async def forget_source(self, source: str) -> None:
        wanted = Filter.by_property("source").equal(exact(source))
        await delete_all(self._collections.files, wanted)
