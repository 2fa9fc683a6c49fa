"""The contract of the feedback log: every store of votes keeps these promises."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from contract.redis_prefix import redis_of

from adapters.memory.feedback import MemoryFeedback
from adapters.redis.feedback import RedisFeedback
from adapters.sqlite.feedback import SqliteFeedback
from bot.errors import StorageError
from bot.feedback import Feedback, FeedbackLog, Vote

NOW = datetime(2026, 3, 1, 3, 0, tzinfo=UTC)
MakeLog = Callable[[int], FeedbackLog]


@pytest.fixture(params=["memory", "sqlite", "redis"])
async def make(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[MakeLog]:
    match request.param:
        case "memory":
            yield MemoryFeedback
        case "sqlite":
            yield lambda kept: SqliteFeedback(tmp_path / "home" / "feedback.db", kept=kept)
        case _:
            async with redis_of(request) as server:
                yield lambda kept: RedisFeedback(server, kept=kept)


@pytest.fixture
def log(make: MakeLog) -> FeedbackLog:
    return make(100)


async def test_an_empty_log_has_no_votes(log: FeedbackLog) -> None:
    assert await log.of("aaaaaaaaaaaa") == []
    assert await log.recent(5) == []


async def test_the_last_vote_of_a_person_counts(log: FeedbackLog) -> None:
    await log.save(Feedback("aaaaaaaaaaaa", "telegram:1", Vote.UP, NOW))
    await log.save(Feedback("aaaaaaaaaaaa", "telegram:1", Vote.DOWN, NOW + timedelta(days=3)))
    assert await log.of("aaaaaaaaaaaa") == [
        Feedback("aaaaaaaaaaaa", "telegram:1", Vote.DOWN, NOW + timedelta(days=3))
    ]


async def test_people_and_questions_are_kept_apart(log: FeedbackLog) -> None:
    first = Feedback("aaaaaaaaaaaa", "telegram:2", Vote.UP, NOW)
    second = Feedback("aaaaaaaaaaaa", "telegram:1", Vote.DOWN, NOW)
    other = Feedback("bbbbbbbbbbbb", "telegram:1", Vote.UP, NOW)
    for vote in (first, second, other):
        await log.save(vote)
    assert await log.of("aaaaaaaaaaaa") == [second, first]
    assert await log.recent(2) == [other, second]


async def test_the_oldest_votes_go_and_a_changed_vote_is_new(make: MakeLog) -> None:
    log = make(2)
    for number in range(2):
        await log.save(Feedback(f"{number:012x}", "telegram:1", Vote.UP, NOW))
    await log.save(Feedback(f"{0:012x}", "telegram:1", Vote.DOWN, NOW))
    await log.save(Feedback(f"{2:012x}", "telegram:1", Vote.UP, NOW))
    assert [vote.question_id for vote in await log.recent(9)] == [f"{2:012x}", f"{0:012x}"]


async def test_somebodys_votes_are_forgotten_and_nobody_elses(log: FeedbackLog) -> None:
    other = Feedback("aaaaaaaaaaaa", "telegram:11", Vote.UP, NOW)
    for name in ("aaaaaaaaaaaa", "bbbbbbbbbbbb"):
        await log.save(Feedback(name, "telegram:1", Vote.DOWN, NOW))
    await log.save(other)
    assert await log.forget("telegram:1") == 2
    assert await log.recent(9) == [other]
    assert await log.of("bbbbbbbbbbbb") == []
    assert await log.forget("telegram:1") == 0


async def test_votes_outlive_the_process(tmp_path: Path) -> None:
    path = tmp_path / "feedback.db"
    await SqliteFeedback(path).save(Feedback("aaaaaaaaaaaa", "slack:U1", Vote.UP, NOW))
    assert [vote.person for vote in await SqliteFeedback(path).recent(1)] == ["slack:U1"]


async def test_a_file_that_is_no_database_is_a_storage_error(tmp_path: Path) -> None:
    path = tmp_path / "feedback.db"
    path.write_text("not a database, and longer than the header of one" * 40)
    with pytest.raises(StorageError, match="votes"):
        await SqliteFeedback(path).recent(1)
