"""Each command as a script runs it: output, errors, exit codes."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path

import pytest
import typer.main
from cli_kit import CUT_OFF, EXAMPLES, PATIENCE, Belay

from bot.cli.commands import app

COMMANDS = tuple(typer.main.get_command(app).commands)  # type: ignore[attr-defined]


@pytest.fixture
def fresh(tmp_path: Path) -> Belay:
    return Belay(tmp_path / "home")


def test_help_lists_every_command_with_a_sentence_that_fits(fresh: Belay) -> None:
    shown = fresh("--help")
    assert shown.code == 0
    assert "..." not in shown.out.partition("Commands:")[2]
    listed = [line.split()[0] for line in shown.out.partition("Commands:\n")[2].splitlines()]
    assert sorted(listed) == sorted(COMMANDS)
    assert not fresh.home.exists()


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_explains_itself(fresh: Belay, command: str) -> None:
    shown = fresh(command, "--help")
    assert shown.code == 0
    assert shown.out.startswith(f"Usage: belay {command} ")
    assert shown.err == ""


def test_version(fresh: Belay) -> None:
    assert fresh("--version").out.split()[0] == "belay"


@pytest.mark.parametrize(
    ("words", "named"),
    [
        (("sink",), "sink"),
        (("ask",), "QUESTION"),
        (("ask", "--level", "king", "hello"), "'king'"),
        (("chat", "--level", "king"), "'king'"),
        (("sync", "--wacht"), "--wacht"),
    ],
)
def test_a_wrong_command_line_is_named(fresh: Belay, words: tuple[str, ...], named: str) -> None:
    fresh(*words).failed(2, named)
    assert not fresh.home.exists()


def test_before_anything_is_indexed_every_command_says_what_to_do(fresh: Belay) -> None:
    asked = fresh("ask", CUT_OFF)
    assert asked.code == 1
    assert "belay sync" in asked.out
    asked.without_frames()
    listed = fresh("sources")
    assert (listed.code, listed.out) == (0, "")
    assert "belay sync" in listed.err
    fresh("sync").failed(3, "nothing to sync", "belay sync")
    assert fresh("sources", "--json").json == []


def test_why_before_any_question_and_with_an_id_that_is_gone(fresh: Belay) -> None:
    fresh("why").failed(3, "Nothing was asked yet", "belay why")
    fresh("why", "0123456789ab").failed(3, "0123456789ab")


def test_an_answer_its_trace_and_the_trace_of_another_question(
    indexed: Belay, tmp_path: Path
) -> None:
    belay = indexed.copy(tmp_path / "home")
    asked = belay("ask", CUT_OFF)
    assert asked.code == 0
    assert "06:15" in asked.out
    assert "runbooks/payout-batch-stuck.md" in asked.out
    assert asked.err == ""

    last = belay("why")
    assert CUT_OFF in last.out
    assert "runbooks/payout-batch-stuck.md" in last.out
    trace = belay("why", "--json").json
    assert trace["question"] == CUT_OFF
    assert belay("why", trace["question_id"], "--json").json == trace

    other = belay("why", "how do I purge a rabbitmq queue", "--json").json
    assert other["outcome"] == "not_found"
    assert "rabbitmq" in other["unknown_terms"]
    assert belay("why", "--json").json == other


def test_an_answer_as_json_has_its_evidence(indexed: Belay) -> None:
    answer = indexed("ask", "--json", *CUT_OFF.split()).json
    assert answer["outcome"] == "answered"
    assert answer["confidence"] == "high"
    citation = answer["citations"][0]
    assert citation["relevance"] >= 0.85
    assert citation["passage"]["document"] == "runbooks/payout-batch-stuck.md"
    assert datetime.fromisoformat(citation["passage"]["updated_at"]).year == 2026
    assert citation["passage"]["id"]
    assert answer["trace"]["question_id"] == answer["question_id"]


def test_level_hides_documents_for_others(tmp_path: Path) -> None:
    docs = tmp_path / "docs"
    docs.mkdir()
    secret = "---\naudience: director\n---\n# Payroll\n\nThe payroll server is called goldmine.\n"
    (docs / "payroll.md").write_text(secret)
    belay = Belay(tmp_path / "home")
    assert belay("sync", docs).code == 0
    question = "what is the payroll server called"
    assert "goldmine" in belay("ask", question).out
    assert "goldmine" not in belay("ask", "--level", "staff", question).out


def test_a_question_that_is_no_text(indexed: Belay) -> None:
    asked = indexed("ask", b"bank cut-off \xff\xfe for payouts")  # type: ignore[arg-type]
    assert asked.code == 0
    assert "06:15" in asked.out


def test_piped_questions_whatever_the_lines_look_like(indexed: Belay, tmp_path: Path) -> None:
    belay = indexed.copy(tmp_path / "home")
    typed = b"".join(
        (
            b"\xef\xbb\xbf" + CUT_OFF.encode() + b"\r\n",
            b"\r\n   \r\n",
            "😀🔥\n".encode(),
            b"broken \xff\xfe bytes and rabbitmq\n",
            b"kafka " * 8_333 + b"\n",
            "почему нельзя поднять пул pgbouncer выше 300".encode(),  # no line end
        )
    )
    ended = belay("chat", typed=typed)
    assert ended.code == 0
    assert ended.err == ""
    prompts = [line for line in ended.out.splitlines() if line.startswith("> ")]
    assert prompts[0] == f"> {CUT_OFF}"
    beginnings = ("> 😀🔥", "> broken \ufffd", "> kafka kafka", "> почему нельзя")
    assert all(map(str.startswith, prompts[1:], beginnings))
    assert len(prompts) == 1 + len(beginnings)
    assert max(map(len, prompts)) < 300
    assert "06:15" in ended.out
    assert "no question" in ended.out
    assert "read its beginning and its end" in ended.out
    assert "waybill-pool-exhausted.ru.md" in ended.out


def test_questions_from_a_file_of_windows(indexed: Belay, tmp_path: Path) -> None:
    questions = tmp_path / "questions.txt"
    questions.write_text(f"{CUT_OFF}\r\n", encoding="utf-16")
    with questions.open("rb") as file:
        process = indexed.start("chat", stdin=file)
        assert "06:15" in indexed.end(process).out


def test_run_syncs_and_then_chats(indexed: Belay, tmp_path: Path) -> None:
    belay = indexed.copy(tmp_path / "home")
    ended = belay("run", typed=CUT_OFF)
    assert ended.code == 0
    assert "26 unchanged" in ended.err
    assert ended.out.startswith(f"> {CUT_OFF}")
    assert "06:15" in ended.out


def test_forget_takes_a_source_out_and_names_those_there_are(
    indexed: Belay, tmp_path: Path
) -> None:
    belay = indexed.copy(tmp_path / "home")
    belay("forget", "dogs").failed(3, "'dogs'", "docs")
    assert belay("forget", "docs").out == "docs: 56 chunks removed\n"
    assert belay("sources", "--json").json == []
    assert EXAMPLES.is_dir()


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no device that is always full")
@pytest.mark.parametrize("words", [("sources",), ("ask", CUT_OFF)])
def test_an_output_that_is_full_is_named(indexed: Belay, words: tuple[str, ...]) -> None:
    with Path("/dev/full").open("wb") as full:
        process = indexed.start(*words, stdout=full)
        _, err = process.communicate(timeout=PATIENCE)
    assert process.returncode == 1
    assert b"No space left on device" in err
    assert b"uncaught" not in err
    assert b"Exception" not in err


@pytest.mark.parametrize("file", ["turns.db", "sessions.db"])
def test_the_doctor_names_a_damaged_file_of_conversations(
    indexed: Belay, tmp_path: Path, file: str
) -> None:
    """Questions are answered without it, so nobody else tells."""
    belay = indexed.copy(tmp_path / "home")
    (belay.home / file).write_bytes(b"no database" * 100)
    checked = belay("doctor", "--json")
    bad = [row for row in checked.json if row["state"] == "bad"]
    assert [row["check"] for row in bad] == ["sessions"]
    assert file in bad[0]["message"]
    assert "away" in bad[0]["remedy"]


def test_doctor_as_json(indexed: Belay) -> None:
    checked = indexed("doctor", "--json")
    assert checked.code == 0
    states = {row["check"]: row["state"] for row in checked.json}
    assert (
        dict.fromkeys(
            (
                *("settings", "home", "embedder", "index"),
                *("schedules", "sessions", "audit", "telemetry"),
            ),
            "ok",
        )
        | {"model": "note", "web": "note"}
        == states
    )
