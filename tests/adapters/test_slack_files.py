"""Files that people drop on Slack: as their messages tell of them, and fetched."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from adapters.slack.checks import SCOPES
from adapters.slack.factory import create
from adapters.slack.file_objects import attachments_of
from adapters.slack.options import Options
from adapters.slack.platform import Slack
from bot.attachments import Attachment, NotFetched, Trouble
from bot.errors import PlatformGone
from tests.adapters.slack_kit import office
from tests.servers.elsewhere import elsewhere
from tests.servers.slack_server import MENTION, SlackServer

LIMIT = 1_000_000
DATA = b"# Plan\n\nIt is a plan.\n"


@asynccontextmanager
async def slack(*scopes: str, timeout: float = 20) -> AsyncIterator[tuple[SlackServer, Slack]]:
    async with SlackServer(scopes=scopes or tuple(SCOPES)) as server:
        options = Options(file_timeout=timeout)
        platform = create(
            server.token, app_token=server.app_token, api_url=server.url, options=options
        )
        yield server, platform
        await platform.close()


def put(server: SlackServer, data: bytes = DATA, **fields: Any) -> Attachment:
    return attachments_of({"files": [server.file("plan.md", data, **fields)]})[0]


async def trouble(platform: Slack, file: Attachment) -> Trouble:
    with pytest.raises(NotFetched) as refused:
        await platform.download(file, LIMIT)
    return refused.value.trouble


async def test_a_shared_channel_may_tell_no_more_than_the_id() -> None:
    """In channels of Slack Connect a file is `check_file_info`: the rest has to be asked for."""
    async with slack() as (server, platform):
        file = put(server, mimetype="text/markdown")
        [known] = attachments_of({"files": [{"id": file.id, "file_access": "check_file_info"}]})
        got = await platform.download(known, LIMIT)
        assert (got.name, got.data) == ("plan.md", DATA)


async def test_without_the_scope_no_page_to_sign_in_is_taken_for_a_file() -> None:
    async with slack("chat:write") as (server, platform):
        assert await trouble(platform, put(server)) is Trouble.FORBIDDEN


@pytest.mark.parametrize("mimetype", ["text/markdown", "text/html"])
async def test_a_page_to_sign_in_is_no_file_whatever_the_file_is(mimetype: str) -> None:
    async with slack() as (server, platform):
        file = put(server, mimetype=mimetype)
        assert (await platform.download(file, LIMIT)).data == DATA
        server.files.signed_out = True
        assert await trouble(platform, file) is Trouble.FORBIDDEN


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({"mode": "external", "is_external": True}, Trouble.ELSEWHERE),
        ({"is_external": True, "external_type": "gdrive"}, Trouble.ELSEWHERE),
        ({"mode": "tombstone"}, Trouble.GONE),
        ({"mode": "hidden_by_limit"}, Trouble.GONE),
        ({"url_private_download": "https://files.slack.com.evil.example/x"}, Trouble.ELSEWHERE),
        ({"url_private_download": "", "url_private": ""}, Trouble.ELSEWHERE),
    ],
    ids=["external", "drive", "tombstone", "hidden", "evil", "none"],
)
async def test_what_slack_does_not_have_is_not_asked_for(
    fields: dict[str, Any], expected: Trouble
) -> None:
    async with slack() as (server, platform):
        assert await trouble(platform, put(server, **fields)) is expected
        assert server.called("download") == []


async def test_the_token_follows_no_redirect() -> None:
    async with elsewhere() as other, slack() as (server, platform):
        server.files.redirect = f"{other.address}/plan.md"
        assert await trouble(platform, put(server)) is Trouble.FORBIDDEN
    assert other.asked == []


async def test_a_download_that_does_not_end_is_given_up() -> None:
    async with slack(timeout=0.2) as (server, platform):
        server.hold("download")
        assert await trouble(platform, put(server)) is Trouble.UNREACHABLE


async def test_a_size_that_grew_since_the_message_is_seen_before_the_download() -> None:
    async with slack() as (server, platform):
        file = put(server)
        server.at.files[file.id][0]["size"] = LIMIT + 1
        assert await trouble(platform, file) is Trouble.TOO_LARGE
        assert server.called("download") == []


async def test_a_revoked_token_ends_the_place_and_is_no_trouble_of_the_file() -> None:
    async with slack() as (server, platform):
        file = put(server)
        server.revoke()
        with pytest.raises(PlatformGone):
            await platform.download(file, LIMIT)


async def test_a_mention_that_comes_without_its_files_gets_them() -> None:
    """The same message is told as a mention and as a message; whichever comes first counts."""
    async with office() as at:
        file = at.server.file("plan.md", DATA, mimetype="text/markdown")
        ts = at.server.posted(at.ops, at.ann, f"{MENTION} add this", files=[file])
        told = {"type": "app_mention", "user": at.ann.id, "channel": at.ops.id, "ts": ts}
        await at.server.tell(at.ops, {**told, "event_ts": ts, "text": f"{MENTION} add this"})
        await at.answered(at.ops)
        assert [(each.name, each.message_id) for each in at.seen[0].files] == [("plan.md", ts)]


async def test_a_thread_tells_of_the_files_that_came_last() -> None:
    async with office() as at:
        files = [at.server.file(f"{n}.md", DATA, mimetype="text/markdown") for n in range(3)]
        root = await at.server.says(at.ops, at.boris, "old", files=files[:1])
        await at.server.says(at.ops, at.boris, "new", files=files[1:], thread=root)
        await at.server.says(at.ops, at.boris, "look at these", thread=root)
        await at.server.says(at.ops, at.ann, f"{MENTION} add these", thread=root)
        await at.answered(at.ops)
        assert [file.name for file in at.seen[0].nearby] == ["1.md", "2.md"]
        assert at.server.called("download") == []
