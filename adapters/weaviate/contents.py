"""What holds for an index as a whole: its tools, its counts, that it is empty."""

from __future__ import annotations

import asyncio
from dataclasses import replace

from weaviate.classes.query import Filter

from adapters.index_mismatch import other_tools
from adapters.weaviate.facts import Tools
from adapters.weaviate.generations import Generation
from adapters.weaviate.paging import count
from adapters.weaviate.rows import exact
from adapters.weaviate.scopes import findable
from bot.ports import SourceRecord


async def begun(now: Generation, wanted: tuple[str, int, str]) -> None:
    """Names what it is built with. Raises IndexIncompatible when it has chunks of other tools."""
    tools = await now.facts.tools()
    if tools.names == wanted:
        return
    if await counted(now):
        raise other_tools(tools.names, wanted)
    embedder, dimension, chunker = wanted
    if tools.dimension not in (0, dimension):
        await now.collections.renew("Chunks")
    await now.facts.save_tools(
        replace(tools, embedder=embedder, dimension=dimension, chunker=chunker)
    )


async def counted(now: Generation) -> int:
    """Its findable chunks."""
    return await count(now.collections.chunks, findable())


async def counted_sources(now: Generation) -> list[SourceRecord]:
    """Its sources by name, with the findable chunks of each."""
    records = await now.facts.sources()
    named = [Filter.by_property("source").equal(exact(record.name)) for record in records]
    counts = await asyncio.gather(
        *(count(now.collections.chunks, where & findable()) for where in named)
    )
    return [replace(record, chunks=n) for record, n in zip(records, counts, strict=True)]


async def emptied(now: Generation) -> None:
    """Forgets all but the names of the sources. A crash leaves an index without tools."""
    tools, chunks = await asyncio.gather(now.facts.tools(), counted(now))
    await now.facts.save_tools(Tools(revision=tools.revision + bool(chunks)))
    await now.facts.forget_profile()
    await now.collections.renew("Files", "Chunks")
    for record in await now.facts.sources():
        await now.facts.save_source(SourceRecord(record.name, record.kind, record.location))
