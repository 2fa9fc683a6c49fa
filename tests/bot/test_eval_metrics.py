"""The figures of an evaluation, on cases that can be counted by hand."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.evals.metrics import all_parts_at, any_part_at, auroc, quantile, share
from bot.evals.report import report
from bot.evals.rows import Part, Row
from bot.evals.run import Result
from graph.model import Answer, Citation, Outcome, Passage, SourceType
from graph.policy import Policy
from graph.state import ModelCall
from graph.trace import Trace

A, B, C = (Part(frozenset({f"{name}.md"})) for name in "abc")
EITHER = Part(frozenset({"a.md", "copy.md"}))


@pytest.mark.parametrize(
    ("parts", "ranking", "k", "some", "every"),
    [
        ([A], ["a.md", "b.md"], 1, True, True),
        ([A], ["b.md", "a.md"], 1, False, False),
        ([A, B], ["a.md", "c.md", "b.md"], 2, True, False),
        ([A, B], ["a.md", "c.md", "b.md"], 3, True, True),
        ([EITHER], ["copy.md"], 1, True, True),
        ([A], [], 5, False, False),
        ([], ["a.md"], 5, False, False),
    ],
)
def test_recall_is_by_document(
    parts: list[Part], ranking: list[str], k: int, some: bool, every: bool
) -> None:
    assert any_part_at(parts, ranking, k) is some
    assert all_parts_at(parts, ranking, k) is every


@pytest.mark.parametrize(
    ("positive", "negative", "value"),
    [
        ([2, 3], [0, 1], 1.0),
        ([0, 1], [2, 3], 0.0),
        ([1], [1], 0.5),
        ([1, 3], [2], 0.5),
        ([1, 2], [1, 0], 3.5 / 4),
        ([], [1], None),
        ([1], [], None),
    ],
)
def test_auroc_is_the_share_of_pairs_in_the_right_order(
    positive: list[float], negative: list[float], value: float | None
) -> None:
    assert auroc(positive, negative) == value


@given(st.lists(st.integers(-9, 9), min_size=1), st.lists(st.integers(-9, 9), min_size=1))
def test_auroc_is_symmetric(positive: list[float], negative: list[float]) -> None:
    there, back = auroc(positive, negative), auroc(negative, positive)
    assert there is not None
    assert back is not None
    assert there + back == pytest.approx(1)


@pytest.mark.parametrize(
    ("values", "q", "value"),
    [
        ([3, 1, 2], 0.5, 2),
        ([1, 2, 3, 4], 0.5, 2),
        (list(range(1, 101)), 0.99, 99),
        ([5], 0.99, 5),
        ([5, 6], 0.0, 5),
        ([], 0.5, 0),
    ],
)
def test_a_quantile_is_a_value_that_was_measured(
    values: list[float], q: float, value: float
) -> None:
    assert quantile(values, q) == value


def test_a_share_of_nothing_is_no_number() -> None:
    assert share([]) is None
    assert share([True, False, True, True]) == 0.75


ANSWERED, NOT_FOUND = Outcome.ANSWERED, Outcome.NOT_FOUND


def row(name: str, *parts: Part, category: str = "plain", **fields: object) -> Row:
    made = Row(name, "?", "en", category, bool(parts), "full" if parts else "none", parts)
    return replace(made, **fields)  # type: ignore[arg-type]


def result(
    of: Row,
    ranking: Sequence[str],
    outcome: Outcome = ANSWERED,
    *,
    cites: str = "",
    relevance: float = 0.9,
    ms: float = 10.0,
    calls: int = 0,
    web: int = 0,
    query_type: str = "",
) -> Result:
    passage = Passage("c", "eval", SourceType.FOLDER, cites, "T", (), "text", "")
    citations = (Citation(1, passage, relevance),) if cites else ()
    answer = Answer("q", outcome, "text", "en", citations)
    trace = Trace(
        "q", "?", "?", "en", outcome.value, query_type=query_type, relevance=relevance,
        total_ms=ms, calls=tuple(ModelCall("generate", 1.0, 100, 10) for _ in range(calls)),
    )  # fmt: skip
    return Result(of, answer, trace, tuple(ranking), web)


RESULTS = [
    result(row("r1", A, gate="must_answer", type="factual"), ["a.md"], cites="a.md", ms=10,
           query_type="factual"),
    result(row("r2", A, B, gate="must_answer"), ["b.md", "c.md", "a.md"], cites="c.md", ms=20),
    result(row("r3", C, category="hard", lang="ru"), ["a.md", "b.md"], NOT_FOUND, relevance=0.5,
           ms=30, web=1),
    result(row("u1", category="offtopic", gate="must_abstain", type="synthesis"), ["a.md"],
           NOT_FOUND, relevance=0.1, ms=40, query_type="factual"),
    result(row("u2", category="absent", gate="must_abstain"), ["a.md"], cites="a.md",
           relevance=0.8, ms=50, calls=2),
]  # fmt: skip


def test_a_report_counts_what_happened() -> None:
    told = report(RESULTS, Policy())
    assert told["overall"] == {
        "n": 3, "recall_at_1": pytest.approx(2 / 3), "recall_at_5": pytest.approx(2 / 3),
        "all_parts_at_8": pytest.approx(2 / 3),
    }  # fmt: skip
    assert told["single_document"]["n"] == 2
    assert told["by_category"]["hard"]["recall_at_5"] == 0
    assert set(told["by_category"]) == {"plain", "hard"}
    assert told["by_lang"]["en"]["n"] == 2
    assert told["types"] == {"n": 2, "accuracy": 0.5}
    assert told["web_calls_on_answerable"] == 1
    assert told["web_calls_by_category"] == {"hard": 1, "plain": 0}
    assert told["ms"] == {"p50": 30, "p99": 50}
    assert told["model_calls"]["total"] == 2
    assert told["model_calls"]["max"] == 2
    assert told["model_calls"]["tokens"] == 220


def test_answers_and_refusals_are_told_apart() -> None:
    outcomes = report(RESULTS, Policy())["outcomes"]
    assert outcomes["answerable"] == {"answered": 2, "not_found": 1}
    assert outcomes["unanswerable"] == {"answered": 1, "not_found": 1}
    assert outcomes["false_answers"] == 0.5
    assert outcomes["false_refusals"] == pytest.approx(1 / 3)


def test_the_share_over_each_threshold_is_by_group() -> None:
    passing = report(RESULTS, Policy())["passing"]
    assert passing["floor"]["threshold"] == 0.44
    assert passing["floor"]["answerable"] == 1
    assert passing["factual"]["answerable"] == pytest.approx(2 / 3)
    assert passing["factual"]["unanswerable"] == 0.5
    assert passing["certain"]["hard"] == 0


def test_the_gate_names_what_may_not_go_wrong() -> None:
    """An answer from a page that does not hold the fact is no right answer."""
    gate = report(RESULTS, Policy())["gate"]
    assert (gate["must_answer"], gate["must_abstain"]) == (2, 2)
    assert gate["failed"] == ["r2", "u2"]


def test_nothing_asked_is_nothing_reported() -> None:
    told = report([], Policy())
    assert told["overall"]["n"] == 0
    assert told["overall"]["recall_at_1"] is None
    assert told["auroc"] == {"all": None}
