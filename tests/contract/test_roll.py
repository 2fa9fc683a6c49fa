"""The contract of the roll: every store of granted access keeps these promises."""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from contract.redis_prefix import redis_of

from adapters.memory.roll import MemoryRoll
from adapters.redis.roll import RedisRoll
from adapters.sqlite.roll import SqliteRoll
from bot.access import Code, Grant, Roll

NOW = datetime(2026, 3, 1, 3, 0, tzinfo=UTC)


@pytest.fixture(params=["memory", "sqlite", "redis"])
async def roll(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Roll]:
    if request.param == "redis":
        async with redis_of(request) as server:
            yield RedisRoll(server)
        return
    yield MemoryRoll() if request.param == "memory" else SqliteRoll(tmp_path / "access.db")


async def test_nobody_is_on_an_empty_roll(roll: Roll) -> None:
    assert await roll.grant("telegram:1") is None
    assert await roll.grants() == []


async def test_a_grant_is_kept_replaced_and_revoked(roll: Roll) -> None:
    await roll.save(Grant("telegram:1", "staff", by="cli", at=NOW))
    await roll.save(Grant("telegram:1", "manager", admin=True, by="telegram:9", at=NOW))
    assert await roll.grant("telegram:1") == Grant(
        "telegram:1", "manager", admin=True, by="telegram:9", at=NOW
    )
    assert await roll.revoke("telegram:1")
    assert not await roll.revoke("telegram:1")
    assert await roll.grant("telegram:1") is None


async def test_keys_that_look_alike_are_different_people(roll: Roll) -> None:
    await roll.save(Grant("telegram:10"))
    assert await roll.grant("telegram:1") is None
    assert await roll.grant("telegram:100") is None


async def test_a_code_is_redeemed_once(roll: Roll) -> None:
    await roll.save_code(Code("ABCD2345", "telegram:1", NOW + timedelta(hours=1)))
    assert (await roll.redeem("ABCD2345", NOW)) is not None
    assert (await roll.redeem("ABCD2345", NOW)) is None


async def test_a_code_of_before_a_new_one_is_asked_for_is_the_newest(roll: Roll) -> None:
    code = Code("ABCD2345", "telegram:1", NOW + timedelta(hours=1))
    assert await roll.code_for("telegram:1") is None
    await roll.save_code(code)
    assert await roll.code_for("telegram:1") == code


async def test_an_expired_code_lets_nobody_in(roll: Roll) -> None:
    await roll.save_code(Code("ABCD2345", "telegram:1", NOW))
    assert await roll.redeem("ABCD2345", NOW + timedelta(seconds=1)) is None


async def test_a_new_code_replaces_the_old_one_of_the_same_person(roll: Roll) -> None:
    await roll.save_code(Code("OLDOLD22", "telegram:1", NOW + timedelta(hours=1)))
    await roll.save_code(Code("NEWNEW22", "telegram:1", NOW + timedelta(hours=1)))
    assert await roll.redeem("OLDOLD22", NOW) is None
    assert (await roll.redeem("NEWNEW22", NOW)) is not None


async def test_a_renamed_place_keeps_its_grant(roll: Roll) -> None:
    await roll.save(Grant("telegram:-4001:chat", "senior"))
    await roll.rename("telegram:-4001:chat", "telegram:-1001:chat")
    assert await roll.grant("telegram:-4001:chat") is None
    renamed = await roll.grant("telegram:-1001:chat")
    assert renamed is not None
    assert renamed.level == "senior"


async def test_a_code_lets_in_the_place_under_its_new_name(roll: Roll) -> None:
    hour = NOW + timedelta(hours=1)
    await roll.save_code(Code("ABCD2345", "telegram:-4001:chat", hour))
    await roll.save_code(Code("OTHER234", "telegram:-4002:chat", hour))
    await roll.rename("telegram:-4001:chat", "telegram:-1001:chat")
    assert await roll.code_for("telegram:-4001:chat") is None
    assert await roll.redeem("ABCD2345", NOW) == Code("ABCD2345", "telegram:-1001:chat", hour)
    assert await roll.redeem("OTHER234", NOW) == Code("OTHER234", "telegram:-4002:chat", hour)
