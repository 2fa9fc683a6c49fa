"""`belay run` on Telegram as an operator sees it: signals, webhook, watched folders, exit codes."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import aiohttp
from aiohttp import web

from tests.scenarios.process_kit import (
    FACT,
    PATIENCE,
    QUESTION,
    ended,
    free_port,
    installed,
    terminated,
)
from tests.servers.openai_server import OpenAIServer, Request, Say
from tests.servers.telegram_server import TelegramServer, User

SECRET = "a-secret-of-the-webhook"
CHANGED = "8099"
_HEADER = "X-Telegram-Bot-Api-Secret-Token"


@dataclass(frozen=True)
class Held:
    """A model that is at work until `go` is set."""

    go: asyncio.Event = field(default_factory=asyncio.Event)

    async def answer(self, request: Request, http: web.Request) -> web.StreamResponse:
        await self.go.wait()
        return await Say(f"Billing listens on port {FACT} [1].").answer(request, http)


def using(model: OpenAIServer) -> dict[str, str]:
    return {"BELAY_MODEL": "any", "BELAY_MODEL_URL": model.url, "BELAY_MODEL_KEY": "none"}


def webhook() -> dict[str, str]:
    address = f"127.0.0.1:{free_port()}"
    return {
        "BELAY_HTTP": address,
        "BELAY_TELEGRAM_WEBHOOK_URL": f"http://{address}",
        "BELAY_TELEGRAM_WEBHOOK_SECRET": SECRET,
    }


def forged(update: dict[str, Any]) -> dict[str, Any]:
    """Another question in the same person's name."""
    message = {**update["message"], "message_id": update["message"]["message_id"] + 1000}
    return {**update, "update_id": update["update_id"] + 1000, "message": message}


async def test_a_webhook_believes_telegram_alone(tmp_path: Path) -> None:
    hears = webhook()
    async with TelegramServer() as server, aiohttp.ClientSession() as session:
        ann = server.user(7, "Ann")
        bot = await installed(tmp_path, server, [ann])
        question = server.says(ann, ann, QUESTION)
        forgery = forged(server.updates.waiting[0])
        with bot.running(**hears) as process:
            await server.until(lambda: server.sent(ann), PATIENCE)
            assert server.updates.webhook is not None
            for secret in ({}, {_HEADER: ""}, {_HEADER: SECRET[:-1]}):
                url = server.updates.webhook.url
                async with session.post(url, json=forgery, headers=secret) as refused:
                    assert refused.status == 401
            async with session.get(f"http://{hears['BELAY_HTTP']}/healthz") as healthy:
                assert healthy.status == 200
            assert await terminated(process) == 0
        assert [sent.reply_to for sent in server.sent(ann)] == [question]
        assert FACT in server.sent(ann)[0].text
        await bot.inbox_holds(0)


async def test_op_01_sigterm_lets_an_answer_finish_and_keeps_what_came_later(
    tmp_path: Path,
) -> None:
    """Ann's question is at the model when the signal comes; Ben asks while the process ends."""
    held = Held()
    async with TelegramServer() as server, OpenAIServer(default=held) as model:
        ann, ben = server.user(7, "Ann"), server.user(8, "Ben")
        bot = await installed(tmp_path, server, [ann, ben])
        server.says(ann, ann, QUESTION)
        with bot.running(**webhook(), **using(model)) as process:
            await server.until(lambda: server.drafts(ann) and model.requests, PATIENCE)
            process.terminate()
            server.says(ben, ben, QUESTION)
            await bot.inbox_holds(2)
            held.go.set()
            assert await ended(process) == 0
        assert [FACT in sent.text for sent in server.sent(ann)] == [True]
        assert server.sent(ben) == []
        await bot.inbox_holds(1)


async def test_op_01_what_does_not_finish_in_time_is_answered_by_the_next_process(
    tmp_path: Path,
) -> None:
    held = Held()
    async with TelegramServer() as server, OpenAIServer(default=held) as model:
        ann = server.user(7, "Ann")
        bot = await installed(tmp_path, server, [ann])
        server.says(ann, ann, QUESTION)
        with bot.running(**using(model), BELAY_DESK__GRACE="0.1") as process:
            await server.until(lambda: server.drafts(ann) and model.requests, PATIENCE)
            assert await terminated(process) == 0
        assert server.sent(ann) == []
        held.go.set()
        with bot.running(**using(model)) as process:
            await server.until(lambda: server.sent(ann), PATIENCE)
            assert await terminated(process) == 0
        assert [FACT in sent.text for sent in server.sent(ann)] == [True]
        await bot.inbox_holds(0)


async def test_a_changed_document_is_answered_without_a_restart(tmp_path: Path) -> None:
    async with TelegramServer() as server:
        ann = server.user(7, "Ann")
        bot = await installed(tmp_path, server, [ann])
        with bot.running("--watch", BELAY_RATES__PERSON_BURST="1000") as process:
            assert FACT in await answered(server, ann)
            text = bot.document.read_text(encoding="utf-8")
            bot.document.write_text(text.replace(FACT, CHANGED), encoding="utf-8")
            async with asyncio.timeout(PATIENCE):
                while CHANGED not in (answer := await answered(server, ann)):
                    assert FACT in answer
            assert await terminated(process) == 0


async def answered(server: TelegramServer, person: User) -> str:
    before = len(server.sent(person))
    server.says(person, person, QUESTION)
    await server.until(lambda: len(server.sent(person)) > before, PATIENCE)
    return server.sent(person)[-1].text


async def test_op_05_a_token_that_telegram_does_not_know_ends_the_process(tmp_path: Path) -> None:
    async with TelegramServer() as server:
        bot = await installed(tmp_path, server, [])
        wrong = server.token[:-2] + "zz"
        with bot.running(BELAY_TELEGRAM_TOKEN=wrong) as process:
            assert await ended(process) == 2
    assert "BELAY_TELEGRAM_TOKEN" in bot.log
    assert wrong not in bot.log
    assert "Traceback" not in bot.log
