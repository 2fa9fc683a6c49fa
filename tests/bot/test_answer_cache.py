"""Answers that are given again: to the same question of the same audience."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime

import pytest

from adapters.memory.cache import MemoryCache
from adapters.memory.sessions import MemorySessions
from bot.answer_cache import AnswerCache
from bot.errors import StorageError
from bot.minutes import Minutes
from bot.recall import Recall
from bot.sessions import Selection
from graph.machine import Finished
from graph.model import (
    Answer,
    Citation,
    Document,
    Outcome,
    Passage,
    Question,
    Scope,
    SourceType,
    Turn,
)
from graph.trace import Trace

TEXT = "how do I drain a node?"
NOW = datetime(2026, 3, 2, 3, 0, tzinfo=UTC)
SCOPE = Scope(levels=frozenset({"staff", "senior"}), labels=frozenset({"all", "sre"}), now=NOW)
PLAN = ("runbooks", "plan.md")


@dataclass
class Replica:
    """One process with the cache that it shares, and an index whose state a test decides."""

    cache: MemoryCache = field(default_factory=MemoryCache)
    revision: str = "1"
    closed: frozenset[Document] = frozenset()

    @property
    def answers(self) -> AnswerCache:
        return AnswerCache(self.cache, self._revision, self._readable, 60)

    async def get(self, question: Question) -> Finished | None:
        return await self.answers.get(await self.answers.key(question), question)

    async def keep(self, question: Question, finished: Finished) -> None:
        await self.answers.keep(await self.answers.key(question), question, finished)

    async def _revision(self) -> str:
        return self.revision

    async def _readable(self, documents: Collection[Document], _: Scope) -> frozenset[Document]:
        return frozenset(documents) - self.closed


def question(name: str = "q1", text: str = TEXT, scope: Scope = SCOPE) -> Question:
    return Question(text, name, scope)


def finished(asked: Question, source_type: SourceType = SourceType.FOLDER) -> Finished:
    source, document = PLAN
    passage = Passage("p1", source, source_type, document, "Plan", ("Drain",), "Run `drain`.", "")
    answer = Answer(
        asked.id, Outcome.ANSWERED, "Run `drain` [1].", "en", (Citation(1, passage, 0.9),)
    )
    trace = Trace(asked.id, asked.text, asked.text, "en", "answered", documents=("x/plan.md",))
    return Finished(answer, trace)


async def kept(replica: Replica | None = None) -> Replica:
    """A replica that has answered the question."""
    replica = replica or Replica()
    asked = question()
    await replica.keep(asked, finished(asked))
    return replica


async def test_the_same_question_of_the_same_audience_gets_the_same_answer() -> None:
    """Under its own id, so that its buttons, its trace and its audit row are its own."""
    first = await kept()
    found = await Replica(first.cache).get(question("q2"))
    assert found is not None
    assert found.answer == replace(finished(question()).answer, question_id="q2")
    assert found.trace == replace(finished(question()).trace, question_id="q2")


OTHERS = {
    "another level": replace(SCOPE, levels=frozenset({"staff"})),
    "other labels": replace(SCOPE, labels=frozenset({"all", "hr"})),
    "a second reader": replace(SCOPE, also=frozenset({frozenset({"all"})})),
    "another tenant": replace(SCOPE, tenant="acme"),
    "another place": replace(SCOPE, place="slack:C1:chat"),
    "other sources": replace(SCOPE, source_types=frozenset({SourceType.FOLDER})),
}


@pytest.mark.parametrize("other", OTHERS)
async def test_sc_06_no_answer_crosses_from_one_audience_to_another(other: str) -> None:
    replica = await kept()
    assert await replica.get(question("q2", scope=OTHERS[other])) is None


async def test_the_time_of_day_is_no_other_audience() -> None:
    replica = await kept()
    later = replace(SCOPE, now=datetime(2026, 3, 2, 3, 5, tzinfo=UTC))
    assert await replica.get(question("q2", scope=later)) is not None


@pytest.mark.parametrize("text", ["how do I drain a pod?", "How do I drain a node?", ""])
async def test_another_question_is_answered_anew(text: str) -> None:
    assert await (await kept()).get(question("q2", text)) is None


async def test_a_follow_up_depends_on_what_was_said() -> None:
    replica = await kept()
    follow_up = replace(question("q2"), history=(Turn("user", "and on staging?"),))
    assert await replica.get(follow_up) is None
    fresh = Replica()
    await fresh.keep(follow_up, finished(follow_up))
    assert await fresh.get(question()) is None


async def test_sc_16_an_index_that_changed_answers_anew() -> None:
    replica = await kept()
    replica.revision = "2"
    assert await replica.get(question("q2")) is None


async def test_sc_16_an_index_that_changed_while_an_answer_was_made_gives_it_to_nobody() -> None:
    replica = Replica()
    asked = question()

    async def made() -> Finished:
        replica.revision = "2"
        return finished(asked)

    assert await replica.answers.once(asked, made) == finished(asked)
    assert await replica.get(question("q2")) is None


async def test_an_answer_is_made_once() -> None:
    replica, times = Replica(), []

    async def made() -> Finished:
        times.append(1)
        return finished(question())

    for name in ("q1", "q2", "q3"):
        found = await replica.answers.once(question(name), made)
        assert found.answer.text == finished(question()).answer.text
        assert found.answer.question_id == name
    assert len(times) == 1


async def test_sc_16_a_document_that_was_closed_is_quoted_to_nobody() -> None:
    replica = await kept()
    replica.closed = frozenset({PLAN})
    assert await replica.get(question("q2")) is None


def _with(**changes: object) -> Finished:
    whole = finished(question())
    return replace(whole, answer=replace(whole.answer, **changes))  # type: ignore[arg-type]


UNFIT = {
    "from the web": finished(question(), SourceType.WEB),
    "from a conversation": finished(question(), SourceType.SESSION),
    "half found": _with(outcome=Outcome.PARTIAL),
    "not found": _with(outcome=Outcome.NOT_FOUND, citations=()),
    "failed": _with(outcome=Outcome.FAILED, citations=()),
    "while the model was down": _with(notes=("model_down",)),
}


@pytest.mark.parametrize("unfit", UNFIT)
async def test_only_whole_answers_from_documents_are_given_again(unfit: str) -> None:
    replica = Replica()
    await replica.keep(question(), UNFIT[unfit])
    assert await replica.get(question("q2")) is None


async def test_se_03_what_a_person_asked_is_forgotten_here_as_well() -> None:
    replica = await kept()
    await replica.answers.forget(["q1", "never asked"])
    assert await replica.get(question("q2")) is None


async def test_se_03_whoever_was_given_an_answer_can_have_it_forgotten() -> None:
    replica = await kept()
    assert await replica.get(question("q2")) is not None
    await replica.answers.forget(["q2"])
    assert await replica.get(question("q3")) is None


async def test_se_03_a_cache_that_is_away_leaves_forgetting_incomplete() -> None:
    """The turns are gone, so nobody is told that all is still there; the other drops still run."""
    dropped: list[Collection[str]] = []

    async def away(_: Collection[str]) -> None:
        raise StorageError("Redis cannot be reached.")

    async def drops(names: Collection[str]) -> None:
        dropped.append(names)

    minutes = Minutes(MemorySessions(), drop=[away, drops])
    gone = await minutes.forget(Selection(person="telegram:1"), Recall(), ["q1"])
    assert not gone.complete
    assert dropped == [{"q1"}]


async def test_what_another_version_kept_is_made_anew() -> None:
    replica = await kept()
    key = await replica.cache.get("answer-of:q1")
    assert key is not None
    await replica.cache.put(key, '{"answer": {"what": "ever"}}', 60)
    assert await replica.get(question("q2")) is None
