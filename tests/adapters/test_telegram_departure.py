"""A message counts as on its way from the moment its bytes go out, no earlier and no later."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
from aiogram.methods import SendMessage

from adapters.telegram.factory import open_bot
from adapters.telegram.requests import Refused, Requests, Unclear
from bot.delivery import LeaseLost
from tests.servers.telegram_server import TOKEN, Lost, TelegramServer

ANN = 7


@asynccontextmanager
async def requests(url: str) -> AsyncIterator[Requests]:
    bot = open_bot(TOKEN, url)
    try:
        yield Requests(bot)
    finally:
        await bot.session.close()


def hello() -> SendMessage:
    return SendMessage(chat_id=ANN, text="hello")


async def test_op_01_the_mark_is_made_once_and_before_the_server_knows() -> None:
    calls: list[int] = []
    async with TelegramServer() as server, requests(server.url) as send:
        ann = server.user(ANN, "Ann")
        for _ in range(2):  # on a new connection, and on one that is open
            await send(hello(), 5, lambda: calls.append(len(server.sent(ann))))
        assert len(server.sent(ann)) == 2
    assert calls == [0, 1]


async def test_op_01_whoever_lost_the_lease_at_the_last_moment_sends_nothing() -> None:
    def lost() -> None:
        raise LeaseLost("telegram:7:1:question")

    async with TelegramServer() as server, requests(server.url) as send:
        ann = server.user(ANN, "Ann")
        with pytest.raises(LeaseLost):
            await send(hello(), 5, lost)
        await send(hello(), 5)
        assert len(server.sent(ann)) == 1


async def test_op_01_what_never_left_is_certainly_not_shown() -> None:
    """A connection that never comes about: the TLS handshake is not answered."""
    left: list[str] = []
    silence = asyncio.Event()

    async def accept(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await silence.wait()
        writer.close()

    async with await asyncio.start_server(accept, "127.0.0.1", 0) as listening:
        port = listening.sockets[0].getsockname()[1]
        async with requests(f"https://127.0.0.1:{port}") as send:
            with pytest.raises(Refused):
                await send(hello(), 1, lambda: left.append("left"))
        silence.set()
    assert left == []


@pytest.mark.parametrize("done", [True, False])
async def test_op_01_what_left_without_an_answer_is_unclear(done: bool) -> None:
    async with TelegramServer() as server, requests(server.url) as send:
        server.user(ANN, "Ann")
        server.fail("sendMessage", Lost(done=done))
        with pytest.raises(Unclear):
            await send(hello(), 5)
