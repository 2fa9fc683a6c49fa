"""Who is in a Slack user group."""

from __future__ import annotations

import pytest

from adapters.slack.options import Options
from adapters.slack.people import People
from adapters.slack.reading import Reading
from bot.errors import SettingsError
from tests.adapters.slack_talk import At, talking


def people(at: At) -> People:
    options = Options()
    return People(Reading(at.line.client, options), options, at.clock)


async def test_slack_tells_the_members_of_a_user_group() -> None:
    async with talking() as at:
        at.server.at.groups["S0SRE"] = ["U0ANN", "U0BOB"]
        assert await people(at).members("S0SRE") == {"U0ANN", "U0BOB"}


async def test_a_group_that_does_not_exist_is_told_with_what_to_do() -> None:
    async with talking() as at:
        with pytest.raises(SettingsError, match="no_such_subteam") as raised:
            await people(at).members("S0NONE")
    assert "usergroups:read" in raised.value.remedy


async def test_without_the_scope_nobody_is_in_a_group() -> None:
    async with talking(scopes=["chat:write"]) as at:
        at.server.at.groups["S0SRE"] = ["U0ANN"]
        with pytest.raises(SettingsError, match="missing_scope"):
            await people(at).members("S0SRE")
