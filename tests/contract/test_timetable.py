"""The contract of timetables: what one process writes down, the next one finds."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path

import pytest
from contract.redis_prefix import redis_of

from adapters.memory.timetable import MemoryTimetable
from adapters.redis.timetable import RedisTimetable
from adapters.sqlite.timetable import SqliteTimetable
from bot.errors import StorageError
from bot.timetable import Entry, Leader, Timetable

AT = datetime(2026, 5, 4, 3, 0, 0, 250_000, tzinfo=UTC)
WHOLE = Entry(
    "runbooks", AT, AT + timedelta(seconds=4), AT, 2, "the server does not answer", 1, 2, 3, 4, 5,
    "host:42", "5f2a",
)  # fmt: skip
Make = Callable[[], Timetable]


@pytest.fixture(params=["memory", "sqlite", "redis"])
async def process(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Make]:
    """Opens the timetable as one more process does."""
    kept = MemoryTimetable()
    match request.param:
        case "memory":
            yield lambda: kept
        case "sqlite":
            yield lambda: SqliteTimetable(tmp_path / "home" / "timetable.db")
        case _:
            async with redis_of(request) as server:
                yield lambda: RedisTimetable(server)


async def test_a_new_timetable_knows_nothing(process: Make) -> None:
    assert await process().entries() == {}
    assert await process().leader() is None


async def test_another_process_finds_what_was_saved(process: Make) -> None:
    bare = Entry("leader")  # a source may have any name
    await process().save(WHOLE)
    await process().save(bare)
    assert await process().entries() == {"runbooks": WHOLE, "leader": bare}
    assert await process().leader() is None


async def test_an_entry_replaces_the_one_before_of_its_source(process: Make) -> None:
    await process().save(WHOLE)
    await process().save(Entry("wiki", AT))
    running = replace(WHOLE, ended=None, failures=0, error="")
    await process().save(running)
    assert (await process().entries())["runbooks"] == running
    assert (await process().entries())["runbooks"].unfinished
    assert (await process().entries())["wiki"] == Entry("wiki", AT)


@pytest.mark.parametrize("name", ["раннбуки", "a b", "x:y", "'; DROP TABLE entries; --", "{1}"])
async def test_a_source_of_any_name(process: Make, name: str) -> None:
    await process().save(Entry(name, error=f"“{name}”\nline two"))
    assert await process().entries() == {name: Entry(name, error=f"“{name}”\nline two")}


async def test_times_are_told_in_utc(process: Make) -> None:
    there = AT.astimezone(timezone(timedelta(hours=3)))
    await process().save(Entry("runbooks", there))
    found = (await process().entries())["runbooks"].started
    assert found == AT


async def test_the_last_one_that_signed_leads(process: Make) -> None:
    await process().sign(Leader("one:1", AT))
    await process().sign(Leader("two:2", AT + timedelta(seconds=60)))
    assert await process().leader() == Leader("two:2", AT + timedelta(seconds=60))
    assert await process().entries() == {}


async def test_rd_07_every_key_in_redis_ends(request: pytest.FixtureRequest) -> None:
    async with redis_of(request) as server:
        timetable = RedisTimetable(server)
        await timetable.save(WHOLE)
        await timetable.sign(Leader("one:1", AT))
        keys = await server.command("KEYS", server.key("*"))
        assert len(keys) == 2
        assert all([await server.command("TTL", key) > 0 for key in keys])


async def test_a_file_that_is_no_database_is_a_storage_error(tmp_path: Path) -> None:
    path = tmp_path / "timetable.db"
    path.write_text("not a database, and longer than the header of one" * 40)
    with pytest.raises(StorageError, match="timetable"):
        await SqliteTimetable(path).entries()
