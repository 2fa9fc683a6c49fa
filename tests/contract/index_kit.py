"""An index with something of everything, and all that a store tells of what is in it."""

from __future__ import annotations

from datetime import UTC, datetime

from contract.index_chunks import EMBEDDER, put
from contract.test_index_records import a_profile

from bot.ports import FileRecord, FileState, KnowledgeIndex, SourceRecord, SyncState
from graph.model import Access, SourceType

NOW = datetime(2026, 5, 4, 3, 0, tzinfo=UTC)
BOARD = Access(audience="director", labels=frozenset({"board"}))


async def filled(index: KnowledgeIndex) -> KnowledgeIndex:
    """Two sources, duplicates that no order of whole files would give, a file that was skipped."""
    await index.begin(*EMBEDDER)
    await put(index, "b.md", "Drain the node.")
    await put(index, "a.md", "Cordon the node.", "Drain the node.")
    await put(index, "b.md", "Drain the node.", "Cordon the node.", "Call the vendor.")
    await put(index, "page.md", "Drain the node.", source="wiki")
    await put(index, "board.md", "Only the board reads this.", source="wiki", access=BOARD)
    skipped = FileRecord("x.bin", "f9", FileState.SKIPPED, "binary", "no text", updated_at=NOW)
    await index.replace("wiki", skipped, [])
    for name in ("runbooks", "wiki"):
        await index.save_source(
            SourceRecord(name, SourceType.FOLDER, f"/{name}", SyncState.COMPLETE, NOW, 3, 4, 1, "x")
        )
    await index.save_profile(a_profile((await index.info()).revision))
    return index


async def contents(index: KnowledgeIndex) -> object:
    """All that a store tells of what is in it."""
    sources = list(await index.sources())
    records = {record.name: dict(await index.records(record.name)) for record in sources}
    files = [(name, path) for name, known in records.items() for path in sorted(known)]
    stored = {file: await index.stored(*file) for file in files}
    shown = {
        file: [(i.chunk.passage, i.chunk.access, i.chunk.fields, i.findable) for i in items]
        for file, items in stored.items()
    }
    found = [(p, v.tobytes(), t.to_bytes()) async for p, v, t in index.chunks()]
    info = await index.info()
    tools = (info.embedder, info.dimension, info.chunker, info.chunks)
    return sources, records, shown, found, tools
