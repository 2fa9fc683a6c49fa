"""A workspace of emulate, a Slack emulator, with `belay run` in it and people who talk to it."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from html import unescape
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import urlencode

import aiohttp
import pytest
from slack_sdk.signature import SignatureVerifier
from slack_sdk.web.async_client import AsyncWebClient
from slack_sdk.web.client import WebClient

from tests.peers.programs import PATIENCE, Program, belay_run, free_port

_T = TypeVar("_T")

EMULATOR = Path(__file__).parent / "slack"
EVENTS = "/slack/events"
SECRET = "0123456789abcdef0123456789abcdef"
BOT, BOT_TOKEN = "U0BELAY", "xoxb-1-1-loopbackTokenOfTheTestBot"
APP = {"app_id": "A0BELAY", "bot_id": "B0BELAY", "bot_user_id": BOT}
SEED = {
    "signing_secret": SECRET,
    "users": [{"name": "ann", "real_name": "Ann"}, {"name": "eve", "real_name": "Eve"}],
    "channels": [{"name": "ops"}],
    "oauth_apps": [
        {"client_id": "1.1", "client_secret": "none", "name": "Belay", "redirect_uris": []}
        | {"bot_name": "belay", **APP}
    ],
    "tokens": [
        {"token": "xoxp-ann", "type": "user", "user": "ann"},
        {"token": "xoxp-eve", "type": "user", "user": "eve"},
        {"token": BOT_TOKEN, "type": "bot", "user": "belay", **APP},
    ],
}
RESPONSES = "/services/T000000001/B000000001/X000000001"
"""An address for messages to #general, in place of the response_url that a command brings."""


@dataclass(frozen=True)
class Workspace:
    """The emulator's address, and where the bot hears of events."""

    url: str
    app: str

    @property
    def api(self) -> str:
        return f"{self.url}/api/"

    async def told(self, body: str, secret: str = SECRET) -> int:
        """The status that the bot takes a signed form with."""
        now = str(int(time.time()))
        signature = SignatureVerifier(secret).generate_signature(timestamp=now, body=body)
        headers = {
            "X-Slack-Request-Timestamp": now,
            "X-Slack-Signature": signature or "",
            "Content-Type": "application/x-www-form-urlencoded",
        }
        async with (
            aiohttp.ClientSession() as session,
            session.post(self.app, data=body, headers=headers) as response,
        ):
            return response.status


@contextmanager
def workspace_with_bot(folder: Path, variables: Mapping[str, str]) -> Iterator[Workspace]:
    """The admin is Ann."""
    node = next(EMULATOR.glob("node_modules/node-*/bin/node"), None)
    if node is None:
        pytest.skip("needs npm on Linux (on Debian: apt-get install npm), then `make peers`")
    heard = f"127.0.0.1:{free_port()}"
    app = f"http://{heard}{EVENTS}"
    with Program(node, "front.mjs", app, json.dumps(SEED), folder=EMULATOR, variables={}) as peer:
        workspace = Workspace(f"http://127.0.0.1:{int(peer.line())}", app)
        ann = WebClient("xoxp-ann", workspace.api).auth_test()["user_id"]
        settings = {
            "BELAY_HTTP": heard,
            "BELAY_SLACK_BOT_TOKEN": BOT_TOKEN,
            "BELAY_SLACK_SIGNING_SECRET": SECRET,
            "BELAY_SLACK_API_URL": workspace.api,
            "BELAY_ADMINS": f"slack:{ann}",
        }
        with belay_run(folder, settings | variables):
            yield workspace


class User:
    """A person, by the Web API and by the emulator's page of what it holds."""

    def __init__(self, workspace: Workspace, name: str) -> None:
        self._workspace = workspace
        self._client = AsyncWebClient(f"xoxp-{name}", workspace.api)

    async def channel(self, name: str) -> str:
        listed = (await self._client.conversations_list())["channels"]
        return next(str(channel["id"]) for channel in listed if channel["name"] == name)

    async def direct(self) -> str:
        """Their direct messages with the bot."""
        return str((await self._client.conversations_open(users=BOT))["channel"]["id"])

    async def says(self, channel: str, text: str, *, thread: str | None = None) -> str:
        """Returns the message's ts when the bot has heard of it."""
        posted = await self._client.chat_postMessage(channel=channel, text=text, thread_ts=thread)
        return str(posted["ts"])

    async def attaches(self, channel: str, name: str, content: str, text: str) -> str:
        await self._client.files_upload_v2(
            channel=channel, filename=name, content=content, initial_comment=text
        )
        return str((await self.history(channel))[0]["ts"])

    async def commands(self, channel: str, text: str, response_path: str) -> None:
        """A slash command, which the emulator cannot bring."""
        fields = {
            "command": "/belay",
            "text": text,
            "channel_id": channel,
            "channel_name": "ops",
            "user_id": (await self._client.auth_test())["user_id"],
            "trigger_id": f"{time.time()}.1",
            "response_url": self._workspace.url + response_path,
        }
        assert await self._workspace.told(urlencode(fields)) == 200

    async def history(self, channel: str) -> list[dict[str, Any]]:
        """What was said outside of threads, the newest first."""
        return list((await self._client.conversations_history(channel=channel))["messages"])

    async def replies(self, channel: str, thread: str) -> list[dict[str, Any]]:
        """The bot's, the oldest first."""
        told = await self._client.conversations_replies(channel=channel, ts=thread)
        return [message for message in told["messages"] if message["user"] == BOT]

    async def sees(self, channel: str, thread: str, count: int = 1) -> list[str]:
        """The bot's replies, once there are so many."""

        async def look() -> list[str]:
            return [shown(message) for message in await self.replies(channel, thread)]

        return await until(look, lambda seen: len(seen) >= count)

    async def whispered(self, channel: str, part: str) -> str:
        """The newest message that contains `part` to one person in a channel, and who that is;
        waits until there is one."""

        async def look() -> list[str]:
            return [row for row in await self._whispers(channel) if part in row]

        return (await until(look, bool))[0]

    async def _whispers(self, channel: str) -> list[str]:
        query = {"tab": "messages", "channel": channel}
        async with (
            aiohttp.ClientSession(self._workspace.url) as session,
            session.get("/", params=query) as response,
        ):
            page = await response.text()
        table = page.split("Ephemeral")[1].split("Scheduled")[0]
        return [unescape(row) for row in table.split("<tr>")]


async def until(look: Callable[[], Awaitable[_T]], is_enough: Callable[[_T], bool]) -> _T:
    """What is seen, once it is enough."""
    async with asyncio.timeout(PATIENCE):
        while not is_enough(seen := await look()):
            await asyncio.sleep(0.05)  # the emulator has nothing to wait on
    return seen


def shown(message: Mapping[str, Any]) -> str:
    """The Markdown that a message shows, or its bare text."""
    blocks = message.get("blocks", ())
    texts = [str(block["text"]) for block in blocks if block["type"] == "markdown"]
    return "\n".join(texts) or str(message["text"])
