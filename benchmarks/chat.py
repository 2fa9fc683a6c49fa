"""A whole chat: `belay run` as a process of its own, on a Telegram and a model on loopback.

The model replies at once, so that what is measured is Belay's own: from the moment a message can be
fetched until its sender sees something, and until the answer stands there.
"""

from __future__ import annotations

import asyncio
import os
import subprocess
import time
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from itertools import cycle
from pathlib import Path

from benchmarks.starting import started
from benchmarks.table import Figure, span
from bot.access import Grant, place_key
from bot.chat import Place
from bot.roll import open_roll
from bot.settings import Settings
from bot.stores import stores
from tests.servers.openai_server import OpenAIServer, Say
from tests.servers.telegram_server import Group, Sent, TelegramServer, User

CROWD = 50  # chats that ask at the same moment
FEW, MANY = 1_000, 10_000  # updates
QUESTIONS_IN, COMMANDS_IN = 10, 10  # one update in so many; the others are people's talk in groups
PATIENCE = 900.0  # seconds
_LOOK = 0.05  # seconds between two looks at another process
_TALK = "the deploy looks fine to me, let us wait for the graphs"


@dataclass(frozen=True, slots=True)
class Bot:
    """A bot that runs, and whoever may ask it."""

    server: TelegramServer
    people: Sequence[User]
    groups: Sequence[Group]
    home: Path
    pid: int

    def asks(self, person: User, text: str) -> float:
        """The moment from which the bot can fetch the question."""
        self.server.says(person, person, text)
        return time.monotonic()

    def answers(self, person: User) -> list[Sent]:
        return self.server.sent(person)

    def megabytes(self) -> float:
        """What the process holds in memory now."""
        size = subprocess.check_output(["ps", "-o", "rss=", "-p", str(self.pid)])  # noqa: S607
        return int(size) / 1024

    async def idle(self) -> None:
        """Returns when every update was fetched, and none is worked on."""
        async with stores(Settings(home=self.home), ["telegram"]) as kept:
            while True:
                if not self.server.updates.waiting and not await kept.inbox.waiting():
                    return
                await asyncio.sleep(_LOOK)


async def costs(folder: Path, docs: Path, questions: Sequence[str]) -> list[Figure]:
    async with asyncio.timeout(PATIENCE), _running(folder, docs) as bot:
        figures = await _one_at_a_time(bot, questions)
        figures.append(await _crowd(bot, questions))
        figures.append(await _memory(bot, questions))
    return figures


async def _one_at_a_time(bot: Bot, questions: Sequence[str]) -> list[Figure]:
    signs: list[float] = []
    answers: list[float] = []
    for person, text in zip(cycle(bot.people), (*questions[:3], *questions), strict=False):
        before, calls = len(bot.answers(person)), len(bot.server.calls)
        asked = bot.asks(person, text)
        await bot.server.until(_more(bot, person, before), PATIENCE)
        await bot.idle()
        mine = [call.at for call in bot.server.calls[calls:] if call.chat == person.id]
        signs.append((mine[0] - asked) * 1000)
        answers.append((mine[-1] - asked) * 1000)
    how = f"{len(questions)} questions, one at a time, instant model"
    return [
        Figure("Telegram: question to first sign, p50 / p99", span(signs[3:]), how),
        Figure("Telegram: question to answer, p50 / p99", span(answers[3:]), how),
    ]


async def _crowd(bot: Bot, questions: Sequence[str]) -> Figure:
    crowd = bot.people[:CROWD]
    before = {person.id: len(bot.answers(person)) for person in crowd}
    calls = len(bot.server.calls)
    texts = cycle(questions)
    asked = {person.id: bot.asks(person, next(texts)) for person in crowd}
    await bot.idle()
    last = {call.chat: call.at for call in bot.server.calls[calls:]}
    times = [
        (last[person.id] - asked[person.id]) * 1000
        for person in crowd
        if len(bot.answers(person)) > before[person.id]
    ]
    what = f"Telegram: question to answer, {CROWD} chats at once, p50 / p99"
    return Figure(what, span(times), f"{len(times)} of {CROWD} answered")


async def _memory(bot: Bot, questions: Sequence[str]) -> Figure:
    texts, people, groups = cycle(questions), cycle(bot.people), cycle(bot.groups)
    sizes: list[float] = []
    for number in range(1, MANY + 1):
        person, group = next(people), next(groups)
        if number % QUESTIONS_IN == 0:
            bot.server.says(person, person, next(texts))
        elif number % COMMANDS_IN == 1:
            bot.server.says(person, person, "/help")
        else:
            bot.server.says(group, person, _TALK)
        if number in (FEW, MANY):
            await bot.idle()
            sizes.append(bot.megabytes())
    few, many = sizes
    return Figure(
        f"Telegram: memory after {FEW:,} / {MANY:,} updates",
        f"{few:.0f} / {many:.0f} MB",
        f"1 in {QUESTIONS_IN} a question, 1 in {COMMANDS_IN} a command, the others talk",
    )


def _more(bot: Bot, person: User, before: int) -> Callable[[], bool]:
    return lambda: len(bot.answers(person)) > before


@asynccontextmanager
async def _running(folder: Path, docs: Path) -> AsyncIterator[Bot]:
    async with AsyncExitStack() as stack:
        server = await stack.enter_async_context(TelegramServer())
        model = await stack.enter_async_context(OpenAIServer(default=Say("Yes [1].")))
        people = [server.user(1000 + number, f"Person {number}") for number in range(CROWD)]
        groups = [server.group(-1000 - number, f"Group {number}") for number in range(20)]
        home = folder / "home"
        await _let_in(home, people, groups)
        variables = os.environ | _settings(home, server, model)
        assert await (await started("sync", str(docs), variables=variables)).wait() == 0
        process = await started("run", variables=variables)
        stack.push_async_callback(process.wait)
        stack.callback(process.terminate)
        await server.until(lambda: server.called("deleteWebhook"), PATIENCE)
        yield Bot(server, people, groups, home, process.pid)


async def _let_in(home: Path, people: Sequence[User], groups: Sequence[Group]) -> None:
    roll = open_roll(home)
    for person in people:
        await roll.save(Grant(f"telegram:{person.id}"))
    for group in groups:
        await roll.save(Grant(place_key(Place("telegram", str(group.id)))))


def _settings(home: Path, server: TelegramServer, model: OpenAIServer) -> dict[str, str]:
    """Nobody is told to ask more slowly."""
    return {
        "BELAY_HOME": str(home),
        "BELAY_WEB": "off",
        "BELAY_MODEL": "instant",
        "BELAY_MODEL_URL": model.url,
        "BELAY_MODEL_KEY": "none",
        "BELAY_TELEGRAM_TOKEN": server.token,
        "BELAY_TELEGRAM_API_URL": server.url,
        "BELAY_HTTP": "127.0.0.1:0",
        "BELAY_RATES__PERSON_BURST": str(MANY),
        "BELAY_RATES__PLACE_BURST": str(MANY),
    }
