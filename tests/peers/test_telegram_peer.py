"""The real process against telegram-test-api, a Telegram emulator that nobody here wrote."""

from __future__ import annotations

import asyncio
import os
import shutil
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import aiohttp
import pytest

ROOT = Path(__file__).parents[2]
FOLDER = Path(__file__).parent / "telegram"
BELAY = Path(sys.executable).with_name("belay")
TOKEN = "123456789:AAexample-token-of-no-real-bot-at-all"
ANN = 42
WAIT = 60.0  # seconds for an answer of a process that has to start first

pytestmark = [pytest.mark.peer, pytest.mark.soak]


@pytest.fixture
def peer() -> Iterator[str]:
    """The emulator's address."""
    node = shutil.which("node")
    if node is None or not (FOLDER / "node_modules" / "telegram-test-api").is_dir():
        pytest.skip("needs Node.js and the packages that `make test` installs with npm")
    process = subprocess.Popen([node, "shim.js"], cwd=FOLDER, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    try:
        yield f"http://127.0.0.1:{int(process.stdout.readline())}"
    finally:
        process.kill()
        process.wait()
        process.stdout.close()


@pytest.fixture
async def bot(peer: str, tmp_path: Path) -> AsyncIterator[subprocess.Popen[bytes]]:
    """`belay run` with one document, whose admin is Ann."""
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "billing.md").write_text("# Billing\n\nBilling listens on port 8081.\n")
    (tmp_path / "belay.toml").write_text('[[sources]]\npath = "docs"\n')
    variables = {
        "BELAY_HOME": "home",
        "BELAY_WEB": "off",
        "BELAY_TELEGRAM_TOKEN": TOKEN,
        "BELAY_TELEGRAM_API_URL": peer,
        "BELAY_ADMINS": f"telegram:{ANN}",
        "BELAY_HTTP": "127.0.0.1:0",
        "PYTHONPATH": str(ROOT),
    }
    with (tmp_path / "log").open("wb") as log:
        process = subprocess.Popen(
            [str(BELAY), "run"],
            cwd=tmp_path,
            env={**os.environ, **variables},
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
        )
    yield process
    process.terminate()
    assert await asyncio.to_thread(process.wait) == 0


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
        async with asyncio.timeout(WAIT):
            while True:
                body = {"token": TOKEN, "chatId": self._person}
                found = (await self._post("/getUpdates", body))["result"]
                if found:
                    return [item["message"]["text"] for item in found]
                await asyncio.sleep(0.1)  # the emulator has nothing to wait on

    async def _post(self, path: str, body: dict[str, Any]) -> Any:
        async with self._session.post(path, json=body) as response:
            assert response.status == 200, await response.text()
            return await response.json()


async def test_a_question_by_polling_is_answered_once(
    peer: str, bot: subprocess.Popen[bytes]
) -> None:
    async with aiohttp.ClientSession(peer) as session:
        ann, stranger = Chat(session, ANN), Chat(session, 777)
        await ann.says("which port does billing listen on?")
        (answer,) = await ann.sees()
        assert "8081" in answer
        assert "billing.md" in answer
        await stranger.says("which port does billing listen on?")
        (told,) = await stranger.sees()
        assert "8081" not in told
        assert "/allow" in told
        await ann.says("/help")
        (told,) = await ann.sees()
        assert "/sources" in told
    assert bot.poll() is None
