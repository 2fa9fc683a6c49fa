"""A live Weaviate server, and what happens to it while an index works on it."""

from __future__ import annotations

import asyncio
import multiprocessing
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from dataclasses import replace
from multiprocessing.connection import Connection
from urllib.parse import urlsplit
from uuid import uuid4

import aiohttp
import pytest
from contract.index_chunks import (
    EMBEDDER,
    NEEDS_WEAVIATE,
    WEAVIATE_GRPC,
    WEAVIATE_KEY,
    WEAVIATE_URL,
    by_meaning,
    by_words,
    chunk_of,
    close_index,
    open_weaviate,
    put,
    record_of,
    vector_of,
)
from servers.tcp_pipe import Pipe, piped

from adapters.weaviate import WeaviateIndex
from adapters.weaviate.facts import Facts
from adapters.weaviate.faults import Refused
from adapters.weaviate.files import Files
from adapters.weaviate.options import Endpoint, Layout, Waits
from adapters.weaviate.writing import Writing
from bot.errors import StorageError
from graph.errors import StoreError
from graph.model import Scope
from graph.ports import Search

pytestmark = NEEDS_WEAVIATE
LAYOUT = Layout(prefix="BelayTests")
PARTS = 3
SPAWN = multiprocessing.get_context("spawn")


@pytest.fixture
def shelf() -> str:
    return f"Suite{uuid4().hex}"


@pytest.fixture
async def index(shelf: str) -> AsyncIterator[WeaviateIndex]:
    index = await open_weaviate(shelf)
    await index.begin(*EMBEDDER)
    yield index
    await close_index(index)


async def set_shards(shelf: str, status: str) -> None:
    headers = {"Authorization": f"Bearer {WEAVIATE_KEY}"} if WEAVIATE_KEY else {}
    async with aiohttp.ClientSession(WEAVIATE_URL, headers=headers) as client:
        for part in ("Chunks", "Files", "Facts"):
            path = f"/v1/schema/{LAYOUT.prefix}{shelf}{part}/shards"
            async with client.get(path) as answer:
                names = [shard["name"] for shard in await answer.json()]
            for name in names:
                async with client.put(f"{path}/{name}", json={"status": status}) as answer:
                    answer.raise_for_status()


async def test_st_10_a_read_only_server_still_answers(index: WeaviateIndex, shelf: str) -> None:
    """It is said that nothing can be stored, and why; nothing of the refused change is left."""
    await put(index, "a.md", "Drain the node.")
    assert [finding.state for finding in await index.check()] == ["ok"]
    await set_shards(shelf, "READONLY")
    for change in (put(index, "b.md", "Cordon."), index.remove("runbooks", ["a.md"])):
        with pytest.raises(StorageError, match="read-only") as refusal:
            await change
        assert "disk is nearly full" in refusal.value.remedy
    assert [finding.state for finding in await index.check()] == ["bad"]
    assert await by_words(index, "drain") == {"Drain the node."}
    await set_shards(shelf, "READY")
    assert await by_meaning(index, "x") == {"Drain the node."}
    assert list(await index.records("runbooks")) == ["a.md"]


async def test_an_index_of_a_newer_version_is_refused(index: WeaviateIndex, shelf: str) -> None:
    facts = Facts(index.collections)
    await facts.save_tools(replace(await facts.tools(), schema=99))
    with pytest.raises(StorageError, match="newer version of Belay") as refusal:
        await open_weaviate(shelf)
    assert "BELAY_WEAVIATE__PREFIX" in refusal.value.remedy


async def test_an_object_that_the_server_refuses_leaves_the_file_as_it_was(
    index: WeaviateIndex,
) -> None:
    """ST-07: one bad object in a batch; the good ones of the same file go again."""
    await put(index, "a.md", "Drain the node.")
    good = chunk_of("Cordon the node.", "a.md")
    bad = chunk_of("Call the vendor.", "a.md", ordinal=1, vector=vector_of("x", 8))
    parts = index.collections
    unchecked = Writing(parts, Facts(parts), Files(parts))
    with pytest.raises(Refused, match="1 objects"):
        await unchecked.replace("runbooks", record_of("a.md", "f2"), [good, bad])
    assert await by_meaning(index, "x") == {"Drain the node."}
    assert (await index.records("runbooks"))["a.md"].fingerprint == "f1"


async def through(rest: Pipe, grpc: Pipe, shelf: str) -> WeaviateIndex:
    return await WeaviateIndex.open(
        f"http://127.0.0.1:{rest.port}",
        grpc=f"127.0.0.1:{grpc.port}",
        key=WEAVIATE_KEY,
        shelf=shelf,
        layout=LAYOUT,
        waits=Waits(start=10.0, query=1.0, write=2.0, look=0.5),
    )


@pytest.mark.parametrize("way", ["cut", "hold"])
async def test_a_server_that_goes_away_is_a_failure_with_its_name_and_comes_back(
    index: WeaviateIndex, shelf: str, way: str
) -> None:
    await put(index, "a.md", "Drain the node.")
    server = urlsplit(WEAVIATE_URL)
    door = Endpoint.of(WEAVIATE_URL, WEAVIATE_GRPC)
    async with (
        AsyncExitStack() as stack,
        piped(server.hostname or "", server.port or 80) as rest,
        piped(door.grpc_host, door.grpc_port) as grpc,
    ):
        far = await through(rest, grpc, shelf)
        stack.push_async_callback(far.close)
        assert await by_words(far, "drain") == {"Drain the node."}
        for pipe in (rest, grpc):
            if way == "cut":
                await pipe.cut()
            else:
                pipe.hold()
        with pytest.raises(StoreError, match="does not answer"):
            await far.search(Search(("drain",), None), Scope())
        with pytest.raises(StorageError, match="does not answer"):
            await put(far, "b.md", "Cordon the node.")
        for pipe in (rest, grpc):
            if way == "cut":
                await pipe.open()
            else:
                pipe.flow()
        async with asyncio.timeout(30):
            while not await found_again(far):
                pass


async def found_again(index: WeaviateIndex) -> bool:
    try:
        return await by_words(index, "drain") == {"Drain the node."}
    except StoreError:
        return False


def write_until_killed(server: tuple[str, str, str], shelf: str, sender: Connection) -> None:
    """In a process of its own, which has no settings from the environment."""

    async def write() -> None:
        url, grpc, key = server
        index = await WeaviateIndex.open(url, grpc=grpc, key=key, shelf=shelf, layout=LAYOUT)
        version = 0
        while True:
            await put(index, "a.md", *(f"version{version} part{part}" for part in range(PARTS)))
            version += 1
            sender.send(version)

    asyncio.run(write())


async def test_st_06_the_next_sync_repairs_what_a_killed_one_left(
    index: WeaviateIndex, shelf: str
) -> None:
    """SIGKILL in the middle of writes: never a file without chunks, and one version after all."""
    server = (WEAVIATE_URL, WEAVIATE_GRPC, WEAVIATE_KEY)
    for _ in range(3):
        receiver, sender = SPAWN.Pipe(duplex=False)
        writer = SPAWN.Process(target=write_until_killed, args=(server, shelf, sender))
        writer.start()
        while await asyncio.to_thread(receiver.recv) < 3:
            pass
        writer.kill()
        writer.join()
        assert len(await by_meaning(index, "x")) >= PARTS
        texts = [f"again part{part}" for part in range(PARTS)]
        assert await put(index, "a.md", *texts) == PARTS
        assert await by_meaning(index, "x") == set(texts)
        assert (await index.info()).chunks == PARTS
        assert await index.remove("runbooks", ["a.md"]) == PARTS
