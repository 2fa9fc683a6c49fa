"""`belay audit` as whoever runs the bot types it."""

from __future__ import annotations

import asyncio
import csv
import json
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from cli_kit import CUT_OFF, Belay

from adapters.sqlite.audit import SqliteAudit
from adapters.sqlite.feedback import SqliteFeedback
from bot.audit import AuditRecord, Hit, Rights
from bot.auditor import AUDIT_FILE
from bot.chat import Place
from bot.cli.audit import Wanted
from bot.feedback import FEEDBACK_FILE, Feedback, Vote
from graph.model import Outcome

NOW = datetime.now(UTC)
ASKED = AuditRecord(
    "00000000000a",
    NOW - timedelta(hours=1),
    "telegram:42",
    Place("telegram", "-100", "group", title="Дежурные"),
    "ask",
    "where is the runbook of PatroniNoLeader?",
    "",
    Rights("default", ("staff",), (("all",),)),
    (Hit("c1", "docs/patroni.md", 0.91),),
    ("c1",),
    Outcome.ANSWERED,
    12.0,
    0,
)
OLD = replace(
    ASKED, question_id="00000000000b", at=NOW - timedelta(days=8), person="slack:U1",
    place=Place("slack", "C1", "channel", "17.5", "ops"), question="how do I purge rabbitmq?",
    hits=(), cited=(), outcome=Outcome.NOT_FOUND,
)  # fmt: skip


@pytest.fixture
def belay(tmp_path: Path) -> Belay:
    home = tmp_path / "home"
    asked(home, ASKED, OLD)
    vote = Feedback(ASKED.question_id, "telegram:43", Vote.DOWN, NOW)
    asyncio.run(SqliteFeedback(home / FEEDBACK_FILE).save(vote))
    return Belay(home)


def asked(home: Path, *records: AuditRecord) -> None:
    async def write() -> None:
        for record in records:
            await SqliteAudit(home / AUDIT_FILE).save(record)

    asyncio.run(write())


def found(belay: Belay, *words: str) -> list[str]:
    shown = belay("audit", "--json", *words)
    assert shown.code == 0, shown.err
    return [row["question_id"][-1] for row in shown.json]


def test_what_was_asked_in_the_terminal_is_listed(indexed: Belay, tmp_path: Path) -> None:
    belay = indexed.copy(tmp_path / "home")
    belay("chat", "--level", "staff", typed=f"{CUT_OFF}\nhow do I purge rabbitmq?\n")
    belay("ask", "what does error WB-5031 mean")
    belay("why", "which port does staging use")
    rows: list[dict[str, Any]] = belay("audit", "--json").json
    assert [(row["way"], row["question"][:12]) for row in rows] == [
        ("why", "which port d"), ("ask", "what does er"), ("ask", "how do I pur"),
        ("ask", CUT_OFF[:12]),
    ]  # fmt: skip
    first, last = rows[-1], rows[0]
    assert (first["person"], first["outcome"]) == ("console:terminal", "answered")
    assert (first["levels"], last["levels"][0]) == (["staff"], "administrator")
    assert first["retrieved"][0]["document"].endswith("payout-batch-stuck.md")
    assert first["relevance"] == first["retrieved"][0]["relevance"] > 0.75
    assert first["cited"]
    assert rows[-2]["outcome"] == "not_found"
    table = belay("audit").out
    assert table.index("WB-5031") < table.index(CUT_OFF)


def test_a_secret_in_a_question_is_shown_nowhere(indexed: Belay, tmp_path: Path) -> None:
    belay = indexed.copy(tmp_path / "home").with_(MODEL_KEY="the-own-key-of-the-model")
    belay("ask", "is xoxb-1234567890-abcdefghij, password: Hunter2Xyz9 or the-own-key-of-the-model"
          " for staging?")  # fmt: skip
    shown = belay("audit", "--json").out + belay("audit").out + belay("gaps").out
    held = b"".join(path.read_bytes() for path in belay.home.glob("audit.db*")).decode("latin-1")
    assert "staging" in shown
    assert "staging" in held
    for secret in ("abcdefghij", "Hunter2Xyz9", "own-key-of"):
        assert secret not in shown + held


def test_filters_narrow_together(belay: Belay) -> None:
    words = ("--since", "7d", "--person", "telegram:42", "--place", "дежурные", "--outcome",
             "answered", "--contains", "PATRONI", "--limit", "1")  # fmt: skip
    assert found(belay, *words) == ["a"]
    assert found(belay, *words[:-2], "--outcome", "not-found", "--since", "9d") == ["a"]
    assert found(belay, "--outcome", "not_found") == ["b"]


@pytest.mark.parametrize(
    ("option", "typed", "ids"),
    [
        ("since", "7d", "a"),
        ("since", "2w", "ab"),
        ("since", "30m", ""),
        ("since", " 2 h ", "a"),
        pytest.param("since", (NOW - timedelta(days=9)).date().isoformat(), "ab", id="since-day"),
        pytest.param("since", (NOW - timedelta(hours=2)).isoformat(), "a", id="since-moment"),
        ("person", "slack:U1", "b"),
        ("person", "telegram:4", ""),
        ("place", "telegram:-100", "a"),
        ("place", "telegram:-100:chat", "a"),
        ("place", "дежурные", "a"),
        ("place", "slack:C1", "b"),
        ("place", "slack:C1:17.5", "b"),
        ("outcomes", ("NOT-FOUND",), "b"),
        ("outcomes", ("not_found", "answered"), "ab"),
        ("contains", "purge RABBITMQ", "b"),
    ],
)
def test_a_filter_is_understood(option: str, typed: object, ids: str) -> None:
    query = Wanted(**{option: typed}).query(NOW)  # type: ignore[arg-type]
    assert [item.question_id[-1] for item in (ASKED, OLD) if query.admits(item)] == list(ids)


@pytest.mark.parametrize(
    ("words", "named"),
    [
        (("--since", "yesterday"), "'yesterday'"),
        (("--since", "2026-13-01"), "'2026-13-01'"),
        (("--outcome", "lost"), "'lost'"),
        (("--limit", "0"), "--limit"),
        (("--export", "audit.txt"), "audit.txt"),
    ],
)
def test_a_wrong_option_is_named(belay: Belay, words: tuple[str, ...], named: str) -> None:
    belay("audit", *words).failed(2, named)


def test_votes_stand_beside_their_question(belay: Belay) -> None:
    rows = belay("audit", "--json").json
    assert [(row["votes_up"], row["votes_down"]) for row in rows] == [(0, 1), (0, 0)]
    assert "-1" in belay("audit").out


def test_a_long_audit_is_shown_in_part(tmp_path: Path) -> None:
    home = tmp_path / "home"
    asked(home, *(replace(ASKED, question_id=f"{number:012x}") for number in range(60)))
    shown = Belay(home)("audit")
    assert len(shown.out.splitlines()) == 51
    assert "50 of 60" in shown.err
    assert len(Belay(home)("audit", "--limit", "55").out.splitlines()) == 56


def test_nothing_was_asked_yet(tmp_path: Path) -> None:
    shown = Belay(tmp_path / "home")("audit")
    assert (shown.code, shown.out) == (0, "")
    assert "No such questions" in shown.err


def test_a_file_of_json_lines(belay: Belay, tmp_path: Path) -> None:
    file = tmp_path / "audit.jsonl"
    assert "2 questions" in belay("audit", "--export", file).err
    rows = [json.loads(line) for line in file.read_text("utf-8").splitlines()]
    assert rows == belay("audit", "--json").json
    assert "1 question" in belay("audit", "--export", file, "--person", "slack:U1").err
    assert len(file.read_text("utf-8").splitlines()) == 1


def test_a_file_for_a_spreadsheet(belay: Belay, tmp_path: Path) -> None:
    file = tmp_path / "Audit.CSV"
    belay("audit", "--export", file)
    with file.open(encoding="utf-8", newline="") as lines:
        first, second = csv.DictReader(lines)
    assert (first["place_title"], first["question"]) == ("Дежурные", ASKED.question)
    assert (first["retrieved"], first["relevance"], first["votes_down"]) == ("c1", "0.91", "1")
    assert (second["retrieved"], second["outcome"], second["levels"]) == ("", "not_found", "staff")


def test_a_question_is_no_formula_of_a_spreadsheet(tmp_path: Path) -> None:
    questions = ['=HYPERLINK("http://evil")', "+1", "-1", "@SUM(A1)", "\t=1"]
    rows = [
        replace(ASKED, question_id=f"{number}", question=question)
        for number, question in enumerate(questions)
    ]
    asked(tmp_path / "home", *rows)
    Belay(tmp_path / "home")("audit", "--export", tmp_path / "audit.csv")
    with (tmp_path / "audit.csv").open(encoding="utf-8", newline="") as lines:
        shown = {row["question"] for row in csv.DictReader(lines)}
    assert shown == {f"'{question}" for question in questions}


def test_a_question_cannot_steer_the_terminal(tmp_path: Path) -> None:
    place = replace(ASKED.place, title="ops\x1b]0;owned\x07\nforged row")
    asked(tmp_path / "home", replace(ASKED, question="\x1b[2Jgone\r\nforged row", place=place))
    shown = Belay(tmp_path / "home")("audit")
    assert len(shown.out.splitlines()) == 2
    assert "\x1b" not in shown.out


def test_a_file_that_cannot_be_written(belay: Belay, tmp_path: Path) -> None:
    belay("audit", "--export", tmp_path / "nowhere" / "audit.csv").failed(6, "nowhere")


def test_old_questions_go(belay: Belay) -> None:
    assert found(belay.with_(AUDIT__DAYS="7")) == ["a"]
    assert found(belay) == ["a"]


@pytest.mark.parametrize("name", ["AUDIT__DAYS", "AUDIT__FORGOTTEN"])
def test_a_setting_that_makes_no_sense_is_named(belay: Belay, name: str) -> None:
    belay.with_(**{name: "0"})("audit").failed(2, f"BELAY_{name}")


def test_a_damaged_audit_is_named_and_costs_no_answer(indexed: Belay, tmp_path: Path) -> None:
    belay = indexed.copy(tmp_path / "home")
    (belay.home / AUDIT_FILE).write_text("not a database at all\n" * 100)
    answered = belay("chat", typed=f"{CUT_OFF}\n{CUT_OFF}\n")
    assert answered.code == 0
    assert answered.out.count("06:15") >= 2
    assert answered.err.count(AUDIT_FILE) == 1
    belay("audit").failed(6, AUDIT_FILE)
    checked = belay("doctor")
    assert checked.code == 1
    assert AUDIT_FILE in checked.out


def test_doctor_tells_what_is_kept(indexed: Belay, tmp_path: Path) -> None:
    belay = indexed.copy(tmp_path / "home").with_(AUDIT__DAYS="30")
    belay("ask", CUT_OFF)
    (line,) = [line for line in belay("doctor").out.splitlines() if " audit " in line]
    assert "1 question since" in line
    assert "30 days" in line
