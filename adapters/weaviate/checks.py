"""What `belay doctor` asks a Weaviate server."""

from __future__ import annotations

from adapters.weaviate.faults import FAULTS, describe
from adapters.weaviate.generations import Generation
from adapters.weaviate.tenants import activity
from bot.ports import Finding


async def findings(now: Generation, url: str) -> list[Finding]:
    """Whether it answers and takes changes: what the index knows of itself is written once more.
    With a tenant, its activity."""
    try:
        version = (await now.collections.client.get_meta())["version"]
        await now.facts.save_tools(await now.facts.tools())
        tenant = await _tenant(now)
    except FAULTS as error:
        message, remedy = describe(error, url)
        return [Finding("index", "bad", message, remedy)]
    said = f"Weaviate {version} at {url} answers and takes changes{tenant}"
    return [Finding("index", "ok", said)]


async def _tenant(now: Generation) -> str:
    layout, chunks = now.collections.layout, now.collections.chunks
    if not layout.tenant:
        return ""
    found = await activity(chunks, chunks.tenant or "")
    return f"; tenant {layout.tenant!r} is {found.value.lower() if found else 'missing'}"
