"""Rights for whoever administers a Telegram chat."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from adapters.memory.roll import MemoryRoll
from bot.access import Access
from bot.access_settings import AccessSettings
from bot.chat import Incoming, Kind, Person, Place
from bot.errors import DeliveryFailed, SettingsError
from bot.groups import PlatformGroups
from tests.adapters.telegram_kit import At, answer_with, office
from tests.servers.telegram_text import Refused

ADMINS = "-1001:admins"


@dataclass
class Hours:
    now: float = 0.0

    def __call__(self) -> float:
        return self.now


def gate(at: At, hours: Hours) -> Access:
    rule = {"group": f"telegram:{ADMINS}", "level": "senior", "labels": ["sre"]}
    directory = AccessSettings.model_validate({"groups": [rule]}).directory()
    groups = PlatformGroups(directory.groups, {"telegram": at.telegram}, 300.0, hours)
    return Access(MemoryRoll(), frozenset(), directory=directory, groups=groups)


def in_private(number: int) -> Incoming:
    person = Person("telegram", str(number))
    return Incoming(Kind.QUESTION, Place("telegram", str(number)), person, "1", "hi")


async def test_who_administers_a_chat_has_what_the_settings_give() -> None:
    async with office(answer_with("")) as at:
        at.ops.admins = {at.anna.id: {"status": "creator"}}
        access = gate(at, Hours())
        scope = await access.scope(in_private(at.anna.id))
        assert scope is not None
        assert "senior" in scope.levels
        assert "manager" in scope.levels
        assert scope.labels == {"sre"}
        assert await access.scope(in_private(at.boris.id)) is None


async def test_who_is_no_administrator_any_more_loses_it_when_telegram_is_asked_again() -> None:
    async with office(answer_with("")) as at:
        at.ops.admins = {at.anna.id: {}}
        hours = Hours()
        access = gate(at, hours)
        assert await access.scope(in_private(at.anna.id)) is not None
        at.ops.admins.clear()
        hours.now = 301.0
        assert await access.scope(in_private(at.anna.id)) is None


async def test_an_anonymous_administrator_is_known_by_their_own_id() -> None:
    async with office(answer_with("")) as at:
        at.ops.admins = {at.anna.id: {"is_anonymous": True}}
        assert await at.telegram.members(ADMINS) == {str(at.anna.id)}
        written_as_the_group = in_private(at.ops.id)
        assert await gate(at, Hours()).scope(written_as_the_group) is None


async def test_bots_are_no_administrators_not_even_this_one() -> None:
    async with office(answer_with("")) as at:
        at.ops.bot_status = "administrator"
        at.ops.admins = {at.anna.id: {}}
        assert await at.telegram.members(ADMINS) == {str(at.anna.id)}


@pytest.mark.parametrize("status", ["left", "kicked"])
async def test_a_chat_that_the_bot_is_not_in_gives_nobody_anything(status: str) -> None:
    async with office(answer_with("")) as at:
        at.ops.admins = {at.anna.id: {}}
        at.ops.bot_status = status
        with pytest.raises(SettingsError, match="does not tell") as raised:
            await at.telegram.members(ADMINS)
        assert "Add the bot" in raised.value.remedy
        assert await gate(at, Hours()).scope(in_private(at.anna.id)) is None


async def test_a_chat_that_does_not_exist_is_told_with_what_to_do() -> None:
    async with office(answer_with("")) as at:
        with pytest.raises(SettingsError, match="chat not found"):
            await at.telegram.members("-1009:admins")


async def test_the_members_of_a_channel_are_told_to_its_administrators_only() -> None:
    async with office(answer_with("")) as at:
        news = at.server.group(-1002, "News", kind="channel")
        news.admins = {at.anna.id: {}}
        with pytest.raises(SettingsError, match="inaccessible"):
            await at.telegram.members("-1002:admins")
        news.bot_status = "administrator"
        assert await at.telegram.members("-1002:admins") == {str(at.anna.id)}


async def test_a_group_that_became_a_supergroup_is_named_by_its_new_id() -> None:
    async with office(answer_with("")) as at:
        group = at.server.group(-40, "Old", kind="group")
        at.server.upgrades(group, at.anna, -1003)
        with pytest.raises(SettingsError) as raised:
            await at.telegram.members("-40:admins")
        assert "telegram:-1003:admins" in raised.value.remedy


async def test_op_11_while_telegram_fails_nobody_is_an_administrator() -> None:
    async with office(answer_with("")) as at:
        at.ops.admins = {at.anna.id: {}}
        hours = Hours()
        access = gate(at, hours)
        at.server.fail("getChatAdministrators", Refused(500, "Internal Server Error"))
        assert await access.scope(in_private(at.anna.id)) is None
        hours.now = 301.0
        assert await access.scope(in_private(at.anna.id)) is not None
        at.server.fail("getChatAdministrators", Refused(500, "Internal Server Error"))
        with pytest.raises(DeliveryFailed):
            await at.telegram.members(ADMINS)


@pytest.mark.parametrize("group", ["telegram:-1001", "telegram:42:admins", "telegram:-1:members"])
def test_a_group_of_telegram_is_written_with_its_role(group: str) -> None:
    with pytest.raises(ValueError, match="telegram:-100123:admins"):
        AccessSettings.model_validate({"groups": [{"group": group, "level": "staff"}]})
