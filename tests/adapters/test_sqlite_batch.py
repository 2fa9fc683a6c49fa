"""Requests of the same moment are answered together, each with its own result."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor

import pytest

from adapters.sqlite.batch import Batch


@pytest.fixture
def executor() -> Iterator[ThreadPoolExecutor]:
    with ThreadPoolExecutor(1) as pool:
        yield pool


async def test_requests_of_one_moment_share_one_answer(executor: ThreadPoolExecutor) -> None:
    seen: list[list[int]] = []

    def double(requests: Sequence[int]) -> list[int]:
        seen.append(list(requests))
        return [2 * item for item in requests]

    batch = Batch(executor, double)
    assert await asyncio.gather(*(batch.ask(item) for item in range(5))) == [0, 2, 4, 6, 8]
    assert await batch.ask(9) == 18
    assert seen == [[0, 1, 2, 3, 4], [9]]


async def test_a_failure_reaches_everybody_and_the_next_moment_is_fresh(
    executor: ThreadPoolExecutor,
) -> None:
    def answer(requests: Sequence[str]) -> list[str]:
        if "bad" in requests:
            raise OSError("disk")
        return list(requests)

    batch = Batch(executor, answer)
    results = await asyncio.gather(batch.ask("a"), batch.ask("bad"), return_exceptions=True)
    assert [type(result) for result in results] == [OSError, OSError]
    assert await batch.ask("a") == "a"


async def test_whoever_gives_up_does_not_take_the_answer_from_the_others(
    executor: ThreadPoolExecutor,
) -> None:
    batch = Batch(executor, lambda requests: [item.upper() for item in requests])
    left, stays = asyncio.create_task(batch.ask("left")), asyncio.create_task(batch.ask("stays"))
    await asyncio.sleep(0)
    left.cancel()
    assert await stays == "STAYS"
    with pytest.raises(asyncio.CancelledError):
        await left


async def test_an_executor_that_has_ended_is_an_error_and_no_hang() -> None:
    pool = ThreadPoolExecutor(1)
    batch = Batch(pool, list)
    pool.shutdown()
    with pytest.raises(RuntimeError):
        await batch.ask("late")
