"""The real process against the loopback Slack: events told four times, to processes that die."""

from __future__ import annotations

import asyncio
import os
import random
import socket
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

import aiohttp
import pytest

from adapters.slack.webhook import PATH
from adapters.sqlite.roll import SqliteRoll
from bot.access import Grant
from bot.chat import Incoming, Kind, Person, Place
from bot.delivery import interrupted
from bot.roll import ROLL_FILE
from tests.servers.slack_server import MENTION, Channel, SlackServer, User

ROOT = Path(__file__).parents[2]
BELAY = Path(sys.executable).with_name("belay")
DOCUMENT = "# Billing\n\nBilling listens on port 8081. It is owned by the payments team.\n"
QUESTION = "which port does billing listen on?"
TOLD = 4  # times: Slack repeats an event three times
QUESTIONS, KILLS = 60, 4
NOTE = interrupted(
    Incoming(Kind.QUESTION, Place("slack", "D1"), Person("slack", "U1"), "1.0", text=QUESTION)
)


def settings(home: Path, server: SlackServer, port: int = 0) -> dict[str, str]:
    """By Socket Mode, or by signed requests to `port`."""
    way_in = {"BELAY_SLACK_APP_TOKEN": server.app_token}
    if port:
        way_in = {"BELAY_SLACK_SIGNING_SECRET": server.secret}
    return {
        "BELAY_HOME": str(home),
        "BELAY_WEB": "off",
        "BELAY_SLACK_BOT_TOKEN": server.token,
        "BELAY_SLACK_API_URL": server.url,
        "BELAY_HTTP": f"127.0.0.1:{port}",
        "BELAY_DESK__LEASE": "2",
        "BELAY_DESK__POLL": "0.1",
        "BELAY_DESK__GRACE": "10",
        "BELAY_RATES__PERSON_BURST": "1000",
        "BELAY_RATES__PLACE_BURST": "1000",
        "PYTHONPATH": str(ROOT),
        **way_in,
    }


def belay(*words: str, cwd: Path, variables: Mapping[str, str]) -> subprocess.Popen[bytes]:
    with (cwd / "log").open("ab") as log:
        return subprocess.Popen(
            [str(BELAY), *words],
            cwd=cwd,
            env={**os.environ, **variables},
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
        )


@contextmanager
def running(cwd: Path, variables: Mapping[str, str]) -> Iterator[subprocess.Popen[bytes]]:
    """`belay run`, killed with -9 at the end of the block unless it has ended before."""
    process = belay("run", cwd=cwd, variables=variables)
    try:
        yield process
    finally:
        process.kill()
        process.wait()


async def a_home(folder: Path, keys: Sequence[str], variables: Mapping[str, str]) -> None:
    """One document is indexed, and these people and places are let in."""
    (folder / "docs").mkdir()
    (folder / "docs" / "billing.md").write_text(DOCUMENT, encoding="utf-8")
    synced = belay("sync", "docs", cwd=folder, variables=variables)
    assert await asyncio.to_thread(synced.wait) == 0
    roll = SqliteRoll(Path(variables["BELAY_HOME"]) / ROLL_FILE)
    for key in keys:
        await roll.save(Grant(key, at=datetime.now(UTC)))


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def answers(server: SlackServer, channel: Channel, thread: str) -> tuple[list[str], int]:
    """The answers in a thread, and how many notes that sending was interrupted."""
    shown = [sent.shown for sent in server.sent(channel) if sent.thread == thread]
    return [text for text in shown if NOTE not in text], sum(NOTE in text for text in shown)


async def listening(server: SlackServer, address: str) -> None:
    """Returns when the process at the address takes Slack's requests."""
    server.notices.url = address
    async with asyncio.timeout(60):
        while True:
            try:
                if (await server.notices.verify()).status == 200:
                    return
            except aiohttp.ClientError:
                pass
            await asyncio.sleep(0.1)


async def test_a_direct_message_a_mention_and_a_command_through_a_socket(tmp_path: Path) -> None:
    async with SlackServer() as server:
        ann, ops = server.user("U0ANN", "Ann"), server.channel("C0OPS", "ops")
        guest, direct = server.user("U0GUEST", "Gus", is_restricted=True), server.direct(ann)
        variables = settings(tmp_path / "home", server)
        await a_home(tmp_path, ["slack:U0ANN", "slack:C0OPS:chat"], variables)
        with running(tmp_path, variables) as process:
            await server.notices.connected()
            asked = await server.says(direct, ann, QUESTION, times=TOLD)
            await server.until(lambda: answers(server, direct, asked)[0], 60)
            alert = {"attachments": [{"title": "[FIRING:1] BillingPortClosed", "text": "billing"}]}
            thread = server.posted_by_app(ops, "", **alert)
            await server.says(ops, ann, f"{MENTION} {QUESTION}", thread=thread, times=TOLD)
            await server.until(lambda: answers(server, ops, thread)[0], 60)
            await server.says(ops, ann, "and who owns billing?", thread=thread, times=TOLD)
            await server.until(lambda: len(answers(server, ops, thread)[0]) == 2, 60)
            await server.commands(ops, ann, f"ask {QUESTION}")
            await server.until(lambda: server.whispered(ops), 60)
            await server.says(ops, guest, f"{MENTION} {QUESTION}")
            await server.until(lambda: len(server.whispered(ops)) == 2, 60)
            process.terminate()
            assert await asyncio.to_thread(process.wait) == 0
        assert [len(answers(server, c, t)[0]) for c, t in ((direct, asked), (ops, thread))] == [
            1,
            2,
        ]
        assert all("8081" in text for text in answers(server, direct, asked)[0])
        private, refused = server.whispered(ops)
        assert (private.to, "8081" in private.shown) == ("U0ANN", True)
        assert (refused.to, "8081" in refused.shown) == ("U0GUEST", False)


async def test_sl_01_sl_02_two_processes_that_are_killed_answer_each_question_once(
    tmp_path: Path,
) -> None:
    """Each event comes four times, in turn to one process and the other."""
    rng = random.Random(5)
    async with SlackServer() as server:
        ann, ops = server.user("U0ANN", "Ann"), server.channel("C0OPS", "ops")
        ports = [free_port(), free_port()]
        ways = [settings(tmp_path / "home", server, port) for port in ports]
        doors = [f"http://127.0.0.1:{port}{PATH}" for port in ports]
        await a_home(tmp_path, ["slack:U0ANN", "slack:C0OPS:chat"], ways[0])
        asked: list[str] = []
        with running(tmp_path, ways[1]):
            await listening(server, doors[1])
            for _ in range(KILLS):
                with running(tmp_path, ways[0]):
                    await listening(server, doors[0])
                    moment = len(server.sent(ops)) + rng.randint(1, QUESTIONS // KILLS // 2)
                    for _ in range(QUESTIONS // KILLS):
                        asked.append(await told(server, ann, ops, doors))
                    await server.until(lambda moment=moment: len(server.sent(ops)) >= moment, 60)
        with running(tmp_path, ways[0]):
            await server.until(
                lambda: all(any(answers(server, ops, thread)) for thread in asked), 90
            )
        shown = [answers(server, ops, thread) for thread in asked]
    assert max(len(texts) for texts, _ in shown) == 1, "answered twice"
    assert all(notes <= 1 for _, notes in shown)
    assert all("8081" in text for texts, _ in shown for text in texts)


async def told(server: SlackServer, user: User, channel: Channel, doors: Sequence[str]) -> str:
    """A mention, as app_mention and as message, each four times."""
    ts = server.posted(channel, user, f"{MENTION} {QUESTION}")
    message = {**server.at.messages[channel.id][ts], "channel": channel.id, "event_ts": ts}
    kinds = [{"type": "app_mention"}, {"type": "message", "channel_type": "channel"}]
    bodies = [server.notices.envelope({**message, **kind}) for kind in kinds]
    for retry in range(TOLD):
        server.notices.url = doors[retry % len(doors)]
        for body in bodies:
            assert (await server.notices.send(body, retry=retry)).status == 200
    return ts


@pytest.mark.parametrize("how", ["wrong token", "uninstalled"])
async def test_op_05_sl_23_without_access_the_process_ends_and_says_what_to_do(
    tmp_path: Path, how: str
) -> None:
    async with SlackServer() as server:
        variables = settings(tmp_path / "home", server)
        await a_home(tmp_path, [], variables)
        if how == "wrong token":
            server.revoke("invalid_auth")
        with running(tmp_path, variables) as process:
            if how == "uninstalled":
                await server.notices.connected()
                await server.tell(None, {"type": "app_uninstalled"})
            assert await asyncio.to_thread(process.wait) == 2
    log = (tmp_path / "log").read_text(encoding="utf-8")
    assert log.count("BELAY_SLACK_BOT_TOKEN") == 1
    assert server.token not in log
    assert "Traceback" not in log
