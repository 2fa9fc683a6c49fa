"""Who may talk to the bot. Nobody is let in by accident."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from adapters.memory.roll import MemoryRoll
from bot.access import Access, Grant, Role, place_key
from bot.chat import Incoming, Kind, Person, Place

ANN = Person("telegram", "1", "Ann")
BOSS = Person("telegram", "9", "Boss")
GROUP = Place("telegram", "-100", "group", title="ops")


class Clock:
    def __init__(self) -> None:
        self.now = datetime(2026, 3, 1, 3, 0, tzinfo=UTC)

    def __call__(self) -> datetime:
        return self.now


def asked(person: Person, place: Place | None = None) -> Incoming:
    return Incoming(Kind.QUESTION, place or Place("telegram", person.id), person, "1", "hi")


def access(*admins: str, clock: Clock | None = None) -> Access:
    return Access(MemoryRoll(), frozenset(admins), now=clock or Clock())


async def test_an_empty_roll_lets_nobody_in() -> None:
    gate = access()
    assert await gate.role(ANN) is Role.STRANGER
    assert await gate.scope(asked(ANN)) is None
    assert await gate.scope(asked(ANN, GROUP)) is None


async def test_an_admin_of_the_settings_reads_everything_in_private() -> None:
    scope = await access(BOSS.key).scope(asked(BOSS))
    assert scope is not None
    assert "administrator" in scope.levels


async def test_an_admin_in_a_group_sees_what_the_group_may_see() -> None:
    gate = access(BOSS.key)
    assert await gate.scope(asked(BOSS, GROUP)) is None
    await gate.allow(place_key(GROUP), BOSS.key)
    scope = await gate.scope(asked(BOSS, GROUP))
    assert scope is not None
    assert scope.levels == {"staff"}


async def test_a_code_passed_to_an_admin_lets_its_owner_in() -> None:
    gate = access(BOSS.key)
    code = await gate.code(asked(ANN))
    assert code == await gate.code(asked(ANN))
    typed = f"{code.text[:4].lower()}-{code.text[4:]}"
    assert await gate.allow(typed, BOSS.key, level="manager") == ANN.key
    scope = await gate.scope(asked(ANN))
    assert scope is not None
    assert scope.levels == {"staff", "manager"}
    assert await gate.allow(code.text, BOSS.key) == ""


async def test_a_code_of_yesterday_lets_nobody_in() -> None:
    clock = Clock()
    gate = access(BOSS.key, clock=clock)
    code = await gate.code(asked(ANN))
    clock.now += timedelta(days=1)
    assert await gate.allow(code.text, BOSS.key) == ""


async def test_the_printed_code_makes_one_first_admin_and_no_second() -> None:
    gate = access()
    code = await gate.first_code()
    assert code is not None
    assert not await gate.pair("WRONG222", ANN)
    assert await gate.pair(code.text, ANN)
    assert await gate.role(ANN) is Role.ADMIN
    assert await gate.first_code() is None
    assert not await gate.pair(code.text, BOSS)


async def test_the_code_of_a_stranger_makes_no_admin() -> None:
    gate = access()
    await gate.first_code()
    own = await gate.code(asked(ANN))
    assert not await gate.pair(own.text, ANN)
    assert await gate.role(ANN) is Role.STRANGER


async def test_bots_get_nothing_even_where_people_are_let_in() -> None:
    gate = access()
    other = Person("telegram", "5", "otherbot", is_bot=True)
    await gate.allow(place_key(GROUP), "cli")
    await gate.allow(other.key, "cli", admin=True)
    assert await gate.scope(asked(other, GROUP)) is None
    assert await gate.role(other) is Role.STRANGER


async def test_a_group_that_becomes_a_supergroup_keeps_its_access() -> None:
    gate = access()
    await gate.allow(place_key(GROUP), "cli", level="senior")
    await gate.moved(GROUP, "-1001234")
    assert await gate.scope(asked(ANN, GROUP)) is None
    scope = await gate.scope(asked(ANN, Place("telegram", "-1001234", "group")))
    assert scope is not None
    assert "senior" in scope.levels


async def test_a_level_that_does_not_exist_is_refused() -> None:
    with pytest.raises(ValueError, match="boss"):
        await access().allow("telegram:1", "cli", level="boss")


async def test_grants_say_who_gave_them() -> None:
    roll = MemoryRoll()
    gate = Access(roll, frozenset({BOSS.key}), now=Clock())
    await gate.allow(ANN.key, BOSS.key)
    grant = await roll.grant(ANN.key)
    assert isinstance(grant, Grant)
    assert (grant.by, grant.at is not None) == (BOSS.key, True)


GUEST = Person("slack", "U0GUEST", "Gus", outsider=True)
MEMBER = Person("slack", "U0ANN", "Ann")
OPS = Place("slack", "C0OPS", "channel", "1.0")
SHARED = replace(OPS, id="C0ACME", outsiders=True)


async def test_a_guest_has_no_part_in_what_a_channel_was_let_in_for() -> None:
    gate = access(BOSS.key)
    await gate.allow(place_key(OPS), BOSS.key, level="director")
    assert await gate.scope(asked(MEMBER, OPS)) is not None
    assert await gate.scope(asked(GUEST, OPS)) is None
    assert await gate.scope(replace(asked(GUEST, OPS), private=True)) is None
    code = await gate.code(asked(GUEST, OPS))
    assert await gate.allow(code.text, BOSS.key, level="manager") == GUEST.key
    scope = await gate.scope(asked(GUEST, OPS))
    assert scope is not None
    assert scope.levels == {"staff", "manager"}
    assert await gate.role(GUEST) is Role.MEMBER


async def test_a_guest_sees_no_more_in_a_channel_than_the_channel_may() -> None:
    gate = access(BOSS.key)
    await gate.allow(GUEST.key, BOSS.key, level="director")
    assert await gate.scope(asked(GUEST, OPS)) is None
    await gate.allow(place_key(OPS), BOSS.key)
    scope = await gate.scope(asked(GUEST, OPS))
    assert scope is not None
    assert scope.levels == {"staff"}


async def test_a_channel_that_becomes_shared_is_another_audience() -> None:
    gate = access(BOSS.key)
    await gate.allow(place_key(replace(SHARED, outsiders=False)), BOSS.key, level="director")
    assert await gate.scope(asked(MEMBER, SHARED)) is None
    code = await gate.code(asked(MEMBER, SHARED))
    assert await gate.allow(code.text, BOSS.key) == place_key(SHARED)
    for person in (MEMBER, GUEST):
        scope = await gate.scope(asked(person, SHARED))
        assert scope is not None
        assert scope.levels == {"staff"}
