"""The real process against emulate, a Slack emulator that nobody here wrote.

It tells of messages without their channel_type and never of an app_mention; it has no status line
and no streams. So people see plain messages, read back from it as anybody there would read them.
"""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from aiohttp import web

from tests.peers.emulate_workspace import (
    BOT,
    RESPONSES,
    User,
    Workspace,
    shown,
    until,
    workspace_with_bot,
)
from tests.servers.openai_server import OpenAIServer, Request, Step, delta_chunk

QUESTION = "which port does billing listen on?"
MENTION = f"<@{BOT}> {QUESTION}"

pytestmark = pytest.mark.peer


@pytest.fixture(scope="module")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Workspace]:
    with workspace_with_bot(tmp_path_factory.mktemp("slack"), {}) as workspace:
        yield workspace


@pytest.fixture
def ann(workspace: Workspace) -> User:
    return User(workspace, "ann")


@pytest.fixture
def eve(workspace: Workspace) -> User:
    return User(workspace, "eve")


async def test_a_mention_is_answered_in_its_thread_once_an_admin_let_the_channel_in(
    ann: User, eve: User
) -> None:
    ops = await ann.channel("ops")
    early = await eve.says(ops, MENTION)
    (told,) = await eve.sees(ops, early)
    assert "8081" not in told
    code = re.search(r"/belay (allow \w+)", told)
    assert code is not None
    await ann.commands(ops, code[1], "/expired")
    await ann.whispered(ops, "Let in")
    asked = await eve.says(ops, MENTION)
    (answer,) = await eve.sees(ops, asked)
    assert "8081" in answer
    assert "billing.md" in answer
    await eve.says(ops, "is it billing that listens on port 8081?", thread=asked)
    assert len(await eve.sees(ops, asked, 2)) == 2
    assert len(await eve.sees(ops, early)) == 1


async def test_a_direct_message_whose_kind_is_not_told_is_answered_once(ann: User) -> None:
    direct = await ann.direct()
    first, second = await ann.says(direct, QUESTION), await ann.says(direct, QUESTION)
    for asked in (first, second):
        (answer,) = await ann.sees(direct, asked)
        assert "8081" in answer
    assert len(await ann.sees(direct, first)) == 1


async def test_a_stranger_learns_only_how_to_ask_for_access(eve: User) -> None:
    direct = await eve.direct()
    (told,) = await eve.sees(direct, await eve.says(direct, QUESTION))
    assert "8081" not in told
    assert "allow" in told


async def test_a_command_is_answered_where_it_says(ann: User) -> None:
    ops, general = await ann.channel("ops"), await ann.channel("general")
    await ann.commands(ops, f"ask {QUESTION}", RESPONSES)
    (answer, *_) = await until(lambda: ann.history(general), bool)
    assert "8081" in shown(answer)


async def test_a_command_whose_address_expired_is_answered_to_the_asker_alone(ann: User) -> None:
    ops = await ann.channel("ops")
    await ann.commands(ops, f"ask {QUESTION}", "/expired")
    assert "ann" in await ann.whispered(ops, "8081")
    assert not [message for message in await ann.history(ops) if message["user"] == BOT]


async def test_a_file_that_comes_with_a_question_is_read(ann: User) -> None:
    direct = await ann.direct()
    asked = await ann.attaches(direct, "alert.txt", "Billing does not listen.", "on which port?")
    (answer,) = await ann.sees(direct, asked)
    assert "8081" in answer


async def test_what_does_not_come_from_slack_is_refused(workspace: Workspace) -> None:
    assert await workspace.told("command=%2Fbelay&text=help", "guessed") == 401


@dataclass
class Slow(Step):
    """A reply that goes on until `seen` is set."""

    sentence: str
    seen: asyncio.Event = field(default_factory=asyncio.Event)

    async def answer(self, request: Request, http: web.Request) -> web.StreamResponse:
        response = web.StreamResponse(headers={"content-type": "text/event-stream"})
        await response.prepare(http)
        while not self.seen.is_set():
            await self._write(response, delta_chunk({"content": f"{self.sentence}\n\n"}))
            await asyncio.sleep(0.1)
        await self._write(response, delta_chunk({}, finish="stop"))
        await response.write(b"data: [DONE]\n\n")
        return response

    async def _write(self, response: web.StreamResponse, chunk: object) -> None:
        await response.write(f"data: {json.dumps(chunk)}\n\n".encode())


async def test_a_slow_answer_grows_in_one_message_without_status_and_streams(
    tmp_path: Path,
) -> None:
    slow = Slow("Billing listens on port 8081 [1].")
    async with OpenAIServer(default=slow) as model:
        chosen = {"BELAY_MODEL": "slow", "BELAY_MODEL_URL": model.url, "BELAY_MODEL_KEY": "none"}
        with workspace_with_bot(tmp_path, chosen) as workspace:
            ann = User(workspace, "ann")
            direct = await ann.direct()
            asked = await ann.says(direct, QUESTION)
            (early,) = await until(lambda: ann.replies(direct, asked), bool)
            slow.seen.set()
            (whole,) = await until(
                lambda: ann.replies(direct, asked), lambda seen: "billing.md" in shown(seen[0])
            )
    assert "8081" in shown(early)
    assert "billing.md" not in shown(early)
    assert whole["ts"] == early["ts"]
