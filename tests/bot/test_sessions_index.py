"""The index of what was said: what is findable of the log, and how little a run costs."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from contract.index_chunks import KINDS, close_index, open_index

from adapters.memory.embedder import HashEmbedder
from adapters.memory.index import MemoryIndex
from adapters.memory.sessions import MemorySessions
from bot.ingest.sessions import SOURCE, forget_passages, index_sessions
from bot.ports import KnowledgeIndex
from bot.sessions import Role, Selection, SessionTurn
from graph.model import Passage, Scope
from graph.ports import Matrix, Search
from graph.text import tokens

START = datetime(2026, 3, 2, 3, 0, tzinfo=UTC)
PLACE = "slack:C1:chat"
FAILOVER = ("runbooks", "failover.md")


class Counting(HashEmbedder):
    """Counts the passages that it embeds."""

    def __init__(self, dimension: int = 256) -> None:
        super().__init__(dimension)
        self.passages = 0

    async def embed_passages(self, texts: Sequence[str]) -> Matrix:
        self.passages += len(texts)
        return await super().embed_passages(texts)


@dataclass
class Talks:
    """A log with its index."""

    folder: Path
    index: KnowledgeIndex
    log: MemorySessions = field(default_factory=MemorySessions)
    embedder: Counting = field(default_factory=Counting)
    said: int = 0

    async def says(
        self,
        text: str,
        role: Role = "message",
        *,
        place: str = PLACE,
        verified: bool = False,
        behind: tuple[tuple[str, str], ...] = (),
        question: str = "",
    ) -> SessionTurn:
        self.said += 1
        turn = SessionTurn(
            f"t{self.said}",
            role,
            place.rsplit(":", 1)[0] + ":",
            place,
            "slack:U1",
            text,
            START + self.said * timedelta(minutes=1),
            question_id=question,
            verified=verified,
            behind=behind,
            link=f"https://chat.example/{self.said}",
        )
        await self.log.add([turn])
        return turn

    async def exchange(self, asked: str, answer: str, *, verified: bool) -> None:
        name = f"q{self.said}"
        await self.says(asked, "question", question=name)
        behind = (FAILOVER,) if verified else ()
        await self.says(answer, "answer", verified=verified, behind=behind, question=name)

    async def run(self) -> tuple[int, int]:
        """How many passages the run embedded and removed."""
        lock = self.folder / "sessions.lock"
        report = await index_sessions(self.log, self.index, self.embedder, self.embedder, lock=lock)
        return report.embedded, report.removed

    async def found(self, words: str, place: str = PLACE) -> list[Passage]:
        hits = await self.index.search(Search(tuple(tokens(words)), None), Scope(place=place))
        return [hit.passage for hit in hits]


@pytest.fixture(params=KINDS)
async def talks(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Talks]:
    index = await open_index(request.param, tmp_path)
    yield Talks(tmp_path, index)
    await close_index(index)


async def test_a_message_is_found_where_it_was_said_and_nowhere_else(talks: Talks) -> None:
    """SC-04: the place is part of every query of the index."""
    await talks.says("We decided to fail over to Frankfurt on Tuesday.")
    await talks.run()
    (found,) = await talks.found("failover frankfurt")
    assert found.text == "We decided to fail over to Frankfurt on Tuesday."
    assert (found.uri, found.updated_at) == ("https://chat.example/1", START + timedelta(minutes=1))
    for elsewhere in ("slack:C2:chat", "slack:C1:shared", "slack:U1:private", ""):
        assert await talks.found("failover frankfurt", elsewhere) == []


async def test_an_exchange_is_one_passage(talks: Talks) -> None:
    await talks.exchange("how do I promote the standby", "Run `promote`. [1][2]", verified=True)
    await talks.run()
    (found,) = await talks.found("standby")
    assert (found.text, found.heading) == ("Run `promote`.", ("how do I promote the standby",))
    assert not found.stub
    assert found.behind == (FAILOVER,)


async def test_se_05_an_answer_without_sources_is_not_indexed(talks: Talks) -> None:
    await talks.exchange("where are the backups", "The backup host is bkp-99.", verified=False)
    await talks.run()
    (found,) = await talks.found("backups")
    assert found.stub  # it is known to have been asked, and answers nothing
    assert await talks.found("bkp-99") == []


@pytest.mark.parametrize(
    ("text", "answers"),
    [
        ("who knows the codeword?", False),
        ("где лежит кодовое слово", False),
        ("the codeword is ORCA-77", True),
        ("кодовое слово ORCA-77, никому не говорите", True),
    ],
)
async def test_a_question_among_people_answers_nothing(
    talks: Talks, text: str, answers: bool
) -> None:
    await talks.says(text)
    await talks.run()
    found = [item for words in ("codeword", "кодовое") for item in await talks.found(words)]
    assert [item.stub for item in found] == [not answers]


async def test_what_is_said_after_an_answer_has_its_documents_behind_it(talks: Talks) -> None:
    """Whoever may not read a document does not read the talk that came of it either."""
    await talks.says("morning, all on deck")
    await talks.exchange("what is the price", "EUR 7.", verified=True)
    await talks.says("then we offer six")
    await talks.run()
    (before,) = [item for item in await talks.found("deck") if "deck" in item.text]
    (after,) = [item for item in await talks.found("six") if "six" in item.text]
    assert (before.behind, after.behind) == ((), (FAILOVER,))


async def test_only_what_is_new_is_embedded(talks: Talks) -> None:
    for number in range(40):
        await talks.says(f"The replica number {number} was drained.")
    assert await talks.run() == (40, 0)
    assert await talks.run() == (0, 0)
    await talks.exchange("how do I promote the standby", "Run promote. [1]", verified=True)
    before = talks.embedder.passages
    assert await talks.run() == (1, 0)
    assert talks.embedder.passages == before + 1


async def test_a_run_on_the_same_log_gives_the_same_passages(talks: Talks, tmp_path: Path) -> None:
    await talks.says("The codeword is ORCA-77.")
    other = Talks(tmp_path / "other", MemoryIndex(), talks.log)
    await talks.run()
    await other.run()
    assert await talks.found("codeword") == await other.found("codeword")


async def test_an_answer_that_comes_later_takes_the_place_of_the_stub(talks: Talks) -> None:
    await talks.says("how do I promote", "question", question="q")
    await talks.run()
    await talks.says("Run promote.", "answer", question="q", verified=True, behind=(FAILOVER,))
    assert await talks.run() == (1, 0)
    assert [item.text for item in await talks.found("promote")] == ["Run promote."]


async def test_se_03_what_was_forgotten_goes_with_the_next_run(talks: Talks) -> None:
    await talks.says("my door code is 7781")
    await talks.says("the standby lags")
    await talks.run()
    gone = await talks.log.forget(Selection("slack:U1"))
    assert await talks.run() == (0, 2)
    assert await talks.found("7781") == []
    assert await talks.index.records(SOURCE) == {}
    await forget_passages(talks.index, gone)  # nothing is left to take out


async def test_a_turn_forgotten_while_it_is_embedded_is_not_indexed(talks: Talks) -> None:
    await talks.says("my door code is 7781")

    class Slow(Counting):
        async def embed_passages(self, texts: Sequence[str]) -> Matrix:
            await talks.log.forget(Selection("slack:U1"))
            return await super().embed_passages(texts)

    talks.embedder = Slow()
    await talks.run()
    assert await talks.found("7781") == []


async def test_another_embedder_indexes_all_anew(talks: Talks) -> None:
    await talks.says("The codeword is ORCA-77.")
    await talks.run()
    talks.embedder = Counting(64)
    assert await talks.run() == (1, 0)
    assert (await talks.index.info()).dimension == 64


async def test_the_same_words_twice_are_two_passages(talks: Talks) -> None:
    """Each has its own date and its own documents behind it."""
    first = await talks.says("failed over to Frankfurt")
    await talks.log.add([replace(first, id="again", behind=(FAILOVER,))])
    await talks.run()
    assert len(await talks.found("frankfurt")) == 2
