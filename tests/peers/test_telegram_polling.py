"""The real process against telegram-test-api, a Telegram emulator that nobody here wrote."""

from __future__ import annotations

import asyncio
import shutil
import time
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path
from typing import Any

import aiohttp
import pytest

from tests.peers.programs import ANN, PATIENCE, TOKEN, Program, belay_run, telegram

EMULATOR = Path(__file__).parent / "telegram"
QUESTION = "which port does billing listen on?"

pytestmark = pytest.mark.peer


@pytest.fixture(scope="module")
def peer() -> Iterator[str]:
    """The emulator's address."""
    node = shutil.which("node")
    if node is None or not (EMULATOR / "node_modules" / "telegram-test-api").is_dir():
        pytest.skip("needs Node.js with npm (on Debian: apt-get install npm), then `make peers`")
    with Program(node, "shim.js", folder=EMULATOR, variables={}) as emulator:
        yield f"http://127.0.0.1:{int(emulator.line())}"


@pytest.fixture(scope="module", autouse=True)
def bot(peer: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Program]:
    folder = tmp_path_factory.mktemp("polling")
    with belay_run(folder, telegram(peer) | {"BELAY_HTTP": "127.0.0.1:0"}) as belay:
        yield belay


class Chat:
    """A private chat with the bot, by the emulator's own interface for people."""

    def __init__(self, session: aiohttp.ClientSession, person: int) -> None:
        self._session, self._person = session, person

    async def says(self, text: str) -> None:
        chat = {"id": self._person, "type": "private", "first_name": "Ann"}
        author = {"id": self._person, "first_name": "Ann", "is_bot": False}
        message = {"botToken": TOKEN, "from": author, "chat": chat, "text": text}
        await self._post("/sendMessage", {**message, "date": int(time.time())})

    async def sees(self) -> list[str]:
        """What the bot wrote since the last look; waits until there is something."""
        async with asyncio.timeout(PATIENCE):
            while True:
                body = {"token": TOKEN, "chatId": self._person}
                found = (await self._post("/getUpdates", body))["result"]
                if found:
                    return [item["message"]["text"] for item in found]
                await asyncio.sleep(0.05)  # the emulator has nothing to wait on

    async def _post(self, path: str, body: dict[str, Any]) -> Any:
        async with self._session.post(path, json=body) as response:
            assert response.status == 200, await response.text()
            return await response.json()


@pytest.fixture
async def chat(peer: str) -> AsyncIterator[Callable[[int], Chat]]:
    async with aiohttp.ClientSession(peer) as session:
        yield lambda person: Chat(session, person)


async def test_a_question_by_polling_is_answered_once(chat: Callable[[int], Chat]) -> None:
    ann = chat(ANN)
    await ann.says(QUESTION)
    (answer,) = await ann.sees()
    assert "8081" in answer
    assert "billing.md" in answer
    await ann.says("/help")
    (told,) = await ann.sees()
    assert "/sources" in told


async def test_a_stranger_by_polling_learns_only_how_to_ask_for_access(
    chat: Callable[[int], Chat],
) -> None:
    stranger = chat(777)
    await stranger.says(QUESTION)
    (told,) = await stranger.sees()
    assert "8081" not in told
    assert "/allow" in told
