"""The file behind `belay why`: bounded, private, and robust against damage."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from bot.traces import KEPT, TraceLog
from graph.trace import Trace


def traced(number: int | str, question: str = "why?") -> Trace:
    return Trace(f"q{number}", question, question, "en", "answered")


async def test_the_last_trace_and_any_by_its_id_are_found(tmp_path: Path) -> None:
    log = TraceLog(tmp_path / "home")
    assert await log.last() is None
    for number in (1, 2, 3):
        await log.add(traced(number))
    assert (await log.last() or {})["question_id"] == "q3"
    assert (await log.by_id("q2") or {})["question_id"] == "q2"
    assert await log.by_id("q9") is None


async def test_of_two_traces_with_one_id_the_later_counts(tmp_path: Path) -> None:
    log = TraceLog(tmp_path)
    await log.add(traced(1, "first"))
    await log.add(traced(1, "second"))
    assert (await log.by_id("q1") or {})["question"] == "second"


async def test_the_file_stays_small(tmp_path: Path) -> None:
    log = TraceLog(tmp_path)
    for number in range(KEPT + 100):
        await log.add(traced(number))
    kept = (tmp_path / "why.jsonl").read_text("utf-8").splitlines()
    assert KEPT <= len(kept) <= KEPT + 50
    assert (await log.last() or {})["question_id"] == f"q{KEPT + 99}"


@pytest.mark.parametrize(
    ("question", "secret"),
    [
        ("why is password: hunter2Xy refused", "hunter2Xy"),
        ('password="hunter2Xy9" does not work', "hunter2Xy9"),
        ('{"password": "hunter2Xy9"} is refused', "hunter2Xy9"),
        ("token: 'a8f9e7d6c5b4a3f2e1d0'", "a8f9e7d6c5b4a3f2e1d0"),
        ("Authorization: Bearer abcdefghijk123", "abcdefghijk123"),
        ("xoxb-1234567890-abcdefghij is refused", "xoxb-1234567890-abcdefghij"),
        ("postgres://app:s3cretPw@db/x fails", "s3cretPw"),
        ("пароль: Qwerty123!", "Qwerty123"),
        (
            "-----BEGIN RSA PRIVATE KEY-----\nMIIEabc123def456\n-----END RSA PRIVATE KEY-----",
            "MIIEabc123def456",
        ),
    ],
)
async def test_secrets_of_a_question_do_not_reach_the_disk(
    tmp_path: Path, question: str, secret: str
) -> None:
    log = TraceLog(tmp_path)
    await log.add(traced(1, question))
    assert secret not in (tmp_path / "why.jsonl").read_text("utf-8")
    assert "[masked]" in (await log.last() or {})["question"]


@pytest.mark.parametrize(
    "question",
    [
        "a\u2028b\u2029c\x85d\x0be\x0cf\x1cg",
        "two\nlines\r\n",
        "half \ud83d",
        "🔥 под «упал»",
        '"\\',
    ],
)
async def test_any_question_is_read_back(tmp_path: Path, question: str) -> None:
    log = TraceLog(tmp_path)
    await log.add(traced(1, question))
    assert (await log.last() or {})["question"] == question


async def test_lines_that_a_killed_process_left_are_passed_over(tmp_path: Path) -> None:
    log = TraceLog(tmp_path)
    await log.add(traced(1))
    path = tmp_path / "why.jsonl"
    path.write_text(path.read_text("utf-8") + '{"question_id": "q2", "que\n[1]\n"text"\n{}\n')
    assert (await log.last() or {})["question_id"] == "q1"
    await log.add(traced(3))
    assert (await log.last() or {})["question_id"] == "q3"


async def test_a_trace_that_cannot_be_written_costs_no_answer(tmp_path: Path) -> None:
    (tmp_path / "home").write_text("a file where the folder should be")
    log = TraceLog(tmp_path / "home")
    await log.add(traced(1))
    assert await log.last() is None


async def test_traces_of_questions_side_by_side_are_all_kept(tmp_path: Path) -> None:
    log = TraceLog(tmp_path)
    async with asyncio.TaskGroup() as group:
        for number in range(20):
            group.create_task(log.add(traced(number)))
    assert {row["question_id"] for row in await log.all()} == {f"q{n}" for n in range(20)}


@pytest.mark.parametrize(
    "damage", [b"\xff\xfe\x80", b"\0" * 512, '{"question_id": "ъ'.encode()[:-1]]
)
async def test_damage_costs_no_trace_beside_it(tmp_path: Path, damage: bytes) -> None:
    log = TraceLog(tmp_path)
    await log.add(traced(1))
    with (tmp_path / "why.jsonl").open("ab") as file:
        file.write(damage)
    await log.add(traced(2))
    assert (await log.last() or {})["question_id"] == "q2"
    await log.forget(["q2"])
    assert [row["question_id"] for row in await log.all()] == ["q1"]
