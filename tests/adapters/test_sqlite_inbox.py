"""The inbox's file among processes: shared, killed, damaged, newer."""

from __future__ import annotations

import asyncio
import multiprocessing
import sqlite3
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import closing
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from pathlib import Path

import pytest
from contract.inbox_events import Clock, event, private

from adapters.sqlite.inbox import SqliteInbox
from bot.chat import Reply
from bot.delivery import Leg, PartState
from bot.errors import StorageError

SPAWN = multiprocessing.get_context("spawn")
FOR_EVER = 3600.0


@pytest.fixture
def start() -> Iterator[Callable[..., tuple[BaseProcess, Connection]]]:
    """Starts a process that is gone when the test is; what it sends arrives at the connection."""
    started: list[tuple[BaseProcess, Connection]] = []

    def start(work: Callable[..., None], *arguments: object) -> tuple[BaseProcess, Connection]:
        ours, theirs = SPAWN.Pipe()
        process = SPAWN.Process(target=work, args=(theirs, *arguments))
        process.start()
        theirs.close()
        started.append((process, ours))
        return process, ours

    yield start
    for process, ours in started:
        process.kill()
        process.join()
        process.close()
        ours.close()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "home" / "inbox.db"


def received(connection: Connection) -> list[str]:
    """Everything that was sent before the other side was gone."""
    messages: list[str] = []
    try:
        while True:
            messages.append(connection.recv())
    except (EOFError, ConnectionResetError):
        return messages


def put_until_killed(report: Connection, path: Path, name: str) -> None:
    async def put() -> None:
        inbox = await SqliteInbox.open(path)
        number = 0
        while True:
            asked = event(f"{name}-{number}", place=private(str(number % 7)))
            assert await inbox.put(asked)
            report.send(asked.key)
            number += 1

    asyncio.run(put())


def answer_all(report: Connection, path: Path) -> None:
    async def answer() -> None:
        inbox = await SqliteInbox.open(path)
        while await inbox.waiting():
            taken = await inbox.take("worker", FOR_EVER)
            if taken is not None and await inbox.done(taken):
                report.send(taken.event.key)
        await inbox.close()
        report.close()

    asyncio.run(answer())


def begin_and_hang(report: Connection, path: Path) -> None:
    async def begin() -> None:
        inbox = await SqliteInbox.open(path)
        taken = await inbox.take("killed", FOR_EVER)
        assert taken is not None
        await inbox.keep(taken, Reply("Drain it."))
        for part in range(2):
            await inbox.begin(taken, part)
            inbox.mark(taken, part, Leg.OUT)
        inbox.mark(taken, 1, Leg.SHOWN)
        await inbox.begin(taken, 2)
        report.send(taken.event.key)
        await asyncio.Event().wait()

    asyncio.run(begin())


async def test_op_01_what_was_acknowledged_survives_kill_9(
    path: Path, start: Callable[..., tuple[BaseProcess, Connection]]
) -> None:
    writers = [start(put_until_killed, path, name) for name in "ab"]
    for process, ours in writers:
        assert await asyncio.to_thread(ours.poll, 60)
        process.kill()
    acknowledged = {key for _, ours in writers for key in await asyncio.to_thread(received, ours)}
    inbox = await SqliteInbox.open(path)
    found = set()
    while (taken := await inbox.take("next", FOR_EVER)) is not None:
        found.add(taken.event.key)
        await inbox.done(taken)
    await inbox.close()
    assert acknowledged
    assert acknowledged <= found
    assert len(found - acknowledged) <= 2  # one of each, stored when the kill came


@pytest.mark.parametrize("killed", [True, False])
async def test_a_clock_that_is_put_back_holds_nothing_up(path: Path, killed: bool) -> None:
    """A machine that starts with a wrong clock: what waits until then would wait for hours."""
    clock = Clock()
    inbox = await SqliteInbox.open(path, clock=clock)
    await inbox.put(event("1"))
    taken = await inbox.take("first", 15.0)
    assert taken is not None
    if not killed:
        await inbox.release(taken, 60.0)
    clock.advance(-5 * 3600)
    again = await inbox.take("second", 15.0)
    assert again is not None
    assert again.event == taken.event
    assert not await inbox.done(taken)
    assert await inbox.done(again)
    await inbox.close()


async def test_a_clock_that_is_put_back_takes_no_question_from_its_own_process(path: Path) -> None:
    clock = Clock()
    inbox = await SqliteInbox.open(path, clock=clock)
    await inbox.put(event("1"))
    taken = await inbox.take("first", 15.0)
    assert taken is not None
    clock.advance(-5 * 3600)
    assert await inbox.take("first", 15.0) is None
    assert await inbox.renew(taken, 15.0)
    assert await inbox.take("second", 15.0) is None
    assert await inbox.done(taken)
    await inbox.close()


async def test_sl_02_processes_share_the_work_and_none_does_it_twice(
    path: Path, start: Callable[..., tuple[BaseProcess, Connection]]
) -> None:
    inbox = await SqliteInbox.open(path)
    asked = [event(str(number), place=private(str(number % 5))) for number in range(60)]
    for question in asked:
        await inbox.put(question)
    await inbox.close()
    workers = [start(answer_all, path) for _ in range(3)]
    done = [key for _, ours in workers for key in await asyncio.to_thread(received, ours)]
    assert Counter(done) == Counter(question.key for question in asked)


async def test_op_01_the_next_process_knows_what_was_said(
    path: Path, start: Callable[..., tuple[BaseProcess, Connection]]
) -> None:
    clock = Clock()
    inbox = await SqliteInbox.open(path)
    await inbox.put(event("1"))
    await inbox.close()
    process, ours = start(begin_and_hang, path)
    assert await asyncio.to_thread(ours.poll, 60)
    process.kill()
    process.join()
    clock.now = 10**11  # long after the lease
    heir = await SqliteInbox.open(path, clock=clock)
    taken = await heir.take("next", FOR_EVER)
    assert taken is not None
    assert taken.attempt == 2
    assert await heir.kept(taken) == Reply("Drain it.")
    states = [await heir.begin(taken, part) for part in range(3)]
    assert states == [PartState.UNCERTAIN, PartState.SENT, PartState.OPEN]
    await heir.close()


async def test_events_that_an_older_version_stored_stay_readable(path: Path) -> None:
    inbox = await SqliteInbox.open(path)
    asked = event("1", "how do I restart billing?")
    await inbox.put(asked)
    await inbox.close()
    later = ("private", "context", "person.outsider", "place.outsiders")
    places = ", ".join(f"'$.{name}'" for name in later)
    with closing(sqlite3.connect(path)) as file, file:
        file.execute(f"UPDATE events SET body = json_remove(body, {places})")
    reopened = await SqliteInbox.open(path)
    taken = await reopened.take("worker", FOR_EVER)
    assert taken is not None
    assert taken.event == asked
    await reopened.close()


async def test_a_reopened_inbox_goes_on(path: Path) -> None:
    inbox = await SqliteInbox.open(path)
    await inbox.put(event("1"))
    await inbox.move("telegram", "-1", "-2")
    await inbox.close()
    await inbox.close()
    inbox = await SqliteInbox.open(path)
    assert not await inbox.put(event("1"))
    assert await inbox.waiting() == 1
    await inbox.close()


class TestFaults:
    async def test_a_file_that_is_no_inbox(self, path: Path) -> None:
        path.parent.mkdir()
        path.write_bytes(b"questions, but not in a database\n" * 200)
        with pytest.raises(StorageError, match="damaged"):
            await SqliteInbox.open(path)

    async def test_a_folder_that_cannot_be_made(self, path: Path) -> None:
        path.parent.write_text("a file stands where the folder should be", encoding="utf-8")
        with pytest.raises(StorageError) as refusal:
            await SqliteInbox.open(path)
        assert refusal.value.remedy

    async def test_a_file_of_a_newer_version(self, path: Path) -> None:
        await (await SqliteInbox.open(path)).close()
        connection = sqlite3.connect(path)
        connection.execute("PRAGMA user_version = 99")
        connection.close()
        with pytest.raises(StorageError, match="newer version"):
            await SqliteInbox.open(path)

    async def test_a_writer_that_waited_too_long_gives_up(self, path: Path) -> None:
        inbox = await SqliteInbox.open(path, busy_timeout=0.01)
        other = sqlite3.connect(path, isolation_level=None)
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(StorageError):
            await inbox.put(event("1"))
        other.execute("ROLLBACK")
        other.close()
        assert await inbox.put(event("1"))
        await inbox.close()

    async def test_after_close_nothing_is_stored(self, path: Path) -> None:
        inbox = await SqliteInbox.open(path)
        await inbox.close()
        with pytest.raises(StorageError):
            await inbox.put(event("1"))
