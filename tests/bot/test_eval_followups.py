"""`belay eval followups`: what counts as understood, on conversations counted by hand."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from cli_kit import EXAMPLES, Belay

from bot.errors import SourceError
from bot.evals.conversations import Conversation, load_conversations
from bot.evals.followups import Resolution, followups_report, followups_table
from bot.evals.rows import Part

STAGING: dict[str, Any] = {
    "id": "f1",
    "kind": "needs_context",
    "lang": "en",
    "turns": [
        {"who": "ann", "text": "which port does payout use on production?"},
        {"who": "bot", "text": "Payout listens on 8443 [1]."},
    ],
    "last": {"who": "ann", "text": "and on staging?"},
    "standalone": "which port does payout use on staging?",
    "must_have": [["payout", "payouts"], ["staging", "stage"]],
    "must_not": ["production"],
}
SWITCH: dict[str, Any] = {
    **STAGING,
    "id": "f2",
    "kind": "topic_switch",
    "last": {"who": "ann", "text": "who approves a refund?"},
    "standalone": "who approves a refund?",
    "must_have": [["refund"]],
    "must_not": ["payout"],
}


def wrote(path: Path, *rows: dict[str, Any]) -> Path:
    path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows))
    return path


def loaded(tmp_path: Path, row: dict[str, Any]) -> Conversation:
    (found,) = load_conversations(wrote(tmp_path / "rows.jsonl", row))
    return found


def test_the_asker_is_told_apart_from_the_others(tmp_path: Path) -> None:
    turns = [{"who": "bob", "text": "my disk is full"}, *STAGING["turns"]]
    row = loaded(tmp_path, {**STAGING, "turns": turns, "gold_docs": ["a.md"], "alt_docs": ["b.md"]})
    assert [turn.who for turn in row.history] == ["bob", "user", "bot"]
    assert row.parts == (Part(frozenset({"a.md", "b.md"})),)


@pytest.mark.parametrize(
    ("resolved", "right"),
    [
        ("Which port does PAYOUT use on stage?", True),
        ("and on staging?", False),  # payout is missing
        ("payout on staging, not production", False),
        ("payout staging " + "and so on " * 20, False),  # longer than twice the labelled one
    ],
)
def test_a_follow_up_says_what_it_must_and_nothing_else(
    tmp_path: Path, resolved: str, right: bool
) -> None:
    assert Resolution(loaded(tmp_path, STAGING), resolved, 0).right is right


@pytest.mark.parametrize(
    ("resolved", "right"),
    [
        ("who approves a refund?", True),
        ("who  approves a refund?\n", True),
        ("who approves the refund?", False),
        ("port: who approves a refund?", False),
    ],
)
def test_a_question_that_stands_alone_passes_unchanged(
    tmp_path: Path, resolved: str, right: bool
) -> None:
    assert Resolution(loaded(tmp_path, SWITCH), resolved, 0).right is right


def test_one_spelling_of_a_letter_is_as_good_as_another(tmp_path: Path) -> None:
    row = loaded(tmp_path, {**STAGING, "must_have": [["ещё"]], "standalone": "проверь еще раз"})
    assert Resolution(row, "Проверь ЕЩЕ раз", 0).right


def test_figures_by_kind_with_recall_only_where_documents_hold_the_answer(tmp_path: Path) -> None:
    follow_up = loaded(tmp_path, {**STAGING, "gold_docs": ["payout.md"]})
    switch = loaded(tmp_path, SWITCH)
    others = ("a.md", "b.md", "c.md", "d.md", "e.md")
    figures = followups_report(
        [
            Resolution(follow_up, "payout on staging", 1, ("payout.md",), (*others, "payout.md")),
            Resolution(switch, "payout: who approves a refund?", 0),
        ]
    )
    assert figures["overall"]["right"] == 0.5
    assert figures["overall"]["model_calls"] == 1
    assert figures["overall"]["recall_at_5"] == 1.0
    assert figures["overall"]["recall_at_5_as_typed"] == 0.0
    assert figures["by_kind"]["topic_switch"]["unchanged"] == 0.0
    assert figures["by_kind"]["topic_switch"]["recall_at_5"] is None
    assert figures["by_kind"]["needs_context"]["unchanged"] is None
    (wrong,) = figures["wrong"]
    assert (wrong["id"], wrong["forbidden"], wrong["changed"]) == ("f2", ["payout"], True)
    table = followups_table(figures)
    assert {len(row) for row in table.rows} == {len(table.columns)}


def test_without_documents_the_table_speaks_of_no_recall(tmp_path: Path) -> None:
    table = followups_table(
        followups_report([Resolution(loaded(tmp_path, STAGING), "and on staging?", 0)])
    )
    assert "recall@5" not in table.columns


@pytest.mark.parametrize(
    ("change", "word"),
    [
        ({"last": "and on staging?"}, "last"),
        ({"last": {"who": "ann"}}, "text"),
        ({"standalone": ""}, "standalone"),
        ({"must_have": ["payout"]}, "must_have"),
        ({"turns": ["hello"]}, "turns"),
    ],
)
def test_a_line_that_cannot_be_measured_is_named(
    tmp_path: Path, change: dict[str, Any], word: str
) -> None:
    path = wrote(tmp_path / "rows.jsonl", STAGING, {**STAGING, **change})
    with pytest.raises(SourceError, match=rf"rows\.jsonl:2.*{word}"):
        load_conversations(path)


def test_the_command_prints_a_table_and_writes_the_figures(tmp_path: Path) -> None:
    path = wrote(tmp_path / "rows.jsonl", STAGING, SWITCH)
    figures = tmp_path / "figures.json"
    ended = Belay(tmp_path / "home")("eval", "followups", path, "--json", figures)
    assert ended.code == 0, ended.err
    assert "needs_context" in ended.out
    found = json.loads(figures.read_text())
    assert found["overall"] == {
        "n": 2,
        "right": 1.0,
        "must_pass_unchanged": 1,
        "unchanged": 1.0,
        "too_long": 0,
        "model_calls": 0,
        "recall_at_5": None,
        "recall_at_5_as_typed": None,
    }


def test_with_documents_the_resolved_question_is_searched_for(tmp_path: Path) -> None:
    row = {**STAGING, "gold_docs": ["reference/services.md"]}
    path, figures = wrote(tmp_path / "rows.jsonl", row), tmp_path / "figures.json"
    home = tmp_path / "home"
    ended = Belay(home)("eval", "followups", path, "--docs", EXAMPLES, "--json", figures)
    assert ended.code == 0, ended.err
    assert "recall@5" in ended.out
    assert json.loads(figures.read_text())["overall"]["recall_at_5"] == 1.0
