"""The contract of leads: of several processes one does what only one may do."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest
from contract.redis_prefix import redis_of

from adapters.memory.leadership import MemoryLeadership
from adapters.redis.leadership import RedisLeadership
from adapters.redis.server import Server
from adapters.sqlite.leadership import SqliteLeadership
from bot.errors import StorageError
from bot.leadership import Leadership
from tests.servers.redis_server import NEEDED, RedisServer, available

LONG, SHORT, PATIENCE = 60.0, 0.05, 20.0  # seconds
Make = Callable[[], Leadership]


@pytest.fixture(params=["memory", "sqlite", "redis"])
async def process(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Make]:
    """Makes the leadership of one more process."""
    leads: dict[str, tuple[object, float]] = {}
    match request.param:
        case "memory":
            yield lambda: MemoryLeadership(leads)
        case "sqlite":
            yield lambda: SqliteLeadership(tmp_path / "home" / "leads.db")
        case _:
            async with redis_of(request) as server:
                yield lambda: RedisLeadership(server)


async def until_led(process: Leadership, task: str) -> None:
    end = time.monotonic() + PATIENCE
    while not await process.lead(task, LONG):
        assert time.monotonic() < end, "a lead did not end"
        await asyncio.sleep(0.01)


async def test_whoever_asks_first_leads(process: Make) -> None:
    first, second = process(), process()
    assert await first.lead("sync", LONG)
    assert not await second.lead("sync", LONG)


async def test_the_leader_may_ask_again(process: Make) -> None:
    first, second = process(), process()
    assert await first.lead("sync", LONG)
    assert await first.lead("sync", LONG)
    assert not await second.lead("sync", LONG)


async def test_each_task_has_a_leader_of_its_own(process: Make) -> None:
    first, second = process(), process()
    assert await first.lead("sync", LONG)
    assert await second.lead("sessions", LONG)


async def test_a_lead_that_is_not_prolonged_ends(process: Make) -> None:
    """A process that was killed keeps nobody from its work for ever."""
    killed, other = process(), process()
    assert await killed.lead("sync", SHORT)
    await until_led(other, "sync")
    assert not await killed.lead("sync", LONG)


async def test_asking_again_prolongs(process: Make) -> None:
    first, second = process(), process()
    assert await first.lead("sync", SHORT)
    if await first.lead("sync", LONG):  # not when the machine stood still for that long
        await asyncio.sleep(2 * SHORT)
        assert not await second.lead("sync", LONG)


async def test_a_lead_can_be_left(process: Make) -> None:
    first, second = process(), process()
    assert await first.lead("sync", LONG)
    await first.leave("sync")
    assert await second.lead("sync", LONG)


async def test_anybody_sees_that_somebody_leads(process: Make) -> None:
    first, second = process(), process()
    assert not await second.held("sync")
    assert await first.lead("sync", LONG)
    assert await first.held("sync")
    assert await second.held("sync")
    assert not await second.held("sessions")
    await first.leave("sync")
    assert not await second.held("sync")


async def test_nobody_leaves_for_another(process: Make) -> None:
    first, second = process(), process()
    assert await first.lead("sync", LONG)
    await second.leave("sync")
    await second.leave("never led")
    assert not await second.lead("sync", LONG)


async def test_one_of_many_that_ask_at_once(process: Make) -> None:
    several = [process() for _ in range(12)]
    led = await asyncio.gather(*(one.lead("sync", LONG) for one in several))
    assert len([number for number in led if number]) == 1


async def test_a_lead_keeps_its_number_and_the_next_one_has_a_greater(process: Make) -> None:
    first, second = process(), process()
    number = await first.lead("sync", LONG)
    assert await first.lead("sync", LONG) == number
    assert await first.renew("sync", number, LONG)
    await first.leave("sync")
    follower = await second.lead("sync", LONG)
    assert follower > number
    await second.leave("sync")
    assert await first.lead("sync", LONG) > follower


async def test_only_the_lead_of_that_number_is_renewed(process: Make) -> None:
    first, second = process(), process()
    number = await first.lead("sync", LONG)
    assert not await second.renew("sync", number, LONG)
    assert not await first.renew("sync", number - 1, LONG)
    assert not await first.renew("sessions", number, LONG)
    assert await first.renew("sync", number, LONG)


async def test_a_lead_that_ran_out_is_not_renewed(process: Make) -> None:
    """Whether or not somebody else led meanwhile: nobody can tell what happened since."""
    paused, other = process(), process()
    number = await paused.lead("sync", SHORT)
    await until_led(other, "sync")
    assert not await paused.renew("sync", number, LONG)
    await other.leave("sync")
    assert not await paused.renew("sync", number, LONG)


async def test_numbers_grow_over_a_loss_of_the_server(tmp_path: Path) -> None:
    """Redis came back without its data; what compares numbers must not refuse the new leader."""
    if not available():
        pytest.skip(NEEDED)
    with RedisServer(tmp_path) as own:
        server = Server(own.url)
        number = await RedisLeadership(server).lead("sync", LONG)
        own.kill()
        own.start()
        assert await RedisLeadership(server).lead("sync", LONG) > number
        await server.close()


async def test_a_clock_that_is_put_back_leaves_no_leader_that_is_gone(tmp_path: Path) -> None:
    """Else nothing is synced until the clock shows that time again."""
    path = tmp_path / "leads.db"
    number = await SqliteLeadership(path, now=lambda: 1_000_000.0).lead("sync", 60.0)
    heir = SqliteLeadership(path, now=lambda: 1_000_000.0 - 5 * 3600)
    assert await heir.lead("sync", 60.0) > number


async def test_a_file_that_is_no_database_is_a_storage_error(tmp_path: Path) -> None:
    path = tmp_path / "leads.db"
    path.write_text("not a database, and longer than the header of one" * 40)
    with pytest.raises(StorageError, match="who leads"):
        await SqliteLeadership(path).lead("sync", LONG)
