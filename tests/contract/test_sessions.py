"""The contract of the session log: every store of turns keeps these promises."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path

import pytest
from contract.redis_prefix import redis_of

from adapters.memory.sessions import MemorySessions
from adapters.redis.sessions import RedisSessions
from adapters.sqlite.sessions import SqliteSessions
from bot.errors import StorageError
from bot.sessions import Role, Selection, SessionLog, SessionTurn
from graph.model import Scope, SourceType

START = datetime(2026, 3, 2, 3, 0, tzinfo=UTC)
MINUTE, HOUR = timedelta(minutes=1), timedelta(hours=1)
Make = Callable[..., SessionLog]


@pytest.fixture(params=["memory", "sqlite", "redis"])
async def make(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Make]:
    match request.param:
        case "memory":
            yield MemorySessions
        case "sqlite":
            yield partial(SqliteSessions, tmp_path / "home" / "turns.db")
        case _:
            async with redis_of(request) as server:
                yield partial(RedisSessions, server)


@pytest.fixture
def log(make: Make) -> SessionLog:
    return make(pause=HOUR)


def turn(
    name: str,
    at: datetime = START,
    *,
    person: str = "slack:U1",
    conversation: str = "slack:C1:",
    role: Role = "message",
    text: str = "",
) -> SessionTurn:
    place = ":".join(conversation.split(":")[:2])
    return SessionTurn(name, role, conversation, f"{place}:chat", person, text or name, at)


def names(turns: object) -> list[str]:
    assert isinstance(turns, list)
    return [one.id for one in turns]


async def test_a_turn_comes_back_as_it_was(log: SessionLog) -> None:
    said = SessionTurn(
        "q1:answer",
        "answer",
        "slack:C1:170.1",
        "slack:C1:chat",
        "slack:U1",
        "Ответ: `drain` the node.",
        datetime.fromisoformat("2026-03-02T06:00:00+03:00"),
        question_id="q1",
        scope=Scope(
            tenant="acme",
            levels=frozenset({"staff", "senior"}),
            labels=frozenset({"sre"}),
            now=START,
            source_types=frozenset({SourceType.FOLDER}),
            place="slack:C1:chat",
        ),
        verified=True,
        behind=(("runbooks", "db/failover.md"),),
        link="https://chat.example/C1/170",
        said="@belay how?",
    )
    await log.add([said])
    (found,) = await log.recent("slack:C1:170.1", 10)
    assert replace(found, session="") == said
    assert found.session


async def test_the_last_turns_of_a_conversation(log: SessionLog) -> None:
    await log.add([turn("a"), turn("b"), turn("x", conversation="slack:C2:"), turn("c")])
    assert names(await log.recent("slack:C1:", 2)) == ["b", "c"]
    assert names(await log.recent("slack:C1:", 9)) == ["a", "b", "c"]
    assert names(await log.recent("slack:C1:", 0)) == []
    assert names(await log.recent("slack:C", 9)) == []


async def test_a_turn_recorded_again_is_still_one(log: SessionLog) -> None:
    """A question that another process works on again is one question."""
    await log.add([turn("a"), turn("b")])
    await log.add([turn("a", text="a better answer")])
    found = await log.recent("slack:C1:", 9)
    assert [(one.id, one.text) for one in found] == [("a", "a better answer"), ("b", "b")]


async def test_an_answer_of_the_same_moment_stands_below_its_question(log: SessionLog) -> None:
    await log.add([turn("z:question"), turn("a:answer"), turn("m:message")])
    assert names(await log.recent("slack:C1:", 9)) == ["z:question", "a:answer", "m:message"]
    assert [one.id for one in await log.all()] == ["z:question", "a:answer", "m:message"]


async def test_a_place_that_moves_keeps_its_sessions_apart(log: SessionLog) -> None:
    moments = [START, START + MINUTE, START + 5 * HOUR]
    await log.add([turn(str(n), at, conversation="telegram:-1:") for n, at in enumerate(moments)])
    before = [(one.id, one.session) for one in await log.recent("telegram:-1:", 9)]
    await log.move("telegram:-1:", "telegram:-100:")
    after = await log.recent("telegram:-100:", 9)
    assert [(one.id, one.session) for one in after] == before
    assert list(await log.recent("telegram:-1:", 9)) == []


async def test_a_pause_begins_a_new_session(log: SessionLog) -> None:
    moments = [START, START + 30 * MINUTE, START + 89 * MINUTE, START + 150 * MINUTE]
    await log.add([turn(str(n), at) for n, at in enumerate(moments)])
    sessions = [one.session for one in await log.recent("slack:C1:", 9)]
    assert sessions[0] == sessions[1] == sessions[2] != sessions[3]


async def test_a_thread_is_one_session_however_long_it_rests(log: SessionLog) -> None:
    thread = "slack:C1:170.1"
    days = [turn(str(n), START + n * 24 * HOUR, conversation=thread) for n in range(3)]
    await log.add(days)
    assert len({one.session for one in await log.recent(thread, 9)}) == 1


async def test_what_is_imported_later_stands_where_it_was_said(log: SessionLog) -> None:
    await log.add([turn("new", START + 5 * HOUR)])
    await log.add([turn("old", START)])
    found = await log.recent("slack:C1:", 9)
    assert [one.id for one in found] == ["old", "new"]
    assert found[0].session != found[1].session
    assert names(await log.recent("slack:C1:", 1)) == ["new"]


async def test_a_place_that_others_joined_begins_a_new_session(log: SessionLog) -> None:
    shared = replace(turn("b"), talk="slack:C1:shared")
    await log.add([turn("a"), shared])
    first, second = await log.recent("slack:C1:", 9)
    assert first.session != second.session


async def test_a_session_keeps_its_last_turns(make: Make) -> None:
    log = make(stored=3, pause=HOUR)
    await log.add([turn(f"old{n}", START) for n in range(2)])
    await log.add([turn(f"new{n}", START + 3 * HOUR + n * MINUTE) for n in range(5)])
    kept = names(await log.recent("slack:C1:", 9))
    assert kept == ["old0", "old1", "new2", "new3", "new4"]


async def test_all_turns_stand_session_by_session(log: SessionLog) -> None:
    await log.add([turn("a"), turn("x", conversation="slack:C2:"), turn("b")])
    found = [one.id for one in await log.all()]
    assert sorted(found) == ["a", "b", "x"]
    assert found.index("b") == found.index("a") + 1


PEOPLE = [
    turn("ann here"),
    turn("bob here", person="slack:U2"),
    turn("ann in a thread", conversation="slack:C1:170.1"),
    turn("ann elsewhere", conversation="slack:C2:"),
    turn("ann in C11", conversation="slack:C11:"),
    turn("U11 here", person="slack:U11"),
]


@pytest.mark.parametrize(
    ("selection", "gone"),
    [
        (Selection(), set()),
        (Selection("slack:U1", "slack:C1:"), {"ann here"}),
        (Selection(conversation="slack:C1:"), {"ann here", "bob here", "U11 here"}),
        (Selection("slack:U1", place="slack:C1:"), {"ann here", "ann in a thread"}),
        (
            Selection("slack:U1"),
            {"ann here", "ann in a thread", "ann elsewhere", "ann in C11"},
        ),
        (Selection("slack:U%"), set()),
        (Selection(place="slack:C_:"), set()),
    ],
)
async def test_se_03_what_is_forgotten_is_gone_and_nothing_else(
    log: SessionLog, selection: Selection, gone: set[str]
) -> None:
    await log.add(PEOPLE)
    assert {one.id for one in await log.forget(selection)} == gone
    left = {one.id for one in await log.all()}
    assert left == {one.id for one in PEOPLE} - gone
    assert list(await log.forget(selection)) == []


async def test_a_place_that_moves_keeps_what_was_said(log: SessionLog) -> None:
    await log.add([turn("a", conversation="telegram:-1:"), turn("b", conversation="telegram:-12:")])
    await log.move("telegram:-1:", "telegram:-100:")
    (moved,) = await log.recent("telegram:-100:", 9)
    assert (moved.id, moved.talk) == ("a", "telegram:-100:chat")
    assert names(await log.recent("telegram:-12:", 9)) == ["b"]


async def test_two_processes_lose_no_turn(tmp_path: Path) -> None:
    """SE-07: both add to one thread; every turn is there, in one session."""
    one, two = (SqliteSessions(tmp_path / "turns.db") for _ in range(2))
    async with asyncio.TaskGroup() as group:
        for number in range(25):
            group.create_task(one.add([turn(f"a{number}")]))
            group.create_task(two.add([turn(f"b{number}")]))
    found = await one.recent("slack:C1:", 99)
    assert {item.id for item in found} == {f"{who}{n}" for who in "ab" for n in range(25)}
    assert len({item.session for item in found}) == 1


async def test_rd_07_a_redis_keeps_a_bounded_number_of_turns(
    request: pytest.FixtureRequest,
) -> None:
    async with redis_of(request) as server:
        log = RedisSessions(server, kept=5, pause=HOUR)
        await log.add([turn(str(n), START + n * 2 * HOUR) for n in range(9)])
        assert names(await log.recent("slack:C1:", 99)) == ["4", "5", "6", "7", "8"]
        assert len(await log.all()) == 5


async def test_a_file_that_is_no_log_is_reported(tmp_path: Path) -> None:
    path = tmp_path / "turns.db"
    path.write_bytes(b"this is no database" * 100)
    with pytest.raises(StorageError, match=r"turns\.db"):
        await SqliteSessions(path).add([turn("a")])
