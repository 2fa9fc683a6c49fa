"""The sources of which an audience may read anything."""

from __future__ import annotations

from dataclasses import replace

from bot.ports import KnowledgeIndex, SourceRecord
from graph.model import Scope


async def readable_sources(index: KnowledgeIndex, scope: Scope) -> list[SourceRecord]:
    """The sources of which `scope` may read anything, with the number of documents that it may
    read. Raises StorageError."""
    counts = await index.files_in(scope)
    return [
        replace(record, files=counts[record.name])
        for record in await index.sources()
        if record.name in counts
    ]
