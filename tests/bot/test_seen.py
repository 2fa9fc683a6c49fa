"""What is said of a source while another machine reads it."""

from __future__ import annotations

from pathlib import Path

import pytest

from adapters.memory.index import MemoryIndex
from adapters.redis.server import Server
from bot.ingest.lock import held
from bot.library import LOCK_FILE
from bot.ports import SourceRecord, SyncState
from bot.seen import true_states
from bot.settings import Settings
from bot.sync_lead import TASK, sole_writer
from graph.model import SourceType
from tests.servers.redis_server import RedisServer

RUNNING = SourceRecord("docs", SourceType.FOLDER, "/docs", SyncState.RUNNING)
FAILED = SourceRecord("wiki", SourceType.FOLDER, "/wiki", SyncState.FAILED)


@pytest.fixture
def shared(tmp_path: Path, redis_server: RedisServer) -> Settings:
    """Of one of several machines with one index."""
    return Settings.model_validate(
        {
            "home": tmp_path,
            "redis_url": redis_server.url,
            "redis": {"prefix": f"seen{tmp_path.name}"},
            "weaviate_url": "http://127.0.0.1:9",
        }
    )


async def states(settings: Settings) -> list[SyncState]:
    return [record.state for record in await true_states(settings, [RUNNING, FAILED])]


async def test_a_sync_of_another_machine_is_not_called_interrupted(shared: Settings) -> None:
    async with sole_writer(shared, TASK, MemoryIndex()):
        assert await states(shared) == [SyncState.RUNNING, SyncState.FAILED]
    assert await states(shared) == [SyncState.INTERRUPTED, SyncState.FAILED]


async def test_a_sync_of_this_data_folder_needs_no_redis(tmp_path: Path) -> None:
    settings = Settings(home=tmp_path)
    with held(tmp_path / LOCK_FILE):
        assert await states(settings) == [SyncState.RUNNING, SyncState.FAILED]
    assert await states(settings) == [SyncState.INTERRUPTED, SyncState.FAILED]


async def test_a_redis_that_is_away_keeps_nobody_from_looking(tmp_path: Path) -> None:
    settings = Settings(
        home=tmp_path, redis_url="redis://127.0.0.1:9", weaviate_url="http://127.0.0.1:9"
    )
    assert await states(settings) == [SyncState.INTERRUPTED, SyncState.FAILED]


async def test_the_connections_that_are_open_are_used(shared: Settings) -> None:
    server = Server(shared.redis_url, prefix=shared.redis.prefix)
    async with sole_writer(shared, TASK, MemoryIndex(), server=server):
        seen = await true_states(shared, [RUNNING], server)
    await server.ready()  # it was not closed
    await server.close()
    assert [record.state for record in seen] == [SyncState.RUNNING]
