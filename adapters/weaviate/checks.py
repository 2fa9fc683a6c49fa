"""What `belay doctor` asks a Weaviate server."""

from __future__ import annotations

from weaviate import WeaviateAsyncClient

from adapters.weaviate.facts import Facts
from adapters.weaviate.faults import FAULTS, describe
from bot.ports import Finding


async def findings(client: WeaviateAsyncClient, facts: Facts, url: str) -> list[Finding]:
    """Whether it answers and takes changes: what the index knows of itself is written once more."""
    try:
        version = (await client.get_meta())["version"]
        await facts.save_tools(await facts.tools())
    except FAULTS as error:
        message, remedy = describe(error, url)
        return [Finding("index", "bad", message, remedy)]
    return [Finding("index", "ok", f"Weaviate {version} at {url} answers and takes changes")]
