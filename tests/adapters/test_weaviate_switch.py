"""ST-05: an index of a Weaviate server is built anew beside the one that answers, and switched."""

from __future__ import annotations

import asyncio
import multiprocessing
from collections.abc import AsyncIterator, Sequence
from contextlib import suppress
from multiprocessing.connection import Connection

import pytest
from contract.index_chunks import (
    EMBEDDER,
    NEEDS_WEAVIATE,
    SERVED,
    WEAVIATE_GRPC,
    WEAVIATE_KEY,
    WEAVIATE_URL,
    by_meaning,
    by_words,
    close_index,
    open_weaviate,
    place_of,
    put,
)
from contract.index_kit import contents, filled

from adapters.weaviate import WeaviateIndex
from adapters.weaviate.facts import Facts
from adapters.weaviate.generations import Aside, Generation, Generations
from adapters.weaviate.options import Layout, Waits
from adapters.weaviate.rows import object_id
from bot.errors import SyncBusy
from bot.ports import KnowledgeIndex
from graph.errors import IndexEmpty, StoreError
from graph.model import Document, Scope
from graph.ports import Search
from graph.text import tokens

pytestmark = NEEDS_WEAVIATE
SPAWN = multiprocessing.get_context("spawn")
OLD, NEW = {f"Old text {n}." for n in range(9)}, {f"New text {n}." for n in range(9)}
Place = tuple[str, str]


@pytest.fixture(params=SERVED)
def place(request: pytest.FixtureRequest) -> Place:
    return place_of(request.param)


@pytest.fixture
async def index(place: Place) -> AsyncIterator[WeaviateIndex]:
    index = await open_weaviate(*place)
    await index.begin(*EMBEDDER)
    await fill(index, OLD)
    yield index
    await close_index(index)


@pytest.fixture
async def replica(index: WeaviateIndex, place: Place) -> AsyncIterator[WeaviateIndex]:
    replica = await open_weaviate(*place)
    assert await by_words(replica, "text") == OLD
    yield replica
    await replica.close()


async def fill(index: KnowledgeIndex, texts: set[str]) -> None:
    for number, text in enumerate(sorted(texts)):
        await put(index, f"{number}.md", text)


async def renew(index: WeaviateIndex, texts: set[str]) -> None:
    async with index.renewed() as fresh:
        await fresh.begin(*EMBEDDER)
        await fill(fresh, texts)


async def numbers(index: WeaviateIndex) -> Sequence[int]:
    return await index.collections.generations()


async def test_readers_see_the_old_or_the_new_and_never_neither(
    index: WeaviateIndex, replica: WeaviateIndex
) -> None:
    """By words, by meaning, in counts and lists: all the while, through three switches."""
    over = asyncio.Event()
    seen: list[frozenset[str]] = []
    documents: list[Document] = [("runbooks", f"{n}.md") for n in range(len(OLD))]

    async def look() -> None:
        while not over.is_set():
            for search in (by_words, by_meaning):
                seen.append(frozenset(await search(replica, "text")))
            assert (await replica.info()).chunks == len(OLD)
            assert await replica.readable(documents, Scope()) == set(documents)
            assert len(await replica.records("runbooks")) == len(OLD)

    async def switch() -> None:
        for texts in (NEW, OLD, NEW):
            await renew(index, texts)
            assert await by_words(replica, "text") == texts
        over.set()

    async with asyncio.TaskGroup() as group:
        for _ in range(3):
            group.create_task(look())
        group.create_task(switch())
    assert set(seen) == {frozenset(OLD), frozenset(NEW)}
    assert await numbers(index) == [3]


@pytest.mark.parametrize("late", [False, True])
async def test_a_search_in_the_middle_of_a_switch_is_done_again(
    index: WeaviateIndex, replica: WeaviateIndex, late: bool
) -> None:
    """The old index is deleted before it is asked, or after it answered."""
    tried: list[int] = []

    async def work(now: Generation) -> set[str]:
        tried.append(now.number)
        if not late and len(tried) == 1:
            await renew(index, NEW)
        search = Search(tuple(tokens("text")), None)
        found = {hit.passage.text for hit in await now.reading.search(search, Scope())}
        if late and len(tried) == 1:
            await renew(index, NEW)
        return found

    assert await Generations(replica.collections).read(work) == NEW
    assert tried == [0, 1]


async def test_what_is_stored_after_the_switch_is_in_the_new_one(
    index: WeaviateIndex, replica: WeaviateIndex
) -> None:
    """By a process that has not looked since."""
    await renew(index, NEW)
    await put(replica, "later.md", "Stored after the switch.")
    assert await by_words(index, "stored after") == {"Stored after the switch."}
    assert (await index.info()).revision > len(OLD)


async def test_a_build_that_fails_changes_nothing(
    index: WeaviateIndex, replica: WeaviateIndex
) -> None:
    before = await contents(index)
    with suppress(RuntimeError):
        async with index.renewed() as fresh:
            await fresh.begin("other", 24, "chunker-1")
            raise RuntimeError("the embedder went away")
    assert await contents(index) == await contents(replica) == before
    assert await numbers(index) == [0]


async def test_the_new_index_may_have_other_tools(
    index: WeaviateIndex, replica: WeaviateIndex
) -> None:
    async with index.renewed() as fresh:
        await fresh.begin("other", 24, "chunker-2")
    for one in (index, replica):
        info = await one.info()
        assert (info.embedder, info.dimension, info.chunks) == ("other", 24, 0)
        assert await by_words(one, "text") == set()


async def test_an_index_with_everything_is_the_same_when_it_is_opened_again(
    index: WeaviateIndex, place: Place
) -> None:
    async with index.renewed() as fresh:
        await filled(fresh)
        expected = await contents(fresh)
    again = await open_weaviate(*place)
    assert await contents(again) == await contents(index) == expected
    assert (await again.profile()).embedder == EMBEDDER[0]
    await again.close()


async def test_a_node_that_still_has_the_earlier_pointer_is_not_believed(
    index: WeaviateIndex, replica: WeaviateIndex
) -> None:
    """It was away during the switch; the index that it names is deleted."""
    await renew(index, NEW)
    assert await by_words(replica, "text") == NEW
    await index.collections.facts.data.delete_by_id(object_id("generation", ""))
    for one in (index, replica):
        assert await by_words(one, "text") == NEW


async def test_two_that_build_at_once_do_not_mix(
    index: WeaviateIndex, replica: WeaviateIndex
) -> None:
    """The first to be whole is switched to; the other is told."""

    async def late() -> None:
        async with replica.renewed() as fresh:
            await fresh.begin(*EMBEDDER)
            await put(fresh, "late.md", "Late text.")
            await renew(index, NEW)

    with pytest.raises(SyncBusy, match="nothing was switched"):
        await late()
    for one in (index, replica):
        assert await by_words(one, "text") == NEW


async def test_an_earlier_version_of_belay_is_told_that_it_is_too_old(
    index: WeaviateIndex,
) -> None:
    """It looks for the tools where the first generation had them."""
    await renew(index, NEW)
    assert (await Facts(index.collections.of(0)).tools()).schema >= 3


def build_until_killed(server: dict[str, str], place: Place, stop: str, sender: Connection) -> None:
    """In a process of its own, which has no settings from the environment: waits at `stop`."""

    async def build() -> None:
        shelf, tenant = place
        layout = Layout(prefix="BelayTests", tenant=tenant)
        index = await WeaviateIndex.open(**server, shelf=shelf, layout=layout)
        generations = Generations(index.collections)
        old = await generations.look()
        new = await generations.begin(old)
        fresh = WeaviateIndex(
            index.collections.client, server["url"], Aside(new.collections), Waits()
        )
        await fresh.begin(*EMBEDDER)
        await fill(fresh, NEW)
        if stop == "switched":
            await generations.switch(old, new)
        sender.send(stop)
        await asyncio.Event().wait()

    asyncio.run(build())


@pytest.mark.parametrize(("stop", "texts"), [("filled", OLD), ("switched", NEW)])
async def test_a_killed_rebuild_leaves_one_whole_index(
    index: WeaviateIndex, replica: WeaviateIndex, place: Place, stop: str, texts: set[str]
) -> None:
    """SIGKILL before the switch and right after it; the next rebuild takes away what is left."""
    receiver, sender = SPAWN.Pipe(duplex=False)
    server = {"url": WEAVIATE_URL, "grpc": WEAVIATE_GRPC, "key": WEAVIATE_KEY}
    builder = SPAWN.Process(target=build_until_killed, args=(server, place, stop, sender))
    builder.start()
    sender.close()  # so that a builder that fails is seen
    assert await asyncio.to_thread(receiver.recv) == stop
    builder.kill()
    builder.join()
    for one in (index, replica):
        assert await by_words(one, "text") == texts
    again = await open_weaviate(*place)
    assert await by_words(again, "text") == texts
    assert len(await numbers(again)) == 2
    await renew(again, OLD)
    assert await by_words(replica, "text") == OLD
    assert len(await numbers(again)) == 1
    await again.close()


async def test_what_is_read_of_an_index_that_is_gone_is_an_error(
    index: WeaviateIndex, replica: WeaviateIndex
) -> None:
    """Not an empty answer, which would say that nothing is in the documents."""
    await index.drop()
    with pytest.raises(StoreError):
        await by_words(replica, "text")


async def test_chunks_that_were_deleted_are_not_said_to_be_stored(
    index: WeaviateIndex, place: Place
) -> None:
    """By hand, in Weaviate: after a restart the next sync stores all again."""
    await filled(index)
    chunks, (_, tenant) = index.collections.chunks, place
    if tenant:
        await chunks.tenants.remove([tenant])
    else:
        await index.collections.client.collections.delete(chunks.name)
    again = await open_weaviate(*place)
    assert await again.records("runbooks") == await again.records("wiki") == {}
    assert [source.name for source in await again.sources()] == ["runbooks", "wiki"]
    with pytest.raises(IndexEmpty):
        await again.profile()
    assert await put(again, "a.md", "Drain the node.") == 1
    await again.close()
