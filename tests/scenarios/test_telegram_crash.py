"""Two hundred questions and five kill -9 at random moments: two hundred answers, none twice."""

from __future__ import annotations

import asyncio
import logging
import random
from collections import defaultdict
from pathlib import Path

from bot.chat import Incoming, Kind, Person, Place
from bot.delivery import interrupted
from tests.scenarios.process_kit import (
    FACT,
    PATIENCE,
    QUESTION,
    Installed,
    installed,
    terminated,
)
from tests.servers.telegram_server import TelegramServer, User

PEOPLE, KILLS = 40, 5
AT_FIRST, EACH_TIME = 100, 20  # questions before the first process, and while each one works
MOST = 20  # answers that a process gives before it is killed; many more wait at that moment
WITHIN = 0.1  # seconds after the last of them: longer than one answer takes

Question = tuple[int, int]  # chat, message

_log = logging.getLogger(__name__)


class Crowd:
    """People who ask in turn, each in their own chat, and what they see."""

    def __init__(self, server: TelegramServer) -> None:
        self.server = server
        self.people = [server.user(1000 + number, f"Person {number}") for number in range(PEOPLE)]
        self.asked: list[Question] = []

    def ask(self, count: int) -> None:
        for _ in range(count):
            person = self.people[len(self.asked) % PEOPLE]
            self.asked.append((person.id, self.server.says(person, person, QUESTION)))

    def answers(self) -> dict[Question, list[str]]:
        """What was shown under each question, besides words about an interruption."""
        return self._shown(notes=False)

    def notes(self) -> dict[Question, list[str]]:
        return self._shown(notes=True)

    def _shown(self, *, notes: bool) -> dict[Question, list[str]]:
        found: dict[Question, list[str]] = defaultdict(list)
        for person in self.people:
            for sent in self.server.sent(person):
                if (sent.text == _note(person)) is notes:
                    found[(person.id, sent.reply_to or 0)].append(sent.text)
        return found

    def all_were_told(self) -> bool:
        """Whether every question has something under it."""
        if self.messages < len(self.asked):
            return False
        return set(self.asked) <= {*self.answers(), *self.notes()}

    @property
    def messages(self) -> int:
        return sum(len(self.server.sent(person)) for person in self.people)


def _note(person: User) -> str:
    key = str(person.id)
    question = Incoming(
        Kind.QUESTION, Place("telegram", key), Person("telegram", key), "1", text=QUESTION
    )
    return interrupted(question)


async def test_op_01_two_hundred_questions_survive_five_kills_of_the_process(
    tmp_path: Path,
) -> None:
    seed = random.randrange(2**32)
    _log.warning("seed %d", seed)  # shown when the test fails
    rng = random.Random(seed)
    async with TelegramServer() as server:
        crowd = Crowd(server)
        bot = await installed(tmp_path, server, crowd.people)
        crowd.ask(AT_FIRST)
        for _ in range(KILLS):
            await work_until_killed(bot, crowd, rng)
        await work_until_nothing_waits(bot, crowd)
        answers, notes = crowd.answers(), crowd.notes()
    assert len(crowd.asked) == 200
    assert set(answers) | set(notes) <= set(crowd.asked), "words that answer nothing"
    assert [question for question in answers if len(answers[question]) > 1] == [], "answered twice"
    assert [question for question in notes if len(notes[question]) > 1] == []
    assert [texts for texts in answers.values() if FACT not in texts[0]] == []
    unanswered = set(crowd.asked) - set(answers)
    assert unanswered <= set(notes), "lost"
    # Between the mark of a message and its bytes nothing else happens in the process, so that a
    # kill can hit this instant for one question at most; its asker is told.
    assert len(unanswered) <= KILLS


async def work_until_killed(bot: Installed, crowd: Crowd, rng: random.Random) -> None:
    """A process starts, answers some questions, hears more, and is killed while others wait."""
    before, goal = crowd.messages, rng.randint(1, MOST)
    with bot.running():
        await crowd.server.until(lambda: crowd.messages > before, PATIENCE)
        crowd.ask(EACH_TIME)
        await crowd.server.until(lambda: crowd.messages >= before + goal, PATIENCE)
        await asyncio.sleep(rng.uniform(0, WITHIN))
    assert crowd.messages < len(crowd.asked), "killed when there was nothing to do"


async def work_until_nothing_waits(bot: Installed, crowd: Crowd) -> None:
    """The last process is told to end when no question is open, so that nothing can follow."""
    with bot.running() as process:
        await crowd.server.until(crowd.all_were_told, PATIENCE)
        await bot.inbox_holds(0)
        assert await terminated(process) == 0
