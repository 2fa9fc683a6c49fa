"""The contract of followed threads: every store of them keeps these promises."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from contract.redis_prefix import redis_of

from adapters.memory.threads import MemoryThreads
from adapters.redis.threads import RedisThreads
from adapters.sqlite.threads import SqliteThreads
from bot.chat import Place
from bot.errors import StorageError
from bot.threads import FollowedThreads

THREAD = Place("slack", "C1", "channel", "1700000000.000100")
OTHER = replace(THREAD, thread="1700000000.000200")
ELSEWHERE = replace(THREAD, id="C2")


@dataclass
class Clock:
    now: datetime = datetime(2026, 3, 1, 3, 0, tzinfo=UTC)

    def __call__(self) -> datetime:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


MakeThreads = Callable[[int, timedelta], FollowedThreads]


@pytest.fixture(params=["memory", "sqlite", "redis"])
async def make(
    request: pytest.FixtureRequest, tmp_path: Path, clock: Clock
) -> AsyncIterator[MakeThreads]:
    path = tmp_path / "home" / "threads.db"
    match request.param:
        case "memory":
            yield lambda kept, life: MemoryThreads(kept=kept, life=life, now=clock)
        case "sqlite":
            yield lambda kept, life: SqliteThreads(path, kept=kept, life=life, now=clock)
        case _:
            async with redis_of(request) as server:
                yield lambda kept, life: RedisThreads(server, kept=kept, life=life, now=clock)


@pytest.fixture
def threads(make: MakeThreads) -> FollowedThreads:
    return make(100, timedelta(days=1))


async def test_no_thread_is_followed_before_a_mention(threads: FollowedThreads) -> None:
    assert not await threads.follows(THREAD)


async def test_the_mentioned_thread_is_followed_and_no_other(threads: FollowedThreads) -> None:
    await threads.follow(THREAD)
    assert await threads.follows(THREAD)
    assert await threads.follows(replace(THREAD, title="renamed", kind="group"))
    assert not await threads.follows(OTHER)
    assert not await threads.follows(ELSEWHERE)
    assert not await threads.follows(replace(THREAD, platform="telegram"))


async def test_a_muted_thread_is_followed_again_after_the_next_mention(
    threads: FollowedThreads,
) -> None:
    await threads.follow(THREAD)
    await threads.follow(OTHER)
    await threads.mute(THREAD)
    assert not await threads.follows(THREAD)
    assert await threads.follows(OTHER)
    await threads.follow(THREAD)
    assert await threads.follows(THREAD)


async def test_a_thread_that_is_not_followed_can_be_muted(threads: FollowedThreads) -> None:
    await threads.mute(THREAD)
    assert not await threads.follows(THREAD)


async def test_an_old_thread_is_left_and_a_mention_prolongs(
    threads: FollowedThreads, clock: Clock
) -> None:
    await threads.follow(THREAD)
    await threads.follow(OTHER)
    clock.now += timedelta(hours=20)
    await threads.follow(OTHER)
    clock.now += timedelta(hours=4)
    assert not await threads.follows(THREAD)
    assert await threads.follows(OTHER)


async def test_the_threads_mentioned_longest_ago_go(make: MakeThreads, clock: Clock) -> None:
    threads = make(2, timedelta(days=1))
    for place in (THREAD, OTHER, THREAD, ELSEWHERE):
        await threads.follow(place)
        clock.now += timedelta(seconds=1)
    followed = [await threads.follows(place) for place in (THREAD, OTHER, ELSEWHERE)]
    assert followed == [True, False, True]


async def test_another_process_knows_of_the_thread(tmp_path: Path) -> None:
    path = tmp_path / "threads.db"
    await SqliteThreads(path).follow(THREAD)
    assert await SqliteThreads(path).follows(THREAD)


async def test_a_file_that_is_no_database_is_a_storage_error(tmp_path: Path) -> None:
    path = tmp_path / "threads.db"
    path.write_text("not a database, and longer than the header of one" * 40)
    with pytest.raises(StorageError, match="threads"):
        await SqliteThreads(path).follows(THREAD)
