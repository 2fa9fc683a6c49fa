"""`belay gaps` as whoever runs the bot types it."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from cli_kit import Belay
from test_cli_audit import ASKED, NOW, OLD, asked

from adapters.sqlite.feedback import SqliteFeedback
from bot.audit import Hit
from bot.chat import Place
from bot.feedback import FEEDBACK_FILE, Feedback, Vote

PURGE = replace(OLD, hits=(Hit("c1", "docs/queues.md", 0.31),))


@pytest.fixture
def belay(tmp_path: Path) -> Belay:
    """Three people asked how to purge a queue, one of them in private, and one answer was bad."""
    home = tmp_path / "home"
    asked(
        home,
        PURGE,
        replace(PURGE, question_id="1", person="slack:U2", question="purge rabbitmq"),
        replace(PURGE, question_id="2", person="telegram:4711", at=datetime.now(UTC),
                place=Place("telegram", "4711"), question="как очистить очередь rabbitmq"),
        ASKED,
    )  # fmt: skip
    vote = Feedback(ASKED.question_id, "telegram:43", Vote.DOWN, NOW)
    asyncio.run(SqliteFeedback(home / FEEDBACK_FILE).save(vote))
    return Belay(home)


def test_what_is_missing_most_comes_first_and_names_nobody(belay: Belay) -> None:
    shown = belay("gaps")
    assert shown.code == 0, shown.err
    first, second = shown.out.index("3× "), shown.out.index("1× where is the runbook")
    assert first < second
    assert "rabbitmq" in shown.out[first:second]
    assert "3 not found; 3 people in ops, telegram, in private" in shown.out
    assert "nearest: docs/queues.md (0.31)" in shown.out
    assert NOW.astimezone().date().isoformat() in shown.out
    assert "1 rated down" in shown.out[second:]
    for name in ("4711", "slack:U", "telegram:4"):
        assert name not in shown.out


def test_for_a_script(belay: Belay) -> None:
    first, second = belay("gaps", "--json").json
    assert (first["count"], first["people"], first["reasons"]) == (3, 3, {"not_found": 3})
    assert first["places"] == ["ops", "telegram, in private"]
    assert first["documents"] == [{"document": "docs/queues.md", "relevance": 0.31}]
    assert second["reasons"] == {"rated_down": 1}


def test_since_a_time_and_no_more_than_asked_for(belay: Belay) -> None:
    shown = belay("gaps", "--since", "30m")
    assert "1× " in shown.out
    assert "runbook" not in shown.out
    shown = belay("gaps", "--limit", "1")
    assert "runbook" not in shown.out
    assert "1 of 2 gaps" in shown.err
    belay("gaps", "--since", "soon").failed(2, "'soon'")


def test_nothing_is_missing(tmp_path: Path) -> None:
    asked(tmp_path / "home", replace(ASKED, at=NOW - timedelta(minutes=1)))
    shown = Belay(tmp_path / "home")("gaps")
    assert (shown.code, shown.out) == (0, "")
    assert "Nothing is missing" in shown.err
