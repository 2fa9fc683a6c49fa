"""What `belay doctor` says of a Telegram bot, against the loopback Bot API server."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from adapters.telegram import create
from bot.http import HttpServer
from bot.ports import Checkable, Finding
from tests.servers.telegram_server import Refused, TelegramServer

URL = "https://bot.example.org/telegram/webhook"


@pytest.fixture
async def server() -> AsyncIterator[TelegramServer]:
    async with TelegramServer(reads_all=False) as running:
        yield running


async def checked(server: TelegramServer, token: str = "", webhook: str = "") -> list[Finding]:
    platform = create(token or server.token, server.url, webhook_url=webhook, http=HttpServer())
    assert isinstance(platform, Checkable)
    try:
        return list(await platform.check())
    finally:
        await platform.close()


def told(findings: list[Finding]) -> str:
    return "\n".join(f"{item.state} {item.message} {item.remedy}" for item in findings)


async def test_tg_20_privacy_mode_is_explained(server: TelegramServer) -> None:
    text = told(await checked(server))
    assert "privacy mode is on" in text
    assert "/setprivacy" in text
    assert "add the bot to the group again" in text


async def test_a_bot_that_sees_everything_has_nothing_to_be_told() -> None:
    async with TelegramServer(reads_all=True) as server:
        assert "privacy mode is off" in told(await checked(server))


async def test_op_05_an_unknown_token_is_bad_and_not_shown(server: TelegramServer) -> None:
    wrong = server.token[:-2] + "zz"
    (finding,) = await checked(server, token=wrong)
    assert finding.state == "bad"
    assert "BELAY_TELEGRAM_TOKEN" in finding.remedy
    assert wrong not in told([finding])


async def test_a_server_in_trouble_is_no_wrong_token(server: TelegramServer) -> None:
    server.fail("getMe", Refused(500, "Internal Server Error"))
    (finding,) = await checked(server)
    assert finding.state == "bad"
    assert "not reached" in finding.message


async def test_a_webhook_that_is_not_set_yet(server: TelegramServer) -> None:
    assert f"`belay run` sets it to {URL}" in told(await checked(server, webhook=URL))


async def test_checking_changes_nothing(server: TelegramServer) -> None:
    await checked(server)
    assert {call.method for call in server.calls} <= {"getMe", "getWebhookInfo", "getMyCommands"}


async def test_nothing_listens(server: TelegramServer) -> None:
    platform = create(server.token, "http://127.0.0.1:9")
    (finding,) = await platform.check()
    await platform.close()
    assert finding.state == "bad"
    assert "BELAY_TELEGRAM_API_URL" in finding.remedy
