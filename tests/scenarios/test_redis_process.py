"""Two `belay run` behind one Telegram token, and the Redis that they share."""

from __future__ import annotations

import asyncio
import subprocess
from pathlib import Path

import aiohttp

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
from tests.servers.redis_server import RedisServer
from tests.servers.telegram_server import TelegramServer

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
            await server.until(lambda: len(server.sent(ann)) > 1, PATIENCE)
            assert await terminated(other) == 0
        assert [sent.reply_to for sent in server.sent(ann)] == [first, second]
        assert all(FACT in sent.text for sent in server.sent(ann))
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
