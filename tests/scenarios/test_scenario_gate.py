"""The gate of a release: the example questions that must be answered, and those that must not."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from bot.evals.report import report
from bot.evals.rows import load_rows
from bot.evals.run import CountedWeb, ask_all, scratch
from bot.progress import Silent
from bot.settings import Settings

EXAMPLES = Path(__file__).parents[2] / "examples"


@pytest.fixture
async def figures(tmp_path: Path) -> AsyncIterator[dict[str, Any]]:
    """What `belay eval` reports on the example questions, without a model."""
    rows = [row for row in load_rows(EXAMPLES / "questions.jsonl") if row.gate]
    web = CountedWeb()
    async with scratch(Settings(home=tmp_path), EXAMPLES / "docs", web, Silent()) as app:
        results = await ask_all(app, rows, web, Silent())
        yield report(results, app.machine.policy)


async def test_every_question_of_the_gate_ends_as_it_must(figures: dict[str, Any]) -> None:
    gate = figures["gate"]
    assert gate["must_answer"] >= 25
    assert gate["must_abstain"] >= 15
    assert gate["failed"] == []
