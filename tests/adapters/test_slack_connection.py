"""How the bot is connected to Slack: sockets that come and go, tokens that end."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from adapters.slack.factory import create
from bot.chat import Incoming
from bot.errors import AccessWithdrawn, SettingsError
from bot.ports import Sink
from tests.adapters.slack_kit import At, office
from tests.servers.slack_server import (
    Call,
    Limited,
    Lost,
    Refused,
    SlackServer,
)

both = pytest.mark.parametrize("http", [False, True], ids=["socket", "http"])


class TestSockets:
    async def test_a_connection_that_slack_wants_renewed_is(self) -> None:
        async with office() as at:
            for number, reason in enumerate(["warning", "refresh_requested", "warning"], start=1):
                (before,) = at.server.notices.sockets
                await at.server.notices.disconnect(reason)
                await at.reconnected(before)
                await at.server.says(at.direct, at.ann, f"question {number}")
                await at.answered(at.direct, number)

    async def test_a_broken_connection_is_opened_again_after_a_rest(self) -> None:
        async with office() as at:
            (before,) = at.server.notices.sockets
            await before.close()
            await at.reconnected(before)
            await at.server.says(at.direct, at.ann, "still there?")
            await at.answered(at.direct)

    async def test_an_outage_is_one_line_in_the_log(self, caplog: pytest.LogCaptureFixture) -> None:
        async with office() as at:
            with caplog.at_level(logging.WARNING, "adapters.slack"):
                at.server.fail("apps.connections.open", *[Refused("internal_error")] * 3)
                at.server.fail("apps.connections.open", Lost())
                (before,) = at.server.notices.sockets
                await before.close()
                await at.reconnected(before)
            assert [r.name for r in caplog.records if r.name.startswith("adapters")] == [
                "adapters.slack.outage"
            ]

    async def test_slack_is_left_alone_as_long_as_it_asks_for(self) -> None:
        async with office() as at:
            at.server.fail("apps.connections.open", *[Limited(900)] * 2)
            (before,) = at.server.notices.sockets
            begun = at.time.clock()
            await before.close()
            await at.reconnected(before)
            assert at.time.clock() - begun > 900

    async def test_socket_mode_that_is_switched_off_says_so(self) -> None:
        async def switch_off(at: At) -> None:
            await at.server.notices.disconnect("link_disabled")

        error = await end_of(switch_off)
        assert isinstance(error, SettingsError)
        assert "Socket Mode" in error.remedy


class TestTokens:
    @pytest.mark.parametrize(
        "code", ["invalid_auth", "account_inactive", "token_revoked", "not_authed"]
    )
    async def test_op_05_a_wrong_bot_token_ends_at_once(self, code: str) -> None:
        async with SlackServer() as server:
            server.revoke(code)
            slack = create(server.token, app_token=server.app_token, api_url=server.url)
            with pytest.raises(SettingsError) as caught:
                await slack.run(Nowhere())
            await slack.close()
            assert "BELAY_SLACK_BOT_TOKEN" in caught.value.remedy
            assert server.token not in str(caught.value) + caught.value.remedy
            assert len(server.calls) == 1

    async def test_op_05_a_wrong_app_token_ends_at_once(self) -> None:
        async with SlackServer() as server:
            slack = create(server.token, app_token="xapp-1-A0-other", api_url=server.url)
            with pytest.raises(SettingsError) as caught:
                await slack.run(Nowhere())
            await slack.close()
            assert "BELAY_SLACK_APP_TOKEN" in caught.value.remedy
            assert len(server.called("apps.connections.open")) == 1

    async def test_op_05_a_way_in_is_needed(self) -> None:
        with pytest.raises(SettingsError, match="way in"):
            create("xoxb-1")
        with pytest.raises(SettingsError, match="HTTP server"):
            create("xoxb-1", signing_secret="0" * 32)

    @both
    async def test_sl_23_an_uninstalled_app_ends_with_one_error(self, http: bool) -> None:
        async def uninstall(at: At) -> None:
            at.server.revoke()
            await at.server.uninstalls()

        error = await end_of(uninstall, http=http)
        assert isinstance(error, AccessWithdrawn)
        assert "BELAY_SLACK_BOT_TOKEN" in error.remedy

    @pytest.mark.parametrize("code", ["account_inactive", "token_revoked", "invalid_auth"])
    async def test_sl_23_a_token_revoked_without_notice_is_not_tried_for_ever(
        self, code: str
    ) -> None:
        calls: list[list[Call]] = []

        async def revoke(at: At) -> None:
            at.server.revoke(code)
            at.server.calls.clear()
            calls.append(at.server.calls)
            await at.server.says(at.direct, at.ann, "still there?")

        assert isinstance(await end_of(revoke), AccessWithdrawn)
        assert len(calls[0]) <= 2

    async def test_tokens_of_people_are_none_of_the_bots(self) -> None:
        async with office() as at:
            tokens = {"type": "tokens_revoked", "tokens": {"oauth": ["U0ANN"], "bot": []}}
            await at.server.tell(None, tokens)
            await at.server.says(at.direct, at.ann, "still there?")
            await at.answered(at.direct)


async def end_of(what: Callable[[At], Awaitable[None]], **more: Any) -> BaseException:
    """The error that the platform ends with after `what` happened."""
    ended: list[BaseException] = []
    try:
        async with asyncio.timeout(20), office(**more) as at:
            await what(at)
            await asyncio.Event().wait()
    except* SettingsError as raised:
        ended += raised.exceptions
    (error,) = ended
    return error


class Nowhere(Sink):
    async def accept(self, event: Incoming) -> None:
        raise AssertionError(event)
