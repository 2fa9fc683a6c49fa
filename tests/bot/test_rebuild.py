"""ST-05: a new index is built beside the old one, which answers until the new one is whole."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import pytest
from contract.index_chunks import KINDS, SERVED, by_words, close_index, open_index, put
from contract.index_kit import contents, filled

from adapters.memory.embedder import HashEmbedder
from adapters.sqlite import SqliteIndex
from bot.app import Library
from bot.library import Shelf, sync_shelf
from bot.progress import Silent
from bot.rebuild import rebuilt
from bot.settings import Settings
from graph.ports import Matrix


class Counting(HashEmbedder):
    """Counts what it embeds, and fails from a number of passages on."""

    def __init__(self, dimension: int, most: int = 10**6) -> None:
        super().__init__(dimension)
        self.passages, self.most = 0, most

    async def embed_passages(self, texts: Sequence[str]) -> Matrix:
        self.passages += len(texts)
        if self.passages > self.most:
            raise RuntimeError("the server went away")
        return await super().embed_passages(texts)


@pytest.fixture
def docs(tmp_path: Path) -> list[Shelf]:
    shelves = []
    for name in ("first", "second"):
        folder = tmp_path / name
        folder.mkdir()
        (folder / "a.md").write_text(f"# {name}\n\nThe {name} service listens on 4711.\n")
        shelves.append(Shelf(name, folder))
    return shelves


@pytest.fixture(params=KINDS)
async def library(
    request: pytest.FixtureRequest, tmp_path: Path, docs: list[Shelf]
) -> AsyncIterator[Library]:
    """With both folders synced by an embedder of 32 dimensions."""
    index = await open_index(request.param, tmp_path)
    embedder = Counting(32)
    library = Library(Settings(home=tmp_path / "home", web=False), index, embedder, embedder)
    for shelf in docs:
        await fill(library, shelf)
    yield library
    await close_index(index)


async def fill(library: Library, shelf: Shelf) -> None:
    await sync_shelf(library, shelf, home=library.settings.home, progress=Silent())


async def rebuild(library: Library, shelves: Sequence[Shelf]) -> None:
    async with rebuilt(library, shelves, Silent()) as beside:
        for shelf in shelves:
            await fill(beside, shelf)


def left(library: Library) -> list[str]:
    return [path.name for path in library.settings.home.glob("rebuild.db*")]


async def test_the_old_index_answers_until_the_new_one_is_whole(
    library: Library, docs: list[Shelf]
) -> None:
    other = replace(library, embedder=Counting(64))
    async with rebuilt(other, docs, Silent()) as beside:
        for shelf in docs:
            await fill(beside, shelf)
            assert len(await by_words(library.index, "service listens")) == 2
            assert (await library.index.info()).dimension == 32
    info = await library.index.info()
    assert (info.dimension, info.embedder, info.chunks) == (64, "hash-64", 2)
    assert info.profile_revision == info.revision
    assert len(await by_words(library.index, "service listens")) == 2
    assert [record.name for record in await library.index.sources()] == ["first", "second"]
    assert left(other) == []


@pytest.mark.parametrize("library", ["sqlite", *SERVED], indirect=True)
async def test_a_reader_finds_the_old_or_the_new_and_never_nothing(
    library: Library, docs: list[Shelf]
) -> None:
    """It searches as often as it can, from before the build until after the switch."""
    over = asyncio.Event()
    seen: list[frozenset[str]] = []

    async def read() -> None:
        while not over.is_set():
            seen.append(frozenset(await by_words(library.index, "service listens")))
            await asyncio.sleep(0)

    async def build() -> None:
        for shelf in docs:
            (shelf.path / "a.md").write_text("# New\n\nThe new service listens on 5822.\n")
        await rebuild(replace(library, embedder=Counting(64)), docs[:1])
        seen.append(frozenset(await by_words(library.index, "service listens")))
        over.set()

    before = frozenset(await by_words(library.index, "service listens"))
    async with asyncio.TaskGroup() as group:
        group.create_task(read())
        group.create_task(build())
    assert set(seen) == {before, seen[-1]}
    assert len(seen[-1]) == 1
    assert "5822" in "".join(seen[-1])


async def test_a_build_that_fails_leaves_the_old_index_and_goes_on_later(
    library: Library, docs: list[Shelf]
) -> None:
    before = await contents(library.index)
    failing = replace(library, embedder=Counting(64, most=1))
    with suppress(RuntimeError, ExceptionGroup):
        await rebuild(failing, docs)
    assert await contents(library.index) == before
    later = Counting(64)
    await rebuild(replace(library, embedder=later), docs)
    assert later.passages == 1
    assert (await library.index.info()).dimension == 64


async def test_a_folder_that_is_gone_is_found_out_first(
    library: Library, docs: list[Shelf], tmp_path: Path
) -> None:
    before = await contents(library.index)
    with pytest.raises(Exception, match="does not exist"):
        await rebuild(library, [*docs, Shelf("third", tmp_path / "third")])
    assert await contents(library.index) == before
    assert left(library) == []


async def test_what_another_build_left_with_other_tools_is_not_used(
    library: Library, docs: list[Shelf]
) -> None:
    with suppress(RuntimeError, ExceptionGroup):
        await rebuild(replace(library, embedder=Counting(64, most=1)), docs)
    await rebuild(replace(library, embedder=Counting(128)), docs[:1])
    assert (await library.index.info()).dimension == 128
    assert [record.name for record in await library.index.sources()] == ["first"]


async def test_another_process_sees_the_switch_at_once(tmp_path: Path) -> None:
    """A reader that has searched before: never half of it, and nothing of the old after it."""
    fresh = await SqliteIndex.open(tmp_path / "fresh.db")
    await filled(fresh)
    one, two = [await SqliteIndex.open(tmp_path / "index.db") for _ in range(2)]
    await one.begin("old", 16, "chunker-0")
    for number in range(5):
        await put(one, f"{number}.md", f"Old text {number}.", "Drain the node.")
    assert len(await by_words(two, "old text")) == 5
    await one.adopt(tmp_path / "fresh.db")
    assert await by_words(two, "old text") == set()
    assert await by_words(two, "drain") == {"Drain the node."}
    for index in (one, two):
        assert await contents(index) == await contents(fresh)
        info = await index.info()
        assert info.profile_revision == info.revision > 0
    await put(two, "later.md", "Stored after the switch.")
    assert await by_words(one, "stored after") == {"Stored after the switch."}
    for store in (fresh, one, two):
        await store.close()
