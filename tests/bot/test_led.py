"""Work that only the leader does."""

from __future__ import annotations

import asyncio

import pytest

from adapters.memory.leadership import MemoryLeadership
from bot.errors import SourceError, SyncBusy
from bot.leadership import LeadLost, led


async def test_a_lead_is_given_up_whatever_the_work_does() -> None:
    leads: dict[str, tuple[object, float]] = {}

    async def works() -> int:
        assert not await MemoryLeadership(leads).lead("sync", 60)
        return 7

    async def fails() -> None:
        raise SourceError("gone")

    assert await led(MemoryLeadership(leads), "sync", works) == 7
    with pytest.raises(SourceError, match="gone"):
        await led(MemoryLeadership(leads), "sync", fails)
    assert await MemoryLeadership(leads).lead("sync", 60)


async def test_the_work_of_another_leader_is_not_done_twice() -> None:
    leads: dict[str, tuple[object, float]] = {}
    assert await MemoryLeadership(leads).lead("sync", 60)
    done: list[int] = []

    async def works() -> None:
        done.append(1)

    with pytest.raises(SyncBusy, match="another machine") as busy:
        await led(MemoryLeadership(leads), "sync", works)
    assert "Wait" in busy.value.remedy
    assert not done


async def test_work_ends_when_the_lead_is_lost() -> None:
    leads: dict[str, tuple[object, float]] = {}
    ended: list[bool] = []

    async def works() -> None:
        leads["sync"] = (object(), float("inf"))  # another one took it over
        try:
            await asyncio.Event().wait()
        finally:
            ended.append(True)

    with pytest.raises(LeadLost):
        await led(MemoryLeadership(leads), "sync", works, seconds=0.3)
    assert ended
    assert not await MemoryLeadership(leads).lead("sync", 60)
