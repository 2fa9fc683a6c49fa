"""Several processes of one bot: `belay run` once and twice on one Redis, and once on files.

A Redis, a Telegram and a model run on loopback; the model replies at once. All share the cores of
this machine with the bots, so that two bots are less than twice as fast where there are few.
"""

from __future__ import annotations

import asyncio
import os
import shutil
import signal
import time
from asyncio.subprocess import Process
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from itertools import cycle
from pathlib import Path
from typing import Any

import aiohttp

from benchmarks import redis_steps
from benchmarks.starting import started
from benchmarks.table import Figure, median, ratio, span
from bot.access import Grant
from bot.settings import Settings
from bot.stores import chosen_stores
from tests.servers.openai_server import OpenAIServer, Say
from tests.servers.redis_server import RedisServer, available, free_port
from tests.servers.telegram_server import TelegramServer, User

CROWD, EACH = 40, 5  # people who ask at the same time, and how often, one question after the other
ROUNDS = 1  # of one process, two, two, one
PATIENCE = 900.0  # seconds
_SHARED = "a-secret-of-sixteen-letters"
_HEADERS = {"X-Telegram-Bot-Api-Secret-Token": _SHARED}
_MANY = 100_000  # questions, before anybody is told to ask more slowly
_LOOK = 0.05  # seconds between two looks at another process


@dataclass(frozen=True, slots=True)
class Replica:
    """A bot in a process of its own. It stands still, and costs nothing, until it is waked."""

    process: Process
    port: int

    def sleep(self) -> None:
        self.process.send_signal(signal.SIGSTOP)

    def wake(self) -> None:
        self.process.send_signal(signal.SIGCONT)

    def processor(self) -> float:
        """Seconds of processor time so far."""
        fields = Path(f"/proc/{self.process.pid}/stat").read_text(encoding="ascii").split()
        return (int(fields[13]) + int(fields[14])) / os.sysconf("SC_CLK_TCK")


@dataclass(slots=True)
class Fleet:
    """The bots, and whoever asks them."""

    server: TelegramServer
    people: Sequence[User]
    session: aiohttp.ClientSession
    texts: Iterator[str]
    on_file: Replica
    on_redis: Sequence[Replica]
    speeds: dict[int, list[float]] = field(default_factory=dict)  # questions a second, by replicas
    used: dict[int, list[float]] = field(default_factory=dict)  # ms of a processor a question

    async def asked(self, person: User, replica: Replica) -> float:
        """Milliseconds from a question, as a messenger delivers it, until its answer stands."""
        before = len(self.server.sent(person))
        update = self._update(person)
        begun = time.monotonic()
        url = f"http://127.0.0.1:{replica.port}/telegram/webhook"
        async with self.session.post(url, json=update, headers=_HEADERS) as answered:
            answered.raise_for_status()
        await self.server.until(lambda: len(self.server.sent(person)) > before, PATIENCE)
        return (time.monotonic() - begun) * 1000

    def _update(self, person: User) -> dict[str, Any]:
        self.server.says(person, person, next(self.texts))
        return self.server.updates.waiting.pop()


async def costs(folder: Path, docs: Path, questions: Sequence[str]) -> list[Figure]:
    """No figures where there is no redis-server."""
    if not available():
        return []
    async with asyncio.timeout(PATIENCE), _running(folder, docs, questions) as fleet:
        figures = await _latency(fleet, len(questions))
        for count in (1, 2, 2, 1) * ROUNDS:
            await _throughput(fleet, count)
    figures += _speeds(fleet)
    with RedisServer(folder / "steps", "--appendonly", "yes") as redis:
        near, far = Settings(home=folder / "near"), Settings(home=folder, redis_url=redis.url)
        async with (
            chosen_stores(near, ["telegram"]) as files,
            chosen_stores(far, ["telegram"]) as shared,
        ):
            return figures + await redis_steps.costs(files, shared)


async def _latency(fleet: Fleet, count: int) -> list[Figure]:
    """One question at a time, on files and on Redis in turns. Who is not asked stands still."""
    file, redis = fleet.on_file, fleet.on_redis[0]
    times: dict[str, list[float]] = {"SQLite": [], "Redis": []}
    for person in (fleet.people * count)[: count + 3]:
        for name, replica in (("SQLite", file), ("Redis", redis)):
            replica.wake()
            times[name].append(await fleet.asked(person, replica))
            replica.sleep()
    counted = {name: values[3:] for name, values in times.items()}
    how = f"{count} questions, one at a time, in turns; {_machine()}"
    above, below = median(counted["Redis"]), median(counted["SQLite"])
    return [
        *(Figure(f"question to answer on {name}, p50 / p99", span(values), how)
          for name, values in counted.items()),
        ratio("question to answer, Redis ÷ SQLite", above, below, "ms"),
        Figure("added by Redis to a question", f"{above - below:.1f} ms", "of the medians"),
    ]  # fmt: skip


async def _throughput(fleet: Fleet, count: int) -> None:
    """Everybody asks, reads the answer and asks the next question, each of any replica."""
    awake = fleet.on_redis[:count]
    for replica in awake:
        replica.wake()
    busy, begun = sum(replica.processor() for replica in awake), time.monotonic()

    async def asks(person: User, replicas: Iterator[Replica]) -> None:
        for _ in range(EACH):
            await fleet.asked(person, next(replicas))

    async with asyncio.TaskGroup() as group:
        for number, person in enumerate(fleet.people):
            group.create_task(asks(person, cycle([*awake[number % count :], *awake])))
    seconds = time.monotonic() - begun
    busy = sum(replica.processor() for replica in awake) - busy
    fleet.used.setdefault(count, []).append(busy * 1000 / (CROWD * EACH))
    for replica in awake:
        replica.sleep()
    fleet.speeds.setdefault(count, []).append(CROWD * EACH / seconds)


def _speeds(fleet: Fleet) -> list[Figure]:
    one, two = median(fleet.speeds[1]), median(fleet.speeds[2])
    how = f"{CROWD} chats, {EACH} questions each, median of {2 * ROUNDS}; {_machine()}"
    return [
        Figure("questions a second, one process on Redis", f"{one:.1f}", how),
        Figure("questions a second, two processes on one Redis", f"{two:.1f}", how),
        ratio("questions a second, two processes ÷ one", two, one, "a second"),
        Figure("processor time of a question, one process / two",
               f"{median(fleet.used[1]):.0f} / {median(fleet.used[2]):.0f} ms",
               "of Belay alone; the loopback servers take their own"),
    ]  # fmt: skip


def _machine() -> str:
    return f"{os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}"


@asynccontextmanager
async def _running(folder: Path, docs: Path, questions: Sequence[str]) -> AsyncIterator[Fleet]:
    async with AsyncExitStack() as stack:
        redis = stack.enter_context(RedisServer(folder / "redis", "--appendonly", "yes"))
        server = await stack.enter_async_context(TelegramServer())
        model = await stack.enter_async_context(OpenAIServer(default=Say("Yes [1].")))
        session = await stack.enter_async_context(aiohttp.ClientSession())
        people = [server.user(1000 + number, f"Person {number}") for number in range(CROWD)]
        home = folder / "home"
        variables = os.environ | _settings(server, model)
        syncing = await started("sync", str(docs), variables=variables | {"BELAY_HOME": str(home)})
        assert await syncing.wait() == 0
        replicas = []
        for name, url in (("file", ""), ("one", redis.url), ("two", redis.url)):
            mine = Settings(home=folder / name, redis_url=url)
            shutil.copytree(home, mine.home)
            async with chosen_stores(mine, ["telegram"]) as kept:
                for person in people:
                    await kept.roll.save(Grant(f"telegram:{person.id}"))
            replicas.append(await _replica(stack, session, variables | _own(mine)))
        for replica in replicas:
            replica.sleep()
        first, *others = replicas
        yield Fleet(server, people, session, cycle(questions), first, others)


async def _replica(
    stack: AsyncExitStack, session: aiohttp.ClientSession, variables: dict[str, str]
) -> Replica:
    """One that takes questions; it is ended with the stack."""
    process = await started("run", variables=variables)
    replica = Replica(process, int(variables["BELAY_HTTP"].rpartition(":")[2]))
    stack.push_async_callback(process.wait)
    stack.callback(process.kill)
    while not await _ready(session, replica.port):
        assert process.returncode is None, "belay run has ended"
        await asyncio.sleep(_LOOK)
    return replica


async def _ready(session: aiohttp.ClientSession, port: int) -> bool:
    try:
        async with session.get(f"http://127.0.0.1:{port}/readyz") as answered:
            return answered.ok
    except aiohttp.ClientError:
        return False


def _settings(server: TelegramServer, model: OpenAIServer) -> dict[str, str]:
    """Nobody is told to ask more slowly, and no answer is given twice."""
    return {
        "BELAY_WEB": "off",
        "BELAY_MODEL": "instant",
        "BELAY_MODEL_URL": model.url,
        "BELAY_MODEL_KEY": "none",
        "BELAY_TELEGRAM_TOKEN": server.token,
        "BELAY_TELEGRAM_API_URL": server.url,
        "BELAY_TELEGRAM_WEBHOOK_URL": "http://127.0.0.1:9",
        "BELAY_TELEGRAM_WEBHOOK_SECRET": _SHARED,
        "BELAY_REDIS__ANSWERS_SECONDS": "0",
        "BELAY_RATES__PERSON_BURST": str(_MANY),
        "BELAY_RATES__PLACE_BURST": str(_MANY),
    }


def _own(settings: Settings) -> dict[str, str]:
    return {
        "BELAY_HOME": str(settings.home),
        "BELAY_REDIS_URL": settings.redis_url,
        "BELAY_HTTP": f"127.0.0.1:{free_port()}",
    }
