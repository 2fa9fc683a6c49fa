"""Changes of an index by whoever is no longer its writer."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from contract.index_kit import contents, filled

from adapters.memory.index import MemoryIndex
from adapters.memory.leadership import MemoryLeadership
from adapters.redis.server import Server
from adapters.sqlite import SqliteIndex
from bot.adopting import Renewing
from bot.errors import StorageError, SyncBusy
from bot.fenced import FencedIndex, behind, fenced
from bot.leadership import LeadLost, leading
from bot.ports import FileRecord, FileState, KnowledgeIndex, SourceRecord
from bot.settings import Settings
from bot.sync_lead import TASK, sole_writer
from graph.model import Scope, SourceType
from graph.ports import Search
from tests.servers.redis_server import NEEDED, RedisServer, available

GONE = FileRecord("late.md", "f", FileState.SKIPPED)
LATE = SourceRecord("late", SourceType.FOLDER, "/late")
CHANGES: dict[str, tuple[Any, ...]] = {
    "begin": ("other", 3, "9"),
    "replace": ("wiki", GONE, ()),
    "remove": ("wiki", ["page.md"]),
    "save_source": (LATE,),
    "remove_source": ("wiki",),
    "save_profile": (None,),
    "reset": (),
}
READS: dict[str, tuple[Any, ...]] = {
    "info": (),
    "sources": (),
    "records": ("wiki",),
    "stored": ("wiki", "page.md"),
    "files_in": (Scope(),),
    "mentioned": (["late"], Scope()),
    "readable": ([], Scope()),
    "search": (Search(terms=("late",), vector=None), Scope()),
}
ELSE = {"chunks", "close", "document", "profile"}  # reads as well


class Away(MemoryLeadership):
    """Lets somebody lead, and cannot be asked afterwards."""

    async def renew(self, task: str, number: int, seconds: float) -> bool:
        raise StorageError("away")


def test_every_method_is_known_to_change_or_to_read() -> None:
    methods = {name for name, _ in inspect.getmembers(FencedIndex, inspect.isfunction)}
    public = {name for name in methods if not name.startswith("_")}
    assert public == {*CHANGES, *READS, *ELSE}


@pytest.mark.parametrize("change", CHANGES)
async def test_a_change_after_the_lead_was_lost_does_nothing(change: str) -> None:
    leads: dict[str, tuple[object, float]] = {}
    index = await filled(MemoryIndex())
    before = await contents(index)
    async with leading(MemoryLeadership(leads), TASK) as lead:
        leads[TASK] = (object(), float("inf"))  # it stood still, and another one took over
        with pytest.raises(LeadLost, match="nothing more is written"):
            await getattr(FencedIndex(index, lead), change)(*CHANGES[change])
    assert await contents(index) == before


@pytest.mark.parametrize("read", READS)
async def test_what_is_only_read_needs_no_lead(read: str) -> None:
    leads: dict[str, tuple[object, float]] = {}
    index = await filled(MemoryIndex())
    async with leading(MemoryLeadership(leads), TASK) as lead:
        leads[TASK] = (object(), float("inf"))
        found = await getattr(FencedIndex(index, lead), read)(*READS[read])
    assert found == await getattr(index, read)(*READS[read])


async def test_a_leader_may_change_what_it_likes() -> None:
    index = MemoryIndex()
    async with leading(MemoryLeadership(), TASK) as lead:
        written = FencedIndex(index, lead)
        await written.save_source(LATE)
        await written.replace("late", GONE, ())
    assert [record.name for record in await index.sources()] == ["late"]
    assert list(await index.records("late")) == ["late.md"]


class Beside(MemoryIndex, Renewing):
    """One that is filled anew in another, which takes its place at the end."""

    def __init__(self) -> None:
        super().__init__()
        self.taken: KnowledgeIndex | None = None

    @asynccontextmanager
    async def renewed(self) -> AsyncIterator[KnowledgeIndex]:
        fresh = MemoryIndex()
        yield fresh
        self.taken = fresh


async def test_an_index_is_renewed_only_while_the_lead_holds() -> None:
    leads: dict[str, tuple[object, float]] = {}
    index = Beside()
    async with leading(MemoryLeadership(leads), TASK) as lead:
        written = behind(index, lead)
        assert isinstance(written, Renewing)
        async with written.renewed() as fresh:
            await fresh.save_source(LATE)
        assert index.taken is not None
        index.taken = None
        with pytest.raises(LeadLost):
            async with written.renewed():
                leads[TASK] = (object(), float("inf"))
        assert index.taken is None


async def test_a_lead_that_cannot_be_confirmed_is_lost() -> None:
    """A store that is away for a moment is waited for, one that stays away is not written past."""
    index = MemoryIndex()
    with pytest.raises(LeadLost):
        async with leading(Away(), TASK, seconds=0.3) as lead:
            await FencedIndex(index, lead).save_source(LATE)
    assert not await index.sources()


@pytest.fixture
async def file(tmp_path: Path) -> AsyncIterator[SqliteIndex]:
    index = await SqliteIndex.open(tmp_path / "index.db")
    await filled(index)
    yield index
    await index.close()


@pytest.mark.parametrize("change", CHANGES)
async def test_a_file_refuses_the_changes_of_an_earlier_writer(
    change: str, file: SqliteIndex
) -> None:
    """Compared in the transaction of the change, whatever the earlier one has seen before."""
    early = await fenced(file)
    await early.save_source(SourceRecord("early", SourceType.FOLDER, "/early"))
    late = await fenced(file)
    before = await contents(file)
    values = CHANGES[change]
    if change == "save_profile":
        values = (await file.profile(),)
    with pytest.raises(LeadLost, match="nothing more is written"):
        await getattr(early, change)(*values)
    assert await contents(file) == before
    await late.save_source(LATE)
    assert "late" in [record.name for record in await file.sources()]


async def test_a_file_refuses_to_be_replaced_by_an_earlier_writer(
    file: SqliteIndex, tmp_path: Path
) -> None:
    beside = await SqliteIndex.open(tmp_path / "beside.db")
    await beside.close()
    early, _ = await file.fenced(), await file.fenced()
    before = await contents(file)
    with pytest.raises(LeadLost):
        await early.adopt(tmp_path / "beside.db")
    assert await contents(file) == before


async def test_what_has_no_run_is_not_refused(file: SqliteIndex) -> None:
    """/forget takes passages out at once, whoever indexes meanwhile."""
    writer = await fenced(file)
    assert await file.remove("wiki", ["board.md"])
    await writer.save_source(LATE)


async def test_writers_of_two_processes_are_told_apart(file: SqliteIndex, tmp_path: Path) -> None:
    other = await SqliteIndex.open(tmp_path / "index.db")
    early = await fenced(file)
    await fenced(other)
    with pytest.raises(LeadLost):
        await early.save_source(LATE)
    await other.close()


async def test_an_index_that_is_not_shared_needs_no_lead(tmp_path: Path) -> None:
    index = MemoryIndex()
    for settings in (
        Settings(home=tmp_path),
        Settings(home=tmp_path, redis_url="redis://127.0.0.1:9"),
        Settings(home=tmp_path, weaviate_url="http://127.0.0.1:9"),
    ):
        async with sole_writer(settings, TASK, index) as written:
            assert written is index


@pytest.fixture
def shared(tmp_path: Path) -> Iterator[tuple[RedisServer, Settings]]:
    """A server, and the settings of a machine that shares it and an index with others."""
    if not available():
        pytest.skip(NEEDED)
    with RedisServer(tmp_path / "redis") as own:
        yield (
            own,
            Settings(home=tmp_path, redis_url=own.url, weaviate_url="http://127.0.0.1:9"),
        )


async def test_one_of_two_machines_writes(shared: tuple[RedisServer, Settings]) -> None:
    _, settings = shared
    index = MemoryIndex()
    async with sole_writer(settings, TASK, index) as written:
        with pytest.raises(SyncBusy, match="another machine"):
            async with sole_writer(settings, TASK, index):
                pytest.fail("two machines write at once")
        await written.save_source(LATE)
    async with sole_writer(settings, TASK, index) as written:
        await written.remove_source("late")


async def test_syncs_use_the_connections_that_are_open(
    shared: tuple[RedisServer, Settings],
) -> None:
    own, settings = shared
    server = Server(own.url)
    await server.ready()
    with own.client() as client:
        before = client.info("stats")["total_connections_received"]
        for _ in range(10):
            async with sole_writer(settings, TASK, MemoryIndex(), server=server) as written:
                await written.save_source(LATE)
        assert client.info("stats")["total_connections_received"] == before
    await server.close()


async def test_cancelling_the_block_gives_the_lead_up() -> None:
    leads: dict[str, tuple[object, float]] = {}
    started = asyncio.Event()

    async def works() -> None:
        async with leading(MemoryLeadership(leads), TASK):
            started.set()
            await asyncio.Event().wait()

    async with asyncio.TaskGroup() as group:
        task = group.create_task(works())
        await started.wait()
        task.cancel()
    assert task.cancelled()
    assert not leads
