"""Two replicas on one Redis, all of them killed at random: every question ends once, in order."""

from __future__ import annotations

import asyncio
import logging
import multiprocessing
import random
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from multiprocessing.process import BaseProcess
from pathlib import Path

import pytest
from contract.inbox_events import event, private
from redis_replica import WAITS, replica

from adapters.redis.inbox import RedisInbox
from adapters.redis.server import Server
from bot.chat import Incoming
from bot.delivery import interrupted
from bot.errors import StorageError
from tests.servers.redis_server import NEEDED, RedisServer, available

QUESTIONS, DELIVERIES, CONVERSATIONS = 500, 4, 25
THINKING = 0.02  # seconds
PATIENCE = 120.0  # seconds
BETWEEN = 0.1  # seconds between two questions, at most
PAUSES = (0.3, 1.5)  # seconds between two strokes, at least and at most
SPAWN = multiprocessing.get_context("spawn")

_log = logging.getLogger(__name__)


class Replicas:
    """Processes that are started again after each -9."""

    def __init__(self, url: str, folder: Path) -> None:
        self._url, self._folder = url, folder
        self._processes: list[BaseProcess] = []

    @contextmanager
    def running(self, count: int) -> Iterator[None]:
        try:
            for _ in range(count):
                self._processes.append(self._started())
            yield
        finally:
            for process in self._processes:
                _kill(process)

    async def replace(self, which: int) -> None:
        _kill(self._processes[which])
        self._processes[which] = await asyncio.to_thread(self._started)

    def _started(self) -> BaseProcess:
        ours, theirs = SPAWN.Pipe()
        process = SPAWN.Process(target=replica, args=(theirs, self._url, self._folder, THINKING))
        process.start()
        theirs.close()
        assert ours.poll(PATIENCE), "a replica did not start"
        assert ours.recv() == "ready"
        ours.close()
        return process


def _kill(process: BaseProcess) -> None:
    process.kill()
    process.join()
    process.close()


async def deliver(url: str, events: Sequence[Incoming], rng: random.Random) -> None:
    """As a messenger does: each event again until it was acknowledged, and then three times more.

    A first delivery keeps the order of its conversation; the others come whenever they like.
    """
    inbox = RedisInbox(Server(url, waits=WAITS))
    again: list[Incoming] = []
    for asked in events:
        await asyncio.sleep(rng.uniform(0, BETWEEN))  # so that all are killed in the middle
        await _acknowledged(inbox, asked)
        again += [asked] * (DELIVERIES - 1)
        while again and rng.random() < (DELIVERIES - 1) / DELIVERIES:
            await _acknowledged(inbox, again.pop(rng.randrange(len(again))))
    for repeated in again:
        await _acknowledged(inbox, repeated)
    await inbox.close()


async def _acknowledged(inbox: RedisInbox, asked: Incoming) -> None:
    while True:
        try:
            await inbox.put(asked)
        except StorageError:
            await asyncio.sleep(0.05)  # nothing tells when the server is back
        else:
            return


async def strike(
    server: RedisServer,
    replicas: Replicas,
    rng: random.Random,
    struck: list[str],
    enough: asyncio.Event,
) -> None:
    """Kills replicas and Redis in turn, at random moments, until it is enough. Whoever was killed
    last is there again by then."""
    while not enough.is_set():
        for stroke in rng.sample(("first", "second", "redis killed", "redis stopped"), 4):
            await asyncio.sleep(rng.uniform(*PAUSES))
            if enough.is_set():
                return
            struck.append(stroke)
            match stroke:
                case "first":
                    await replicas.replace(0)
                case "second":
                    await replicas.replace(1)
                case "redis killed":
                    server.kill()
                    await asyncio.to_thread(server.start)
                case _:
                    await asyncio.to_thread(server.stop)
                    await asyncio.to_thread(server.start)


async def drained(url: str) -> None:
    inbox = RedisInbox(Server(url, waits=WAITS))
    async with asyncio.timeout(PATIENCE):
        while True:
            try:
                if not await inbox.waiting():
                    break
            except StorageError:
                pass
            await asyncio.sleep(0.1)  # nothing tells when the last one is answered
    await inbox.close()


async def test_op_01_rd_05_replicas_and_redis_are_killed_and_every_question_is_answered_once(
    tmp_path: Path,
) -> None:
    """SL-01, SL-02: each event comes four times, to whichever replica."""
    if not available():
        pytest.skip(NEEDED)
    seed = random.randrange(2**32)
    _log.warning("seed %d", seed)  # shown when the test fails
    rng = random.Random(seed)
    asked = [
        event(str(number), place=private(str(number % CONVERSATIONS)))
        for number in range(QUESTIONS)
    ]
    struck: list[str] = []
    with RedisServer(tmp_path / "redis", "--appendonly", "yes") as server:
        replicas = Replicas(server.url, tmp_path)
        with replicas.running(2):
            enough = asyncio.Event()
            async with asyncio.TaskGroup() as group:
                group.create_task(strike(server, replicas, rng, struck, enough))
                await deliver(server.url, asked, rng)
                enough.set()
            server.kill()
            server.start()
            await drained(server.url)
    assert len(set(struck)) == 4, "not everything was killed"
    _check(asked, (tmp_path / "wall").read_text(encoding="utf-8").splitlines())


def _check(asked: Sequence[Incoming], wall: Sequence[str]) -> None:
    lines = [tuple(line.split("\t")) for line in wall]
    answers = [(place, number) for place, number, text in lines if text.startswith("re: ")]
    assert [one for one, times in Counter(answers).items() if times > 1] == [], "answered twice"
    told = {(place, number) for place, number, _ in lines}
    assert told == {(one.place.id, one.message_id) for one in asked}, "lost"
    notes = [text for _, _, text in lines if not text.startswith("re: ")]
    assert set(notes) <= {interrupted(asked[0])}
    order: dict[str, list[int]] = defaultdict(list)
    for place, number in answers:
        order[place].append(int(number))
    assert all(numbers == sorted(numbers) for numbers in order.values()), "out of order"
    unanswered = told - set(answers)
    assert len(unanswered) <= len(asked) // 100, "many answers were given up"
