"""Processes that start at once on one store: what the first of them makes is made once, and none
fails for it."""

from __future__ import annotations

import asyncio
import sqlite3
import uuid
from collections.abc import Callable, Sequence
from contextlib import closing
from datetime import UTC, datetime, timedelta
from multiprocessing.process import BaseProcess
from multiprocessing.synchronize import Barrier
from pathlib import Path

import pytest
from cli_kit import CUT_OFF, Belay
from ingest_kit import CountingEmbedder
from ingest_kit import Library as Documents

from adapters.memory.embedder import HashEmbedder
from adapters.memory.index import MemoryIndex
from bot.app import Library, open_sessions
from bot.errors import SyncBusy
from bot.first_profile import fit_first
from bot.ingest.refresh import refresh
from bot.ports import KnowledgeIndex
from bot.session_runs import TASK as SESSIONS
from bot.session_runs import begin_anew, index_said, open_log
from bot.sessions import SessionTurn
from bot.settings import Settings
from bot.sync_lead import sole_writer
from graph.ports import Embedder, Matrix
from graph.profile import Profile
from tests.processes import SPAWN
from tests.servers.redis_server import RedisServer

START = datetime(2026, 3, 2, 3, 0, tzinfo=UTC)
TURNS = 12
OLD, NEW = 64, 128  # dimensions of the embedders before and after a change of the settings


# The whole command, in processes of their own


def count(home: Path, file: str, table: str) -> int:
    with closing(sqlite3.connect(home / file)) as connection:
        (found,) = connection.execute(f"SELECT count(*) FROM {table}").fetchone()
        return int(found)


def test_two_first_starts_on_one_data_folder(tmp_path: Path) -> None:
    belay = Belay(tmp_path / "home")
    starts = [belay.start("search", "anything") for _ in range(2)]
    for process in starts:
        ended = belay.end(process)
        assert ended.code == 0, ended.err
        assert "No documents are indexed yet" in ended.err
    assert [count(belay.home, file, "meta") for file in ("index.db", "sessions.db")] == [1, 1]


def test_two_starts_on_an_index_whose_first_sync_was_cut_off(
    indexed: Belay, tmp_path: Path
) -> None:
    """Both need the profile, which nobody has fitted yet."""
    belay = indexed.copy(tmp_path / "home")
    with closing(sqlite3.connect(belay.home / "index.db")) as connection, connection:
        connection.execute("DELETE FROM profile")
    starts = [belay.start("ask", CUT_OFF) for _ in range(2)]
    for process in starts:
        ended = belay.end(process)
        assert ended.code == 0, ended.err
        assert "06:15" in ended.out
    assert count(belay.home, "index.db", "profile") == 1


# The first profile


class Gated(CountingEmbedder):
    """Waits with its first text for the test; the others go by."""

    def __init__(self) -> None:
        super().__init__()
        self.asked, self.go = asyncio.Event(), asyncio.Event()

    async def embed_passages(self, texts: Sequence[str]) -> Matrix:
        if not self.asked.is_set():
            self.asked.set()
            await self.go.wait()
        return await super().embed_passages(texts)


class Saved(MemoryIndex):
    """Counts the profiles that it is given."""

    def __init__(self) -> None:
        super().__init__()
        self.profiles = 0

    async def save_profile(self, profile: Profile) -> None:
        self.profiles += 1
        await super().save_profile(profile)


def machine(settings: Settings, index: KnowledgeIndex, embedder: Embedder) -> Library:
    return Library(settings, index, embedder, HashEmbedder())


async def unfitted(tmp_path: Path, index: KnowledgeIndex) -> Documents:
    """What a sync leaves that was cut off before the end."""
    documents = Documents(tmp_path / "docs", tmp_path, index)
    for number in range(3):
        documents.put(f"{number}.md", f"# Page {number}\n\nService {number} restarts at night.\n")
    await documents.sync()
    assert (await index.info()).profile_revision < 0
    return documents


@pytest.fixture
def shared(tmp_path: Path, redis_server: RedisServer) -> Settings:
    """Of machines that share an index and a Redis."""
    return Settings.model_validate(
        {
            "home": tmp_path / "home",
            "redis_url": redis_server.url,
            "redis": {"prefix": uuid.uuid4().hex},
            "weaviate_url": "http://127.0.0.1:9",
        }
    )


async def test_of_machines_that_start_at_once_one_fits_the_profile(
    tmp_path: Path, shared: Settings
) -> None:
    """Weaviate would keep two of them; the other machine waits, and finds it."""
    index = Saved()
    await unfitted(tmp_path, index)
    slow, other = Gated(), CountingEmbedder()
    async with asyncio.TaskGroup() as group:
        group.create_task(fit_first(machine(shared, index, slow)))
        await slow.asked.wait()
        waiting = group.create_task(fit_first(machine(shared, index, other)))
        slow.go.set()
    assert waiting.done()
    assert index.profiles == 1
    assert other.texts == []
    assert (await index.profile()).revision == (await index.info()).revision


async def test_a_profile_that_took_long_does_not_replace_that_of_a_sync(tmp_path: Path) -> None:
    """A start found the index half full; by the time that it is done the sync is, too."""
    index, slow = MemoryIndex(), Gated()
    documents = await unfitted(tmp_path, index)
    start = machine(Settings(home=tmp_path), index, slow)
    async with asyncio.TaskGroup() as group:
        group.create_task(fit_first(start))
        await slow.asked.wait()
        documents.put("last.md", "# Last\n\nThe ledger closes at 17:40.\n")
        await documents.sync()
        await refresh(index, documents.embedder, start.words)
        slow.go.set()
    info = await index.info()
    assert info.profile_revision == info.revision


async def test_an_index_without_documents_is_fitted_by_nobody(shared: Settings) -> None:
    index = Saved()
    await fit_first(machine(shared, index, CountingEmbedder()))
    assert index.profiles == 0


# Earlier conversations, after the embedder was changed


def said(number: int) -> SessionTurn:
    return SessionTurn(
        f"t{number}", "message", "slack:C1:", "slack:C1:chat", "slack:U1",
        f"We decided to move service number {number} to Frankfurt.",
        START + number * timedelta(minutes=1),
    )  # fmt: skip


def library(home: Path, embedder: Embedder) -> Library:
    return Library(Settings(home=home), MemoryIndex(), embedder, HashEmbedder(NEW))


async def indexed_by(home: Path, embedder: Embedder) -> int:
    """A start and a run of the indexer; how many passages the run found in the log."""
    chosen = library(home, embedder)
    index = await open_sessions(chosen, home)
    try:
        report = await index_said(chosen, open_log(chosen.settings), index)
        return report.known
    finally:
        await index.close()


@pytest.fixture
async def home(tmp_path: Path) -> Path:
    """What was said is indexed by the embedder of before."""
    home = tmp_path / "home"
    home.mkdir()
    await open_log(Settings(home=home)).add([said(number) for number in range(TURNS)])
    assert await indexed_by(home, HashEmbedder(OLD)) == TURNS
    return home


def start_at_once(home: Path, barrier: Barrier) -> None:
    """As a bot does: another one that is at it is left alone."""

    async def work() -> None:
        barrier.wait()
        try:
            await indexed_by(home, HashEmbedder(NEW))
        except SyncBusy:
            return

    asyncio.run(work())


async def tools(home: Path) -> tuple[int, int]:
    """The dimension of the index, and how many passages it holds."""
    index = await open_sessions(library(home, HashEmbedder(NEW)), home)
    try:
        info = await index.info()
        return info.dimension, info.chunks
    finally:
        await index.close()


async def test_processes_that_start_at_once_begin_anew_once(
    home: Path, start: Callable[..., BaseProcess]
) -> None:
    """None drops what another one has indexed by then, or takes its tools away meanwhile."""
    barrier = SPAWN.Barrier(3)
    processes = [start(start_at_once, home, barrier) for _ in range(3)]
    for process in processes:
        await asyncio.to_thread(process.join)
        assert process.exitcode == 0
    assert await tools(home) == (NEW, TURNS)


class Held(HashEmbedder):
    """Waits with its first passage for the test."""

    def __init__(self, dimension: int) -> None:
        super().__init__(dimension)
        self.asked, self.go = asyncio.Event(), asyncio.Event()

    async def embed_passages(self, texts: Sequence[str]) -> Matrix:
        self.asked.set()
        await self.go.wait()
        return await super().embed_passages(texts)


async def test_a_start_leaves_an_indexer_of_the_old_embedder_to_its_end(home: Path) -> None:
    """As while a deployment is rolled out; its own first run begins anew."""
    await open_log(Settings(home=home)).add([said(TURNS)])
    old = Held(OLD)
    async with asyncio.TaskGroup() as group:
        running = group.create_task(indexed_by(home, old))
        await old.asked.wait()
        assert await tools(home) == (OLD, TURNS)
        old.go.set()
    assert running.result() == TURNS + 1
    assert await indexed_by(home, HashEmbedder(NEW)) == TURNS + 1
    assert await tools(home) == (NEW, TURNS + 1)


async def test_a_start_drops_nothing_while_another_machine_indexes(
    home: Path, tmp_path: Path, shared: Settings
) -> None:
    """What is shared is dropped by whoever leads alone."""
    log, index = open_log(Settings(home=home)), MemoryIndex()
    await index_said(library(tmp_path / "one", HashEmbedder(OLD)), log, index)
    other = shared.model_copy(update={"home": tmp_path / "two"})
    async with sole_writer(other, SESSIONS, index):
        await begin_anew(machine(shared, index, HashEmbedder(NEW)), index)
        assert (await index.info()).chunks == TURNS
    await begin_anew(machine(shared, index, HashEmbedder(NEW)), index)
    assert (await index.info()).chunks == 0
