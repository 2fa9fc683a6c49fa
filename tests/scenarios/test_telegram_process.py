"""The real process against the loopback Bot API server: two hundred people, five times kill -9."""

from __future__ import annotations

import asyncio
import os
import random
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

import pytest

from adapters.sqlite.roll import SqliteRoll
from bot.access import Grant
from bot.chat import Incoming, Kind, Person, Place
from bot.delivery import interrupted
from bot.roll import ROLL_FILE
from tests.servers.telegram_server import TelegramServer, User

ROOT = Path(__file__).parents[2]
BELAY = Path(sys.executable).with_name("belay")
DOCUMENT = "# Billing\n\nBilling listens on port 8081. It is owned by the payments team.\n"
PEOPLE, KILLS = 200, 5


def settings(home: Path, server: TelegramServer) -> dict[str, str]:
    return {
        "BELAY_HOME": str(home),
        "BELAY_WEB": "off",
        "BELAY_TELEGRAM_TOKEN": server.token,
        "BELAY_TELEGRAM_API_URL": server.url,
        "BELAY_HTTP": "127.0.0.1:0",
        "BELAY_DESK__LEASE": "2",
        "BELAY_DESK__POLL": "0.1",
        "BELAY_DESK__GRACE": "10",
        "PYTHONPATH": str(ROOT),
    }


def belay(*words: str, cwd: Path, variables: Mapping[str, str]) -> subprocess.Popen[bytes]:
    log = (cwd / "log").open("ab")
    try:
        return subprocess.Popen(
            [str(BELAY), *words],
            cwd=cwd,
            env={**os.environ, **variables},
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
        )
    finally:
        log.close()


@contextmanager
def running(cwd: Path, variables: Mapping[str, str]) -> Iterator[subprocess.Popen[bytes]]:
    """`belay run`, killed with -9 at the end of the block unless it has ended before."""
    process = belay("run", cwd=cwd, variables=variables)
    try:
        yield process
    finally:
        process.kill()
        process.wait()


async def a_home(folder: Path, people: list[User], variables: Mapping[str, str]) -> None:
    """One document is indexed, and everybody is let in."""
    (folder / "docs").mkdir()
    (folder / "docs" / "billing.md").write_text(DOCUMENT, encoding="utf-8")
    synced = belay("sync", "docs", cwd=folder, variables=variables)
    assert await asyncio.to_thread(synced.wait) == 0
    roll = SqliteRoll(Path(variables["BELAY_HOME"]) / ROLL_FILE)
    for person in people:
        await roll.save(Grant(f"telegram:{person.id}", at=datetime.now(UTC)))


def note_of(person: User) -> str:
    key = str(person.id)
    question = Incoming(Kind.QUESTION, Place("telegram", key), Person("telegram", key), "1")
    return interrupted(question)


def ended(server: TelegramServer, person: User) -> bool:
    return bool(server.sent(person))


def answers(server: TelegramServer, person: User) -> list[str]:
    note = note_of(person)
    return [sent.text for sent in server.sent(person) if sent.text != note]


@pytest.mark.soak
async def test_op_01_two_hundred_questions_survive_five_kills_of_the_process(
    tmp_path: Path,
) -> None:
    rng = random.Random(4)
    async with TelegramServer() as server:
        people = [server.user(1000 + n, f"Person {n}") for n in range(PEOPLE)]
        variables = settings(tmp_path / "home", server)
        await a_home(tmp_path, people, variables)
        asked = 0
        for _ in range(KILLS):
            asked = ask(server, people, asked, PEOPLE // KILLS)
            more = len(server.called("sendMessage")) + len(server.called("sendRichMessage"))
            moment = len(server.calls) + rng.randint(15, 60)
            with running(tmp_path, variables):
                await server.until(lambda moment=moment: len(server.calls) >= moment, 60.0)
            assert more < PEOPLE
        assert asked == PEOPLE
        with running(tmp_path, variables):
            await server.until(lambda: all(ended(server, person) for person in people), 90.0)
        shown = [answers(server, person) for person in people]
        notes = [len(server.sent(person)) - len(answers(server, person)) for person in people]
    assert max(len(seen) for seen in shown) == 1, "answered twice"
    for seen, note in zip(shown, notes, strict=True):
        assert len(seen) + note >= 1
        assert note <= 1
    assert all("8081" in text for seen in shown for text in seen)


def ask(server: TelegramServer, people: list[User], first: int, count: int) -> int:
    for person in people[first : first + count]:
        server.says(person, person, "which port does billing listen on?")
    return first + count


@pytest.mark.parametrize("questions", [12])
async def test_op_01_sigterm_lets_answers_finish_and_ends_with_0(
    tmp_path: Path, questions: int
) -> None:
    async with TelegramServer() as server:
        people = [server.user(1000 + n, f"Person {n}") for n in range(questions)]
        variables = settings(tmp_path / "home", server)
        await a_home(tmp_path, people, variables)
        ask(server, people, 0, questions)
        with running(tmp_path, variables) as process:
            await server.until(lambda: any(ended(server, person) for person in people), 60.0)
            process.terminate()
            assert await asyncio.to_thread(process.wait) == 0
        with running(tmp_path, variables) as process:
            await server.until(lambda: all(ended(server, person) for person in people), 60.0)
            process.terminate()
            assert await asyncio.to_thread(process.wait) == 0
        assert [len(server.sent(person)) for person in people] == [1] * questions


async def test_op_05_a_token_that_telegram_does_not_know_ends_the_process(tmp_path: Path) -> None:
    async with TelegramServer() as server:
        variables = settings(tmp_path / "home", server)
        wrong = {**variables, "BELAY_TELEGRAM_TOKEN": server.token[:-2] + "zz"}
        process = belay("run", cwd=tmp_path, variables=wrong)
        assert await asyncio.to_thread(process.wait) == 2
    log = (tmp_path / "log").read_text(encoding="utf-8")
    assert "BELAY_TELEGRAM_TOKEN" in log
    assert wrong["BELAY_TELEGRAM_TOKEN"] not in log
    assert "Traceback" not in log
