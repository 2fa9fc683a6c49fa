"""Slack: `belay run` as a process of its own, on a Slack and a model on loopback.

Everything begins with the moment that Slack tells of a message. The model replies at once, so that
what is measured is Belay's own; only one answer is written slowly, to count the calls it costs.
"""

from __future__ import annotations

import asyncio
import json
import os
import re
import socket
import time
from collections import Counter
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from http import HTTPStatus
from itertools import cycle, islice
from pathlib import Path

import aiohttp
from aiohttp import web

from adapters.slack.webhook import PATH
from benchmarks.starting import started
from benchmarks.table import Figure, span
from bot.access import Grant, place_key
from bot.chat import Place
from bot.roll import open_roll
from bot.settings import Settings
from bot.stores import stores
from tests.servers.openai_server import OpenAIServer, Request, Say, Step, delta_chunk
from tests.servers.slack_server import MENTION, Call, Channel, SlackServer, User

CROWD, ROUNDS = 50, 6  # people who ask at the same moment, and how often
SLOW = 30.0  # seconds of the answer that is written slowly
PATIENCE = 600.0  # seconds
_BURST = 10_000  # questions, before anybody is told to ask more slowly
_LOOK = 0.05  # seconds between two looks at another process
_WORD = 0.05  # seconds, of the slow answer
_PASSAGE = re.compile(r"<<<PASSAGE 1 .*?^text:\n(.*?)\n<<<END", re.DOTALL | re.MULTILINE)
_SENTENCE_END = re.compile(r"(?<=[.!?])\s+")
_WARM = 3  # questions that are not counted
_WRITES = {"chat.postMessage", "chat.update", "chat.startStream", "chat.stopStream"}
_SIGNS = _WRITES | {"assistant.threads.setStatus"}


@dataclass(slots=True)
class Writer(Step):
    """A model that replies at once, or repeats the first passage that it is given word by word,
    because other words would be held back."""

    seconds: float = 0.0  # that an answer takes

    async def answer(self, request: Request, http: web.Request) -> web.StreamResponse:
        if not (self.seconds and request.stream):
            return await Say("Yes [1].").answer(request, http)
        response = web.StreamResponse(headers={"content-type": "text/event-stream"})
        await response.prepare(http)
        words = cycle(" [1]\n\n".join([*_sentences(request.user), ""]).split(" "))
        for word in islice(words, round(self.seconds / _WORD)):
            await self._put(response, delta_chunk({"content": f"{word} "}))
            await asyncio.sleep(_WORD)
        await self._put(response, delta_chunk({}, finish="stop"))
        await response.write(b"data: [DONE]\n\n")
        return response

    async def _put(self, response: web.StreamResponse, chunk: object) -> None:
        await response.write(f"data: {json.dumps(chunk)}\n\n".encode())


def _sentences(prompt: str) -> list[str]:
    """Those of the first passage, without headings, lists and tables."""
    passage = _PASSAGE.search(prompt)
    paragraphs = passage[1].split("\n\n") if passage else []
    prose = " ".join(each for each in paragraphs if each[:1].isalpha())
    return _SENTENCE_END.split(" ".join(prose.split()))


@dataclass(frozen=True, slots=True)
class Told:
    """When a message was told of, and when that was acknowledged."""

    at: float
    acknowledged: float


@dataclass(frozen=True, slots=True)
class Workspace:
    """A bot that runs, and whoever may ask it."""

    server: SlackServer
    writer: Writer
    home: Path
    ops: Channel
    people: Sequence[tuple[User, Channel]]  # with their direct messages
    session: aiohttp.ClientSession

    async def tells(self, data: bytes) -> Told:
        at = time.monotonic()
        headers = {"Content-Type": "application/json", **self.server.notices.signed(data)}
        async with self.session.post(self.server.notices.url, data=data, headers=headers) as reply:
            assert reply.status == HTTPStatus.OK
        return Told(at, time.monotonic())

    def event(self, channel: Channel, user: User, text: str) -> bytes:
        """A message that is said now, as Slack tells of it."""
        ts = self.server.posted(channel, user, text, team=user.team)
        message = self.server.at.messages[channel.id][ts]
        where = {"channel": channel.id, "channel_type": channel.kind, "event_ts": ts}
        return json.dumps(self.server.notices.envelope({**message, **where})).encode()

    async def idle(self) -> None:
        """Returns when no event is worked on."""
        async with stores(Settings(home=self.home), ["slack"]) as kept:
            while True:
                if not await kept.inbox.waiting():
                    return
                await asyncio.sleep(_LOOK)


async def costs(folder: Path, docs: Path, questions: Sequence[str]) -> list[Figure]:
    async with asyncio.timeout(PATIENCE), _running(folder, docs) as at:
        figures = await _one_at_a_time(at, questions)
        figures += await _crowd(at, questions)
        figures.append(await _slow(at, questions[0]))
    return figures


async def _one_at_a_time(at: Workspace, questions: Sequence[str]) -> list[Figure]:
    signs: list[float] = []
    answers: list[float] = []
    calls: list[Call] = []
    for number, text in enumerate((*questions[:_WARM], *questions)):
        user, _ = at.people[number % CROWD]
        before = len(at.server.calls)
        told = await at.tells(at.event(at.ops, user, f"{MENTION} {text}"))
        await at.idle()
        if number >= _WARM:
            made = at.server.calls[before:]
            signs.append(_since(told, next(call for call in made if call.method in _SIGNS)))
            answers.append(_since(told, [call for call in made if call.method in _WRITES][-1]))
            calls += made
    how = f"{len(questions)} mentions, one at a time, instant model"
    return [
        Figure("Slack: mention to first sign, p50 / p99", span(signs), how),
        Figure("Slack: mention to answer, p50 / p99", span(answers), how),
        Figure("Slack: calls an answer", f"{len(calls) / len(answers):.1f}", _counted(calls)),
    ]


async def _crowd(at: Workspace, questions: Sequence[str]) -> list[Figure]:
    acknowledged: list[float] = []
    answers: list[float] = []
    texts = cycle(questions)
    for _ in range(ROUNDS):
        before = len(at.server.calls)
        events = [(room, at.event(room, user, next(texts))) for user, room in at.people]
        told = await asyncio.gather(*(at.tells(data) for _, data in events))
        await at.idle()
        last = {c.channel: c for c in at.server.calls[before:] if c.method in _WRITES}
        acknowledged += [(each.acknowledged - each.at) * 1000 for each in told]
        answers += [
            _since(each, last[room.id])
            for each, (room, _) in zip(told, events, strict=True)
            if room.id in last
        ]
    how = f"{ROUNDS} times {CROWD} direct messages"
    return [
        Figure(f"Slack: acknowledged, {CROWD} at once, p50 / p99", span(acknowledged), how),
        Figure(
            f"Slack: question to answer, {CROWD} at once, p50 / p99",
            span(answers),
            f"{len(answers)} of {ROUNDS * CROWD} answered",
        ),
    ]


async def _slow(at: Workspace, question: str) -> Figure:
    at.writer.seconds = SLOW
    before = len(at.server.calls)
    user, _ = at.people[0]
    told = await at.tells(at.event(at.ops, user, f"{MENTION} {question}"))
    await at.idle()
    made = at.server.calls[before:]
    minutes = (made[-1].at - told.at) / 60
    what = f"Slack: calls a minute, while an answer grows for {SLOW:.0f} s"
    return Figure(what, f"{len(made) / minutes:.0f}", _counted(made))


def _since(told: Told, call: Call) -> float:
    return (call.at - told.at) * 1000


def _counted(calls: Sequence[Call]) -> str:
    return ", ".join(f"{name} {n}" for name, n in Counter(c.method for c in calls).most_common())


@asynccontextmanager
async def _running(folder: Path, docs: Path) -> AsyncIterator[Workspace]:
    async with AsyncExitStack() as stack:
        server = await stack.enter_async_context(SlackServer())
        writer = Writer()
        model = await stack.enter_async_context(OpenAIServer(default=writer))
        connector = aiohttp.TCPConnector(limit=CROWD)
        session = await stack.enter_async_context(aiohttp.ClientSession(connector=connector))
        ops = server.channel("C0OPS", "ops")
        users = [server.user(f"U{number:04d}", f"Person {number}") for number in range(CROWD)]
        people = [(user, server.direct(user)) for user in users]
        home = folder / "home"
        await _let_in(home, users, ops)
        port = _free_port()
        variables = os.environ | _settings(home, server, model, port)
        assert await (await started("sync", str(docs), variables=variables)).wait() == 0
        process = await started("run", variables=variables)
        stack.push_async_callback(process.wait)
        stack.callback(process.terminate)
        server.notices.url = f"http://127.0.0.1:{port}{PATH}"
        await _listening(server)
        yield Workspace(server, writer, home, ops, people, session)


async def _listening(server: SlackServer) -> None:
    while True:
        try:
            if (await server.notices.verify()).status == HTTPStatus.OK:
                return
        except aiohttp.ClientError:
            pass
        await asyncio.sleep(_LOOK)


async def _let_in(home: Path, users: Sequence[User], channel: Channel) -> None:
    roll = open_roll(home)
    for user in users:
        await roll.save(Grant(f"slack:{user.id}"))
    await roll.save(Grant(place_key(Place("slack", channel.id, "channel"))))


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        return int(listening.getsockname()[1])


def _settings(home: Path, server: SlackServer, model: OpenAIServer, port: int) -> dict[str, str]:
    """By signed requests; nobody is told to ask more slowly."""
    return {
        "BELAY_HOME": str(home),
        "BELAY_WEB": "off",
        "BELAY_MODEL": "instant",
        "BELAY_MODEL_URL": model.url,
        "BELAY_MODEL_KEY": "none",
        "BELAY_SLACK_BOT_TOKEN": server.token,
        "BELAY_SLACK_SIGNING_SECRET": server.secret,
        "BELAY_SLACK_API_URL": server.url,
        "BELAY_HTTP": f"127.0.0.1:{port}",
        "BELAY_RATES__PERSON_BURST": str(_BURST),
        "BELAY_RATES__PLACE_BURST": str(_BURST),
    }
