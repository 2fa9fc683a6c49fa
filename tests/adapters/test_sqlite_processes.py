"""Several processes on one index: a Slack bot, a Telegram bot and an ingest run share the file."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import AsyncIterator, Callable
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from multiprocessing.synchronize import Barrier
from pathlib import Path

import pytest
from contract.index_chunks import EMBEDDER, by_meaning, by_words, put, vector_of

from adapters.sqlite import SqliteIndex
from graph.model import Scope
from graph.ports import Search
from tests.processes import SPAWN

PARTS = 3  # chunks of each file
ENOUGH = 1000  # more than any of these indexes hold


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "home" / "index.db"


@pytest.fixture
async def index(path: Path) -> AsyncIterator[SqliteIndex]:
    index = await SqliteIndex.open(path)
    await index.begin(*EMBEDDER)
    yield index
    await index.close()


async def write_version(index: SqliteIndex, name: str, version: int) -> None:
    texts = (f"{name} version{version} part{part}" for part in range(PARTS))
    await put(index, f"{name}.md", *texts)


def write_versions(path: Path, names: list[str], versions: int) -> None:
    """Every file gets `versions` versions, one after the other."""

    async def write() -> None:
        index = await SqliteIndex.open(path)
        for version in range(versions):
            for name in names:
                await write_version(index, name, version)
        await index.close()

    asyncio.run(write())


def write_until_killed(path: Path, ready: Connection) -> None:
    async def write() -> None:
        index = await SqliteIndex.open(path)
        version = 0
        while True:
            for number in range(5):
                await write_version(index, f"file{number}", version)
            version += 1
            ready.send(version)

    asyncio.run(write())


def open_together(path: Path, name: str, barrier: Barrier) -> None:
    async def work() -> None:
        barrier.wait()
        index = await SqliteIndex.open(path)
        await index.begin(*EMBEDDER)
        await write_version(index, name, 1)
        await index.close()

    asyncio.run(work())


def remove(path: Path, name: str) -> None:
    async def work() -> None:
        index = await SqliteIndex.open(path)
        await index.remove("runbooks", [f"{name}.md"])
        await index.close()

    asyncio.run(work())


async def versions_seen(index: SqliteIndex, search: Search) -> dict[str, set[str]]:
    """The versions of each file among the hits; checks that every one of them is whole."""
    seen: dict[str, dict[str, int]] = defaultdict(lambda: defaultdict(int))
    for hit in await index.search(search, Scope()):
        name, version, _ = hit.passage.text.split()
        seen[name][version] += 1
    assert all(count == PARTS for parts in seen.values() for count in parts.values())
    return {name: set(parts) for name, parts in seen.items()}


async def test_two_writers_and_a_reader(
    path: Path, index: SqliteIndex, start: Callable[..., BaseProcess]
) -> None:
    """A reader sees each file whole, in one version, and never a moment without it."""
    names = [[f"{writer}{number}" for number in range(4)] for writer in ("slack", "telegram")]
    known: set[str] = set()
    meaning = Search((), vector_of("x"), dense_limit=ENOUGH)
    words = Search(("part0", "part1", "part2", "=part0", "=part1", "=part2"), None, 0, ENOUGH)
    writers = [start(write_versions, path, some, 12) for some in names]
    running = True
    while running:
        running = any(writer.is_alive() for writer in writers)
        for search in (meaning, words):
            seen = await versions_seen(index, search)
            assert all(len(versions) == 1 for versions in seen.values())
            assert known <= set(seen)
            known |= set(seen)
    for writer in writers:
        writer.join()
        assert writer.exitcode == 0
    assert await versions_seen(index, meaning) == {
        name: {"version11"} for some in names for name in some
    }


async def test_a_running_reader_sees_what_another_process_commits(
    path: Path, index: SqliteIndex, start: Callable[..., BaseProcess]
) -> None:
    await write_version(index, "old", 0)
    assert len(await by_meaning(index, "x")) == len(await by_words(index, "version0")) == PARTS

    start(write_versions, path, ["new"], 1).join()
    assert len(await by_meaning(index, "x")) == len(await by_words(index, "version0")) == 2 * PARTS
    assert (await index.info()).chunks == 2 * PARTS

    start(remove, path, "old").join()
    assert len(await by_meaning(index, "x")) == len(await by_words(index, "version0")) == PARTS


async def test_processes_may_make_the_index_together(
    path: Path, start: Callable[..., BaseProcess]
) -> None:
    names = ["slack", "telegram", "sync"]
    barrier = SPAWN.Barrier(len(names))
    processes = [start(open_together, path, name, barrier) for name in names]
    for process in processes:
        process.join()
        assert process.exitcode == 0
    index = await SqliteIndex.open(path)
    seen = await versions_seen(index, Search((), vector_of("x"), dense_limit=ENOUGH))
    assert set(seen) == set(names)
    await index.close()


async def test_a_killed_writer_leaves_whole_files(
    path: Path, index: SqliteIndex, start: Callable[..., BaseProcess]
) -> None:
    """SIGKILL in the middle of writes: the next process reads whole files and writes on."""
    for _ in range(3):
        receiver, sender = SPAWN.Pipe(duplex=False)
        writer = start(write_until_killed, path, sender)
        while await asyncio.to_thread(receiver.recv) < 3:
            pass
        writer.kill()
        writer.join()
        receiver.close()
        sender.close()

        reopened = await SqliteIndex.open(path)
        seen = await versions_seen(reopened, Search((), vector_of("x"), dense_limit=ENOUGH))
        assert len(seen) == 5
        assert all(len(versions) == 1 for versions in seen.values())
        assert set(await reopened.records("runbooks")) == {f"{name}.md" for name in seen}
        await write_version(reopened, "file0", 999)
        assert len(await by_words(reopened, "version999")) == PARTS
        assert len(await by_words(index, "version999")) == PARTS
        await reopened.close()
