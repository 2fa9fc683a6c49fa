"""A live Weaviate server, and what happens to it while an index works on it."""

from __future__ import annotations

import asyncio
import multiprocessing
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack
from dataclasses import replace
from datetime import UTC, datetime
from multiprocessing.connection import Connection
from typing import Any
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
from adapters.weaviate.paging import insert
from adapters.weaviate.rows import chunk_rows
from adapters.weaviate.writing import Writing
from bot.errors import IndexIncompatible, StorageError
from bot.ingest.document import content_hash
from graph.errors import StoreError
from graph.model import Access, Scope
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


async def test_st_12_a_read_only_server_still_answers(index: WeaviateIndex, shelf: str) -> None:
    """It is said that nothing can be stored, and why; nothing of the refused change is left, and
    none is marked as done: it is caught up with later."""
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
    assert await put(index, "b.md", "Cordon.") == 1
    assert await by_words(index, "cordon") == {"Cordon."}


async def test_chunks_that_somebody_deleted_are_missed(index: WeaviateIndex) -> None:
    """The files are unchanged, so a sync stores nothing, and questions find nothing of them."""
    await put(index, "a.md", "Drain the node.")
    await put(index, "b.md", "Cordon.", "Uncordon.")
    assert [finding.state for finding in await index.check()] == ["ok"]
    chunks = index.collections.chunks
    lost = (await chunks.query.fetch_objects(limit=2)).objects
    for item in lost:
        await chunks.data.delete_by_id(item.uuid)
    (finding,) = await index.check()
    assert (finding.state, finding.remedy) == ("bad", "run belay sync --rebuild")
    assert "2 of 3 chunks are missing" in finding.message


async def test_st_12_a_read_only_server_can_be_opened(index: WeaviateIndex, shelf: str) -> None:
    """With what an earlier version made there, too: it is brought up later."""
    await put(index, "a.md", "Drain the node.")
    facts = Facts(index.collections)
    await facts.save_tools(replace(await facts.tools(), schema=1))
    await set_shards(shelf, "READONLY")
    again = await open_weaviate(shelf)
    assert await by_words(again, "drain") == {"Drain the node."}
    await again.close()
    await set_shards(shelf, "READY")


async def remake(index: WeaviateIndex, part: str, change: Callable[[dict[str, Any]], None]) -> None:
    """The collection again, empty and made in another way."""
    schema = index.collections.client.collections
    name = getattr(index.collections, part).name
    config = (await schema.export_config(name)).to_dict()
    change(config)
    await schema.delete(name)
    await schema.create_from_dict(config)


LATER = ("access", "content", "parts")  # properties that schema 1 did not have


def as_in_schema_1(config: dict[str, Any]) -> None:
    config["properties"] = [item for item in config["properties"] if item["name"] not in LATER]


async def test_an_index_of_schema_1_is_brought_up_without_embedding(
    index: WeaviateIndex, shelf: str
) -> None:
    access = Access(audience="senior", effective_from=datetime(2026, 1, 2, 3, 4, 5, 6, tzinfo=UTC))
    chunks = [chunk_of("Drain the node.", heading="Draining"), chunk_of("Ё.", access=access)]
    chunks = [replace(chunk, content_hash=content_hash(chunk.passage)) for chunk in chunks]
    await remake(index, "chunks", as_in_schema_1)
    objects = [
        row.to_object(findable=True) for row in chunk_rows("runbooks", "orders/db.md", chunks)
    ]
    for item in objects:
        for name in LATER:
            del item.properties[name]
    await insert(index.collections.chunks, objects)
    facts = Facts(index.collections)
    await facts.save_tools(replace(await facts.tools(), schema=1))
    for _ in range(2):
        again = await open_weaviate(shelf)
        assert (await again.info()).details["schema"] == "3"
        found = [item.chunk for item in await again.stored("runbooks", "orders/db.md")]
        await again.close()
        assert [(item.access, item.content_hash, item.fields) for item in found] == [
            (item.access, item.content_hash, item.fields) for item in chunks
        ]
    assert await put(index, "new.md", "Cordon.") == 1


async def test_a_chunk_of_schema_1_that_cannot_be_copied_names_the_command(
    index: WeaviateIndex, shelf: str
) -> None:
    await remake(index, "chunks", as_in_schema_1)
    (row,) = chunk_rows("runbooks", "a.md", [chunk_of("Drain the node.", "a.md")])
    item = row.to_object(findable=True)
    for name in LATER:
        del item.properties[name]
    await insert(index.collections.chunks, [item])
    facts = Facts(index.collections)
    await facts.save_tools(replace(await facts.tools(), schema=1))
    await (await open_weaviate(shelf)).close()
    with pytest.raises(IndexIncompatible, match=r"runbooks/a\.md") as refusal:
        await index.stored("runbooks", "a.md")
    assert "belay sync --rebuild" in refusal.value.remedy


@pytest.mark.parametrize(
    ("part", "name"), [("chunks", "source"), ("chunks", "labels"), ("files", "source")]
)
async def test_st_02_collections_that_compare_in_another_way_are_refused(
    index: WeaviateIndex, shelf: str, part: str, name: str
) -> None:
    """A filter on words would find look-alike groups."""

    def by_words_alone(config: dict[str, Any]) -> None:
        (found,) = [item for item in config["properties"] if item["name"] == name]
        found["tokenization"] = "word"

    await remake(index, part, by_words_alone)
    with pytest.raises(StorageError, match=rf"{part.title()}\.{name}") as refusal:
        await open_weaviate(shelf)
    assert "BELAY_WEAVIATE__PREFIX" in refusal.value.remedy


async def test_st_09_a_server_that_comes_after_the_bot_is_waited_for(
    index: WeaviateIndex, shelf: str
) -> None:
    """gRPC last, as servers do."""
    await put(index, "a.md", "Drain the node.")
    server, door = urlsplit(WEAVIATE_URL), Endpoint.of(WEAVIATE_URL, WEAVIATE_GRPC)
    async with (
        piped(server.hostname or "", server.port or 80) as rest,
        piped(door.grpc_host, door.grpc_port) as grpc,
    ):
        for pipe in (rest, grpc):
            await pipe.cut()
        async with asyncio.TaskGroup() as group:
            opening = group.create_task(through(rest, grpc, shelf))
            await rest.open()
            await grpc.open()
        far = opening.result()
        assert await by_words(far, "drain") == {"Drain the node."}
        await far.close()


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
