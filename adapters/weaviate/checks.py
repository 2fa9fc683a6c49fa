"""What `belay doctor` asks a Weaviate server."""

from __future__ import annotations

from adapters.weaviate.faults import FAULTS, describe
from adapters.weaviate.generations import Generation
from adapters.weaviate.paging import count
from adapters.weaviate.tenants import activity
from bot.ports import Finding


async def findings(now: Generation, url: str) -> list[Finding]:
    """Whether it answers and takes changes: what the index knows of itself is written once more.
    With a tenant, its activity. Whether chunks are missing that files are said to have."""
    try:
        version = (await now.collections.client.get_meta())["version"]
        await now.facts.save_tools(await now.facts.tools())
        tenant, missing = await _tenant(now), await _missing(now)
    except FAULTS as error:
        message, remedy = describe(error, url)
        return [Finding("index", "bad", message, remedy)]
    if missing:
        message = f"{missing} chunks are missing at {url}: they were deleted there, or a backup of "
        message += "another moment was put back"
        return [Finding("index", "bad", message, "run belay sync --rebuild")]
    said = f"Weaviate {version} at {url} answers and takes changes{tenant}"
    return [Finding("index", "ok", said)]


async def _tenant(now: Generation) -> str:
    layout, chunks = now.collections.layout, now.collections.chunks
    if not layout.tenant:
        return ""
    found = await activity(chunks, chunks.tenant or "")
    return f"; tenant {layout.tenant!r} is {found.value.lower() if found else 'missing'}"


async def _missing(now: Generation) -> str:
    """How many chunks fewer there are than the files are said to have: those are counted first,
    as their chunks are stored before and go after."""
    said = sum(held.chunks for held in await now.files.held())
    missing = max(said - await count(now.collections.chunks), 0)
    return f"{missing} of {said}" if missing else ""
