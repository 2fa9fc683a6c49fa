"""The contract of caches: what was put is found for a while, and nothing else."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from contract.redis_prefix import redis_of

from adapters.memory.cache import MemoryCache
from adapters.redis.cache import RedisCache
from adapters.sqlite.cache import SqliteCache
from bot.cache import Cache
from bot.errors import StorageError

PATIENCE = 20.0  # seconds


@pytest.fixture(params=["memory", "sqlite", "redis"])
async def cache(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Cache]:
    if request.param == "memory":
        yield MemoryCache()
    elif request.param == "sqlite":
        yield SqliteCache(tmp_path / "home" / "cache.db")
    else:
        async with redis_of(request) as server:
            yield RedisCache(server)


async def test_what_was_put_is_found(cache: Cache) -> None:
    await cache.put("a", "Ответ: `drain`\n", 60)
    await cache.put("b", "", 60)
    assert await cache.get("a") == "Ответ: `drain`\n"
    assert await cache.get("b") == ""
    assert await cache.get("c") is None


async def test_the_last_value_counts(cache: Cache) -> None:
    await cache.put("a", "1", 60)
    await cache.put("a", "2", 60)
    assert await cache.get("a") == "2"


async def test_what_is_dropped_is_gone(cache: Cache) -> None:
    await cache.put("a", "1", 60)
    await cache.put("b", "2", 60)
    await cache.drop(["a", "never put"])
    await cache.drop([])
    assert await cache.get("a") is None
    assert await cache.get("b") == "2"


async def test_it_goes_by_itself(cache: Cache) -> None:
    await cache.put("a", "1", 0.05)
    end = time.monotonic() + PATIENCE
    while await cache.get("a") is not None:
        assert time.monotonic() < end, "it never went"
        await asyncio.sleep(0.01)


async def test_memory_is_bounded() -> None:
    cache = MemoryCache(2)
    await cache.put("a", "1", 60)
    await cache.put("b", "2", 60)
    assert await cache.get("a") == "1"
    await cache.put("c", "3", 60)
    assert [await cache.get(key) for key in "abc"] == ["1", None, "3"]


async def test_a_file_outlives_the_process_and_loses_what_is_past_its_time(tmp_path: Path) -> None:
    now = 1000.0
    path = tmp_path / "cache.db"
    await SqliteCache(path, now=lambda: now).put("old", "forgotten words", 60)
    await SqliteCache(path, now=lambda: now).put("new", "2", 600)
    later = SqliteCache(path, now=lambda: now + 61)
    assert [await later.get(key) for key in ("old", "new")] == [None, "2"]
    await later.put("newest", "3", 60)
    assert b"forgotten words" not in path.read_bytes()


async def test_a_file_that_cannot_be_used_is_a_storage_error(tmp_path: Path) -> None:
    path = tmp_path / "cache.db"
    path.write_bytes(b"no database" * 100)
    with pytest.raises(StorageError, match=r"cache\.db"):
        await SqliteCache(path).get("a")
