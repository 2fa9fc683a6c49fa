"""Files that people send on Telegram: as their messages tell of them, and fetched."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from adapters.telegram.factory import create
from adapters.telegram.options import Options
from adapters.telegram.platform import Telegram
from bot.attachments import Attachment, NotFetched, Trouble
from tests.adapters.telegram_kit import office
from tests.servers.elsewhere import elsewhere
from tests.servers.telegram_server import TelegramServer

LIMIT = 1_000_000


@asynccontextmanager
async def telegram(
    files: str = "", timeout: int = 20
) -> AsyncIterator[tuple[TelegramServer, Telegram]]:
    async with TelegramServer() as server:
        options = Options(file_timeout=timeout)
        platform = create(server.token, server.url, files=files, options=options)
        yield server, platform
        await platform.close()


def put(server: TelegramServer, data: bytes, size: int = 0) -> Attachment:
    return Attachment(server.methods.new_file("plan.pdf", data)["file_id"], "plan.pdf", size=size)


async def trouble(platform: Telegram, file: Attachment) -> NotFetched:
    with pytest.raises(NotFetched) as refused:
        await platform.download(file, LIMIT)
    return refused.value


async def test_a_message_tells_of_its_document_and_of_that_it_replies_to() -> None:
    async with office() as at:
        document = ("plan.pdf", b"%PDF", "application/pdf")
        first = at.server.says(at.anna, at.anna, "add this", document=document)
        at.server.says(at.anna, at.anna, "add this", reply_to=first)
        await at.answered(at.anna, 2)
        own, reply = at.seen
        assert [(file.name, file.mime, file.size) for file in own.files] == [
            ("plan.pdf", "application/pdf", 4)
        ]
        assert (reply.files, reply.nearby) == ((), own.files)


async def test_pictures_and_moving_ones_are_no_files() -> None:
    async with office() as at:
        animation = {"file_id": "a", "file_unique_id": "b", "width": 9, "height": 9, "duration": 1}
        at.server.says(at.anna, at.anna, "add this", photo=True)
        at.server.says(
            at.anna, at.anna, "add this", document=("cat.mp4", b"x"), animation=animation
        )
        await at.answered(at.anna, 2)
        assert [event.files for event in at.seen] == [(), ()]
        assert [event.attachments for event in at.seen] == [("photo",), ("cat.mp4",)]


async def test_an_album_of_documents_is_one_event() -> None:
    async with office() as at:
        for number in range(3):
            document = (f"{number}.md", b"# x")
            text = "add this" if number == 1 else ""
            at.server.says(at.anna, at.anna, text, document=document, media_group_id="m1")
        while len(at.seen) < 1:
            await at.passes(1)
        await at.answered(at.anna)
        [event] = at.seen
        assert [file.name for file in event.files] == ["0.md", "1.md", "2.md"]
        assert event.text == "add this"


async def test_what_telegram_calls_too_big_is_told_with_its_limit() -> None:
    async with telegram() as (server, platform):
        server.methods.largest_file = 10
        error = await trouble(platform, put(server, b"x" * 11))
        assert (error.trouble, error.limit) == (Trouble.TOO_LARGE, 20 * 1024 * 1024)
        assert server.called("download") == []


async def test_a_size_over_the_limit_is_not_even_asked_for() -> None:
    async with telegram() as (server, platform):
        error = await trouble(platform, put(server, b"x", size=LIMIT + 1))
        assert error.trouble is Trouble.TOO_LARGE
        assert server.called("getFile") == []


async def test_a_download_that_does_not_end_is_given_up() -> None:
    async with telegram(timeout=1) as (server, platform):
        server.hold("download")
        assert (await trouble(platform, put(server, b"x"))).trouble is Trouble.UNREACHABLE


async def test_sc_09_no_redirect_is_followed_and_no_address_logged(
    caplog: pytest.LogCaptureFixture,
) -> None:
    """SC-09: the token stands in the address of a file."""
    with caplog.at_level(logging.DEBUG):
        async with elsewhere() as other, telegram() as (server, platform):
            server.file_redirect = f"{other.address}/plan.pdf"
            assert (await trouble(platform, put(server, b"x"))).trouble is Trouble.UNREACHABLE
            server.file_redirect = "http://127.0.0.1:1/"
            await trouble(platform, put(server, b"x"))
            token = server.token
    assert other.asked == []
    ours = [record.getMessage() for record in caplog.records if "aiogram" not in record.name]
    assert all(token not in line for line in ours)


async def test_a_server_of_ones_own_gives_any_size_from_its_disk(tmp_path: Path) -> None:
    folder = tmp_path / "telegram-bot-api"
    folder.mkdir()
    async with telegram(str(folder)) as (server, platform):
        server.methods.own_disk, server.methods.largest_file = folder, 10
        got = await platform.download(put(server, b"x" * 500), LIMIT)
        assert got.data == b"x" * 500
        error = await trouble(platform, put(server, b"x" * (LIMIT + 1)))
        assert error.trouble is Trouble.TOO_LARGE


@pytest.mark.parametrize(("named", "state"), [("here", "ok"), ("nowhere", "bad")])
async def test_the_doctor_looks_for_the_folder(tmp_path: Path, named: str, state: str) -> None:
    (tmp_path / "here").mkdir()
    async with telegram(str(tmp_path / named)) as (_, platform):
        [found] = [each for each in await platform.check() if named in each.message]
        assert (found.state, bool(found.remedy)) == (state, state == "bad")


@pytest.mark.parametrize("named", ["", "elsewhere"])
async def test_no_other_file_of_this_machine_is_read(tmp_path: Path, named: str) -> None:
    folder = tmp_path / "private"
    folder.mkdir()
    (tmp_path / "elsewhere").mkdir()
    async with telegram(str(tmp_path / named) if named else "") as (server, platform):
        server.methods.own_disk = folder
        assert (await trouble(platform, put(server, b"secret"))).trouble is Trouble.FORBIDDEN
