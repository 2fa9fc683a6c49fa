"""What is missing in the documents, from what was asked."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import count
from typing import Any

import pytest
from test_cli_audit import ASKED

from bot.audit import AuditRecord, Hit, Rights
from bot.chat import Place
from bot.gaps import Gap, gaps
from bot.registry import factory
from bot.votes import Tally
from graph.model import Outcome
from graph.ports import Embedder

NOW = datetime(2026, 3, 2, 3, 0, tzinfo=UTC)
OPS = Place("slack", "C1", "channel", title="ops")
DM = Place("slack", "D77", title="")
DIRECTORS = Rights("default", ("director", "staff"), (("all",),))
_numbers = count(1)


@pytest.fixture(scope="module")
def embedder() -> Embedder:
    made: Embedder = factory("embedder.builtin")()
    return made


def asked(question: str, minute: int = 0, **changes: Any) -> AuditRecord:
    base = replace(
        ASKED, question_id=f"{next(_numbers):012x}", at=NOW + timedelta(minutes=minute),
        person="slack:U1", place=OPS, question=question, hits=(), cited=(),
        outcome=Outcome.NOT_FOUND,
    )  # fmt: skip
    return replace(base, **changes)


async def found(embedder: Embedder, *records: AuditRecord, **votes: Tally) -> list[Gap]:
    newest_first = sorted(records, key=lambda record: record.at, reverse=True)
    return await gaps(newest_first, {key[1:]: value for key, value in votes.items()}, embedder)


@pytest.mark.parametrize(
    "same",
    [
        ("how do I purge a rabbitmq queue", "purge rabbitmq queue", "empty a queue in rabbitmq?"),
        ("how long are postgres backups kept", "what is the backup retention of postgres"),
        ("how do I get access to the staging database", "доступ к базе стейджинга"),
        ("как перезапустить redis", "redis restart", "how do I restart redis"),
        ("KafkaConsumerLag what to do", "what do I do about kafka consumer lag"),
        ("What is WB-7712?", "what is wb-7712"),
    ],
)
async def test_questions_that_mean_the_same_are_one_gap(
    embedder: Embedder, same: tuple[str, ...]
) -> None:
    rows = [asked(text, minute) for minute, text in enumerate(same)]
    (gap,) = await found(embedder, *rows)
    assert gap.count == len(same)
    assert gap.newest == rows[-1].at


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("how do I restart redis", "how do I restart kafka"),
        ("как перезапустить redis", "как перезапустить kafka"),
        ("what does error WB-7712 mean", "what does error WB-9001 mean"),
        ("how do I restart the staging cluster", "how do I restart the production cluster"),
        ("where is the printer in the berlin office", "where is the printer in the warsaw office"),
        ("who owns the payments service", "who owns the shipping service"),
        ("what is the vacation policy", "how do I purge a rabbitmq queue"),
    ],
)
async def test_the_same_of_another_thing_is_another_gap(
    embedder: Embedder, one: str, other: str
) -> None:
    assert len(await found(embedder, asked(one), asked(other))) == 2


async def test_the_largest_gap_comes_first_in_its_usual_words(embedder: Embedder) -> None:
    usual = [asked("how do I purge a rabbitmq queue", minute) for minute in range(3)]
    rare = asked("empty a queue in rabbitmq?", 9)
    other = asked("what is the vacation policy", 20)
    first, second = await found(embedder, *usual, rare, other)
    assert (first.question, first.count) == ("how do I purge a rabbitmq queue", 4)
    assert first.others == ("empty a queue in rabbitmq?",)
    assert (second.question, second.count) == ("what is the vacation policy", 1)


async def test_only_what_had_no_good_answer_is_a_gap(embedder: Embedder) -> None:
    good = asked("which port does staging use", outcome=Outcome.ANSWERED)
    broken = asked("who approves refunds", outcome=Outcome.FAILED)
    bad = asked("what is the vacation policy", outcome=Outcome.ANSWERED)
    votes = {f"_{good.question_id}": Tally(up=1), f"_{bad.question_id}": Tally(up=1, down=1)}
    (gap,) = await found(embedder, good, broken, bad, **votes)
    assert gap.question == "what is the vacation policy"
    assert gap.reasons == (("rated_down", 1),)


async def test_reasons_are_counted(embedder: Embedder) -> None:
    asks = "how do I purge a rabbitmq queue"
    outcomes = (Outcome.NOT_FOUND, Outcome.WEB, Outcome.NOT_FOUND, Outcome.PARTIAL)
    (gap,) = await found(embedder, *(asked(asks, outcome=outcome) for outcome in outcomes))
    assert dict(gap.reasons) == {"not_found": 2, "web": 1, "partial": 1}


@pytest.mark.parametrize("way", ["why", "post", "web"])
async def test_what_only_repeats_a_question_does_not_count(embedder: Embedder, way: str) -> None:
    asks = "how do I purge a rabbitmq queue"
    (gap,) = await found(embedder, asked(asks), asked(asks, way=way))
    assert gap.count == 1


async def test_a_follow_up_is_a_gap_in_the_words_of_what_it_meant(embedder: Embedder) -> None:
    (gap,) = await found(embedder, asked("and in warsaw?", resolved="parking at the warsaw office"))
    assert gap.question == "parking at the warsaw office"


async def test_what_was_answered_since_is_no_gap_any_more(embedder: Embedder) -> None:
    """For those who have the same rights: others may still see no document."""
    asks = "How do I purge a rabbitmq queue?"
    before = asked(asks, 1)
    answered = asked(asks.lower(), 2, outcome=Outcome.ANSWERED)
    assert await found(embedder, before, answered) == []
    for_directors = replace(answered, rights=DIRECTORS)
    assert len(await found(embedder, before, for_directors)) == 1
    assert len(await found(embedder, before, answered, asked(asks, 3))) == 1
    earlier = replace(answered, at=NOW - timedelta(days=1))
    assert len(await found(embedder, before, earlier)) == 1


async def test_the_nearest_documents_are_named_best_first(embedder: Embedder) -> None:
    asks = "how do I purge a rabbitmq queue"
    near = [Hit(f"c{number}", f"docs/{number}.md", number / 10) for number in (3, 1)]
    nearer = [Hit("c9", "docs/1.md", 0.4), Hit("c8", "docs/2.md", 0.2), Hit("c7", "docs/0.md", 0.1)]
    (gap,) = await found(embedder, asked(asks, hits=tuple(near)), asked(asks, hits=tuple(nearer)))
    assert gap.documents == (("docs/1.md", 0.4), ("docs/3.md", 0.3), ("docs/2.md", 0.2))


async def test_places_are_named_and_people_are_not(embedder: Embedder) -> None:
    """Private chats are one place, whoever they are with."""
    asks = "where is the laptop of ann@example.org, says @boris_b or <@U77>"
    other = replace(DM, id="D78")
    places = enumerate((OPS, DM, other, OPS))
    rows = [asked(asks, place=place, person=f"slack:U{number}") for number, place in places]
    (gap,) = await found(embedder, *rows)
    assert (gap.count, gap.people) == (4, 4)
    assert sorted((place.kind, place.title) for place in gap.places) == [
        ("channel", "ops"), ("private", ""),
    ]  # fmt: skip
    shown = " ".join((gap.question, *gap.others))
    for name in ("ann@", "boris", "U77"):
        assert name not in shown


async def test_many_questions_are_compared_in_time_that_can_be_waited_for(
    embedder: Embedder,
) -> None:
    """Only the newest are compared; what is empty or the same word breaks nothing."""
    rows = [asked(f"question {number} of {number % 7}", number) for number in range(1200)]
    rows += [asked("???"), asked(""), asked("???")]
    gaps_found = await found(embedder, *rows)
    assert 0 < sum(gap.count for gap in gaps_found) <= 1000


async def test_nothing_asked_is_no_gap(embedder: Embedder) -> None:
    assert await found(embedder) == []
