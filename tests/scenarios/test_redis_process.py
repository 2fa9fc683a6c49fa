"""Two `belay run` behind one Telegram token, and the Redis that they share."""

from __future__ import annotations

import asyncio
import subprocess
from pathlib import Path
from typing import Any

import aiohttp
import pytest

from adapters.redis.inbox import RedisInbox
from adapters.redis.server import Server
from tests.scenarios.process_kit import (
    BELAY,
    FACT,
    PATIENCE,
    QUESTION,
    Installed,
    free_port,
    installed,
    terminated,
)
from tests.servers.redis_server import NEEDED, RedisServer, available
from tests.servers.telegram_server import TelegramServer, User

SECRET = "a-secret-of-sixteen-letters"
_HEADERS = {"X-Telegram-Bot-Api-Secret-Token": SECRET}


def webhook(port: int) -> dict[str, str]:
    """All replicas name one address to Telegram; each listens at its own."""
    return {
        "BELAY_HTTP": f"127.0.0.1:{port}",
        "BELAY_TELEGRAM_WEBHOOK_URL": "http://127.0.0.1:9",
        "BELAY_TELEGRAM_WEBHOOK_SECRET": SECRET,
    }


async def said(bot: Installed, redis: RedisServer, *words: str) -> str:
    """What a command prints in the same installation."""
    process = await asyncio.create_subprocess_exec(
        str(BELAY), *words, cwd=bot.folder, env={**bot.variables, "BELAY_REDIS_URL": redis.url},
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
    )  # fmt: skip
    printed, _ = await process.communicate()
    return printed.decode()


async def brought(update: object, port: int) -> None:
    """Brings an update to one replica until it is acknowledged, as the balancer does."""
    url = f"http://127.0.0.1:{port}/telegram/webhook"
    async with aiohttp.ClientSession() as session, asyncio.timeout(PATIENCE):
        while True:
            try:
                async with session.post(url, json=update, headers=_HEADERS) as response:
                    if response.ok:
                        return
            except aiohttp.ClientError:
                pass
            await asyncio.sleep(0.1)  # nothing tells when a replica listens


def answers(server: TelegramServer, person: User) -> list[int | None]:
    """The questions that were answered. The kill may fall between a part's way out and its
    confirmation: a note on the interruption then comes beside the answer."""
    return [sent.reply_to for sent in server.sent(person) if FACT in sent.text]


async def test_sl_02_two_replicas_hear_each_question_and_one_answers(
    tmp_path: Path, redis_server: RedisServer
) -> None:
    """Access is granted to both at once; when one is killed the other goes on."""
    ports = free_port(), free_port()
    async with TelegramServer() as server:
        ann = server.user(7, "Ann")
        bot = await installed(tmp_path, server, [])
        assert "let in: telegram:7" in await said(bot, redis_server, "allow", "telegram:7")
        first, second = server.says(ann, ann, QUESTION), server.says(ann, ann, QUESTION)
        shared = {"BELAY_REDIS_URL": redis_server.url}
        one, two = list(server.updates.waiting)
        with (
            bot.running(**shared, **webhook(ports[0])) as killed,
            bot.running(**shared, **webhook(ports[1]), BELAY_HOME=str(tmp_path / "h2")) as other,
        ):
            await asyncio.gather(*(brought(one, port) for port in (*ports, *ports)))
            await server.until(lambda: server.sent(ann), PATIENCE)
            killed.kill()
            await brought(two, ports[1])
            await server.until(lambda: len(answers(server, ann)) > 1, PATIENCE)
            assert await terminated(other) == 0
        assert answers(server, ann) == [first, second]
    inbox = RedisInbox(Server(redis_server.url))
    assert await inbox.waiting() == 0
    await inbox.close()


async def test_the_doctor_names_a_redis_that_is_not_there(tmp_path: Path) -> None:
    async with TelegramServer() as server:
        bot = await installed(tmp_path, server, [])
        gone = RedisServer(tmp_path)
        printed = await said(bot, gone, "doctor")
    assert f"Redis at 127.0.0.1:{gone.port} cannot be reached" in printed
    assert "Start it, or correct BELAY_REDIS_URL" in printed


async def status(port: int, wanted: str) -> dict[str, Any]:
    """What /readyz says once it says this."""
    async with aiohttp.ClientSession() as session, asyncio.timeout(PATIENCE):
        while True:
            try:
                async with session.get(f"http://127.0.0.1:{port}/readyz") as response:
                    told: dict[str, Any] = await response.json()
                    if told["status"] == wanted:
                        assert response.ok == (wanted in ("ready", "degraded"))
                        return told
            except aiohttp.ClientError:
                pass
            await asyncio.sleep(0.05)  # another process has nothing to wait on


async def test_op_11_a_bot_without_its_redis_says_so_and_goes_on_when_it_is_back(
    tmp_path: Path,
) -> None:
    """Nothing is taken meanwhile, so that the messenger keeps it; the process stays the same."""
    if not available():
        pytest.skip(NEEDED)
    port = free_port()
    async with TelegramServer() as server:
        ann = server.user(7, "Ann")
        bot = await installed(tmp_path, server, [])
        with RedisServer(tmp_path / "redis", "--appendonly", "yes") as redis:
            await said(bot, redis, "allow", "telegram:7")
            server.says(ann, ann, QUESTION)
            (update,) = server.updates.waiting
            shared = {"BELAY_REDIS_URL": redis.url, "BELAY_TELEMETRY__CHECK_EVERY": "0.2"}
            with bot.running(**shared, **webhook(port)) as process:
                told = await status(port, "ready")
                assert told["checks"]["inbox"] == {"state": "ok", "engine": "redis", "needed": True}
                redis.kill()
                told = await status(port, "unready")
                down = [name for name, seen in told["checks"].items() if seen["state"] == "down"]
                assert down == ["inbox"]
                url = f"http://127.0.0.1:{port}/telegram/webhook"
                async with (
                    aiohttp.ClientSession() as session,
                    session.post(url, json=update, headers=_HEADERS) as response,
                ):
                    assert response.status >= 500
                redis.start()
                await status(port, "ready")
                await brought(update, port)
                await server.until(lambda: server.sent(ann), PATIENCE)
                assert await terminated(process) == 0
        assert [FACT in sent.text for sent in server.sent(ann)] == [True]
    assert bot.log.count("inbox is down") == 1
    assert bot.log.count("inbox works again") == 1
