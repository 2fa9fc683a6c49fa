"""The contract of files that come with messages: every platform that can fetch them."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass

import pytest

from adapters.memory.files import MemoryFiles
from adapters.slack.factory import create as create_slack
from adapters.slack.file_objects import attachments_of
from adapters.slack.options import Options as SlackOptions
from adapters.telegram.factory import create as create_telegram
from adapters.telegram.options import Options as TelegramOptions
from bot.attachments import Attachment, Downloading, NotFetched, Trouble
from tests.servers.slack_server import SlackServer
from tests.servers.telegram_server import Lost, TelegramServer

LIMIT = 100_000
DATA = b"%PDF-1.7 \x00\xff" * 50


@dataclass
class Platform:
    """`put` takes a name, a content and the size that it claims; `gone` and `down` spoil a file
    and the platform, `lies` has other bytes delivered than were announced."""

    port: Downloading
    put: Callable[[str, bytes], Attachment]
    gone: Callable[[Attachment], None]
    down: Callable[[], None]
    lies: Callable[[Attachment, bytes], None]


@asynccontextmanager
async def memory() -> AsyncIterator[Platform]:
    files = MemoryFiles()

    def lies(file: Attachment, data: bytes) -> None:
        files.files[file.id] = (file.name, data)

    def down() -> None:
        files.down = True

    yield Platform(files, files.put, lambda file: files.files.clear(), down, lies)


@asynccontextmanager
async def telegram() -> AsyncIterator[Platform]:
    async with TelegramServer() as server:
        platform = create_telegram(
            server.token, server.url, options=TelegramOptions(file_timeout=20)
        )

        def put(name: str, data: bytes) -> Attachment:
            made = server.methods.new_file(name, data)
            return Attachment(made["file_id"], name, size=made["file_size"])

        yield Platform(
            platform,
            put,
            lambda file: server.methods.files.clear(),
            lambda: server.fail("getFile", *[Lost(done=False)] * 5),
            lambda file, data: server.delivered.update({file.id: data}),
        )
        await platform.close()


@asynccontextmanager
async def slack() -> AsyncIterator[Platform]:
    async with SlackServer() as server:
        platform = create_slack(
            server.token,
            app_token=server.app_token,
            api_url=server.url,
            options=SlackOptions(file_timeout=20),
        )

        def put(name: str, data: bytes) -> Attachment:
            [found] = attachments_of({"files": [server.file(name, data)]})
            return found

        def down() -> None:
            server.files.status = 503

        yield Platform(
            platform,
            put,
            lambda file: server.files.deletes({"id": file.id}),
            down,
            lambda file, data: server.files.delivered.update({file.id: data}),
        )
        await platform.close()


@pytest.fixture(params=[memory, telegram, slack], ids=["memory", "telegram", "slack"])
async def platform(request: pytest.FixtureRequest) -> AsyncIterator[Platform]:
    async with request.param() as made:
        yield made


async def test_the_whole_file_comes_byte_for_byte(platform: Platform) -> None:
    got = await platform.port.download(platform.put("plan.pdf", DATA), LIMIT)
    assert (got.name, got.data) == ("plan.pdf", DATA)


@pytest.mark.parametrize(
    "name", ["Резервный план й.md", "a b#c?d%2f.txt", "x" * 300 + ".txt", "\u202egpj.exe"]
)
async def test_names_are_only_words(platform: Platform, name: str) -> None:
    got = await platform.port.download(platform.put(name, DATA), LIMIT)
    assert (got.name, got.data) == (name, DATA)


async def test_the_limit_is_the_last_byte_that_is_given(platform: Platform) -> None:
    whole = await platform.port.download(platform.put("a.txt", b"x" * LIMIT), LIMIT)
    assert len(whole.data) == LIMIT
    with pytest.raises(NotFetched) as refused:
        await platform.port.download(platform.put("b.txt", b"x" * (LIMIT + 1)), LIMIT)
    assert refused.value.trouble is Trouble.TOO_LARGE


async def test_a_file_that_is_larger_than_it_claims_is_not_read_to_its_end(
    platform: Platform,
) -> None:
    file = platform.put("a.txt", b"x")
    platform.lies(file, b"x" * (20 * LIMIT))
    with pytest.raises(NotFetched) as refused:
        await platform.port.download(file, LIMIT)
    assert refused.value.trouble is Trouble.TOO_LARGE


async def test_a_deleted_file_is_gone(platform: Platform) -> None:
    file = platform.put("a.txt", DATA)
    platform.gone(file)
    with pytest.raises(NotFetched) as refused:
        await platform.port.download(file, LIMIT)
    assert refused.value.trouble is Trouble.GONE


async def test_what_cannot_be_reached_now_may_be_later(platform: Platform) -> None:
    file = platform.put("a.txt", DATA)
    platform.down()
    with pytest.raises(NotFetched) as refused:
        await platform.port.download(file, LIMIT)
    assert refused.value.trouble is Trouble.UNREACHABLE
