"""Two hundred questions and five kills: every question ends once."""

from __future__ import annotations

import asyncio
import multiprocessing
import random
from collections import Counter
from multiprocessing.connection import Connection
from pathlib import Path

from contract.inbox_events import event, private
from desk_process import answer_until_killed

from adapters.sqlite.inbox import SqliteInbox
from bot.chat import Incoming
from bot.delivery import interrupted

QUESTIONS, KILLS = 200, 5
SPAWN = multiprocessing.get_context("spawn")


def run_and_kill(home: Path, after: int) -> bool:
    """Runs the bot until it has handled `after` events; True when nothing was left to do."""
    ours, theirs = SPAWN.Pipe()
    process = SPAWN.Process(target=answer_until_killed, args=(theirs, home))
    process.start()
    theirs.close()
    try:
        return _handled(ours, after)
    finally:
        process.kill()
        process.join()
        process.close()
        ours.close()


def _handled(reports: Connection, after: int) -> bool:
    try:
        for _ in range(after):
            if reports.recv() == "idle":
                return True
    except EOFError as error:
        raise AssertionError("the bot died by itself") from error
    return False


async def test_op_01_two_hundred_questions_survive_five_kills(tmp_path: Path) -> None:
    rng = random.Random(20)
    asked = [event(str(n), place=private(str(n % 40))) for n in range(QUESTIONS)]
    inbox = await SqliteInbox.open(tmp_path / "inbox.db")
    for question in asked:
        assert await inbox.put(question)
    await inbox.close()
    for _ in range(KILLS):
        assert not await asyncio.to_thread(run_and_kill, tmp_path, rng.randint(5, 25))
    assert await asyncio.to_thread(run_and_kill, tmp_path, 2 * QUESTIONS)
    shown = (tmp_path / "wall").read_text(encoding="utf-8").splitlines()
    answers = Counter(line for line in shown if "\tre: " in line)
    assert max(answers.values()) == 1, "answered twice"
    for question in asked:
        assert _ends(question, shown), "a question without an end"


def _ends(question: Incoming, shown: list[str]) -> bool:
    """An answer, or the sentence that its sending was interrupted."""
    number = question.message_id
    return any(
        line in (f"{number}\tre: {question.text}", f"{number}\t{interrupted(question)}")
        for line in shown
    )
