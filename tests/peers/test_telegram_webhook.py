"""The real process against mockpost, which brings updates to a webhook and was not written here."""

from __future__ import annotations

import asyncio
import importlib.util
import re
import sys
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import aiohttp
import pytest

from tests.peers.programs import ANN, PATIENCE, TOKEN, Program, belay_run, free_port, telegram

SERVER = Path(__file__).parent / "mockpost_server.py"
QUESTION = "which port does billing listen on?"
GROUP = -100500

pytestmark = [
    pytest.mark.peer,
    pytest.mark.skipif(
        importlib.util.find_spec("mockpost") is None,
        reason="needs the wheel mockpost: run `make peers`",
    ),
]


@pytest.fixture(scope="module")
def emulator(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Program]:
    folder = tmp_path_factory.mktemp("mockpost")
    with Program(sys.executable, SERVER, folder=folder, variables={}) as server:
        yield server


@pytest.fixture(scope="module")
def peer(emulator: Program) -> str:
    """The emulator's address."""
    return f"http://127.0.0.1:{int(emulator.line())}"


@pytest.fixture(scope="module")
def webhook(
    emulator: Program, peer: str, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[str]:
    """Where `belay run` had the emulator bring its updates."""
    address = f"127.0.0.1:{free_port()}"
    hears = {"BELAY_HTTP": address, "BELAY_TELEGRAM_WEBHOOK_URL": f"http://{address}"}
    settings = telegram(f"{peer}/telegram") | hears
    with belay_run(tmp_path_factory.mktemp("webhook"), settings):
        yield emulator.line(address)


class Chats:
    """The people's side, by the emulator's own interface."""

    def __init__(self, session: aiohttp.ClientSession) -> None:
        self._session = session

    async def says(self, chat: int, text: str) -> None:
        body = {"chat_id": chat, "text": text, "from_user": "ann"}
        headers = {"X-MockPost-App": TOKEN}
        async with self._session.post(
            "/telegram/client/sendMessage", json=body, headers=headers
        ) as response:
            (delivered,) = (await response.json())["webhooks_delivered"]
        assert delivered["response_code"] == 200

    async def sees(self, chat: int, part: str) -> str:
        """The bot's newest message there that contains `part`, once there is one."""
        async with asyncio.timeout(PATIENCE):
            while True:
                if found := [text for text in await self.seen(chat) if part in text]:
                    return found[0]
                await asyncio.sleep(0.05)  # the emulator has nothing to wait on

    async def seen(self, chat: int) -> list[str]:
        """What the bot wrote, the newest first."""
        query = {"channel": "telegram", "limit": 100}
        async with self._session.get("/api/messages", params=query) as response:
            messages: list[dict[str, Any]] = await response.json()
        return [
            message["body"]
            for message in messages
            if message["direction"] == "outbound" and message["recipient"] == str(chat)
        ]


@pytest.fixture
async def chats(peer: str, webhook: str) -> AsyncIterator[Chats]:
    async with aiohttp.ClientSession(peer) as session:
        yield Chats(session)


async def test_a_question_by_webhook_is_answered_once(chats: Chats) -> None:
    await chats.says(ANN, QUESTION)
    assert "billing.md" in await chats.sees(ANN, "8081")
    await chats.says(ANN, "/help")
    await chats.sees(ANN, "/sources")
    assert len([text for text in await chats.seen(ANN) if "8081" in text]) == 1


async def test_a_group_by_webhook_is_answered_once_an_admin_let_it_in(chats: Chats) -> None:
    await chats.says(GROUP, f"/ask {QUESTION}")
    told = await chats.sees(GROUP, "/allow")
    assert not [text for text in await chats.seen(GROUP) if "8081" in text]
    code = re.search(r"/allow ([A-Z0-9-]+)", told)
    assert code is not None
    await chats.says(ANN, code[0])
    await chats.sees(ANN, str(GROUP))
    await chats.says(GROUP, f"/ask {QUESTION}")
    assert "billing.md" in await chats.sees(GROUP, "8081")


async def test_an_update_that_does_not_come_from_telegram_is_refused(
    chats: Chats, webhook: str
) -> None:
    person = {"id": ANN, "is_bot": False, "first_name": "Eve"}
    message = {"message_id": 1, "date": 1, "chat": {"id": 43, "type": "private"}, "from": person}
    update = {"update_id": 1, "message": {**message, "text": QUESTION}}
    async with aiohttp.ClientSession() as session:
        for headers in ({}, {"X-Telegram-Bot-Api-Secret-Token": "guessed"}):
            async with session.post(webhook, json=update, headers=headers) as response:
                assert response.status == 401
    await chats.says(ANN, "/help")
    await chats.sees(ANN, "/sources")
    assert await chats.seen(43) == []
