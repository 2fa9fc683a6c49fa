"""The verdict over a ranking: thresholds, floor, unknown names, noise."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graph.errors import StoreError
from graph.grading import grade, spread
from graph.model import Passage, QueryType, Ranked, Scores, SourceType, Verdict
from graph.nodes.grade import grade as grade_node
from graph.nodes.retrieve import retrieve as retrieve_node
from graph.policy import Confidence, Policy, confidence
from graph.relevance import relevance
from graph.state import State, SubQuestion, TypeDecision, WebOutcome
from graph.view import QuestionView
from tests.graph.node_run import question, run

POLICY = Policy()
VIEW = QuestionView("how long are backups kept", "en", None, ())


def hit(u: float, document: str = "a.md", *, coverage: float = 0.9, stub: bool = False) -> Ranked:
    passage = Passage(
        f"{document}@{u}", "docs", SourceType.FOLDER, document, document, (), "text", "", stub=stub
    )
    return Ranked(passage, Scores(0.5, 1.0, u, relevance(u), coverage))


def at(value: float, document: str = "a.md", *, coverage: float = 0.9) -> Ranked:
    """A hit of exactly this relevance."""
    item = hit(1.0, document, coverage=coverage)
    return replace(item, scores=replace(item.scores, relevance=value))


def judged(ranked: Sequence[Ranked], kind: QueryType, view: QuestionView = VIEW) -> Verdict:
    return grade(view, ranked, kind, POLICY).verdict


FACTUAL, ANALYTICAL, SYNTHESIS = QueryType


@pytest.mark.parametrize(
    ("kind", "value", "verdict"),
    [
        (FACTUAL, 0.75, Verdict.RELEVANT),
        (FACTUAL, 0.7499, Verdict.PARTIAL),
        (ANALYTICAL, 0.65, Verdict.RELEVANT),
        (ANALYTICAL, 0.6499, Verdict.PARTIAL),
        (SYNTHESIS, 0.60, Verdict.RELEVANT),
        (SYNTHESIS, 0.5999, Verdict.PARTIAL),
        (FACTUAL, 0.44, Verdict.PARTIAL),
        (FACTUAL, 0.4399, Verdict.NONE),
        (SYNTHESIS, 0.0, Verdict.NONE),
    ],
)
def test_each_type_has_its_threshold_and_all_share_the_floor(
    kind: QueryType, value: float, verdict: Verdict
) -> None:
    assert judged([at(value, coverage=0.4)], kind) is verdict


def test_a_little_under_the_floor_counts_when_the_passage_holds_the_words() -> None:
    assert judged([at(0.40, coverage=0.6)], FACTUAL) is Verdict.PARTIAL
    assert judged([at(0.20, coverage=1.0)], FACTUAL) is Verdict.NONE
    unheard = replace(VIEW, unknown=("argocd",))
    assert judged([at(0.40, coverage=0.6)], FACTUAL, unheard) is Verdict.NONE


@given(st.floats(0, 1), st.floats(0, 1), st.sampled_from(list(QueryType)))
def test_more_relevance_never_makes_a_worse_verdict(a: float, b: float, kind: QueryType) -> None:
    order = [Verdict.NONE, Verdict.PARTIAL, Verdict.RELEVANT]
    low, high = sorted((a, b))
    assert order.index(judged([at(low)], kind)) <= order.index(judged([at(high)], kind))


def test_thresholds_are_settings() -> None:
    policy = Policy(factual=0.9, floor=0.8)
    assert grade(VIEW, [at(0.85)], FACTUAL, policy).verdict is Verdict.PARTIAL
    assert grade(VIEW, [at(0.6)], FACTUAL, policy).verdict is Verdict.NONE


def test_nothing_found_is_none() -> None:
    found = grade(VIEW, [], FACTUAL, POLICY)
    assert found.verdict is Verdict.NONE
    assert found.relevance == 0


def test_only_unknown_names_is_none_however_relevant() -> None:
    view = replace(VIEW, named=("ArgoCD", "NATS"), unknown_names=("ArgoCD", "NATS"))
    found = grade(view, [at(0.99)], FACTUAL, POLICY)
    assert found.verdict is Verdict.NONE
    assert found.unknown_terms == ("ArgoCD", "NATS")
    assert "ArgoCD" in found.reason


@pytest.mark.parametrize(
    ("name", "pieces"),
    [
        ("KubePodCrashLooping", ("looping",)),
        ("argo-rollouts", ("argo", "rollouts")),
        ("PgBouncerStalled", ("stalled", "bouncer")),
    ],
)
def test_of_an_unknown_identifier_the_whole_is_named(name: str, pieces: tuple[str, ...]) -> None:
    view = replace(VIEW, unknown=(*pieces, "kargo"), named=(name, "Redis"))
    assert grade(view, [at(0.2)], FACTUAL, POLICY).unknown_terms == (name, "kargo")


def test_one_unknown_name_among_known_ones_makes_an_answer_partial() -> None:
    view = replace(VIEW, named=("ArgoCD", "Redis"), unknown_names=("ArgoCD",))
    assert judged([at(0.80)], FACTUAL, view) is Verdict.PARTIAL
    assert judged([at(0.90)], FACTUAL, view) is Verdict.RELEVANT  # a certain passage
    assert judged([at(0.90, coverage=0.2)], FACTUAL, view) is Verdict.PARTIAL


def test_a_word_and_a_name_that_are_the_same_are_named_once() -> None:
    view = replace(VIEW, unknown=("argocd",), named=("ArgoCD", "X1"), unknown_names=("ArgoCD",))
    assert grade(view, [at(0.7)], FACTUAL, POLICY).unknown_terms == ("ArgoCD",)


def flat(value: float, step: float) -> list[Ranked]:
    """Five documents, each `step` of u under the one before."""
    return [
        replace(
            hit(value - step * number, f"{number}.md"), scores=hit(value - step * number).scores
        )
        for number in range(5)
    ]


def test_everything_fitting_equally_badly_is_noise() -> None:
    assert judged(flat(1.7, 0.05), FACTUAL) is Verdict.NONE  # spread 0.02
    assert judged(flat(1.7, 0.11), FACTUAL) is Verdict.RELEVANT  # spread 0.044
    assert judged(flat(2.1, 0.05), FACTUAL) is Verdict.RELEVANT  # certain: not asked
    assert judged(flat(1.7, 0.05)[:4], FACTUAL) is Verdict.RELEVANT  # too few documents


def test_the_spread_is_a_tenth_of_u_over_distinct_documents() -> None:
    ranked = [hit(2.0, "a.md"), hit(1.9, "a.md"), hit(1.5, "b.md"), hit(1.0, "c.md")]
    assert spread(ranked, 3) == pytest.approx(0.1)
    assert spread(ranked, 4) is None
    copies = [hit(2.0, "v1/a.md"), hit(2.0, "v2/a.md"), hit(1.0, "b.md")]
    assert spread(copies, 3) is None


@pytest.mark.parametrize(
    ("item", "critical"),
    [
        (at(0.9), False),
        (at(0.9, coverage=0.44), True),
        (at(0.5), True),
        (hit(2.0, stub=True), True),
    ],
)
def test_what_may_lack_the_fact_is_read_critically(item: Ranked, critical: bool) -> None:
    assert grade(VIEW, [item], FACTUAL, POLICY).critical is critical


def test_a_grade_says_why() -> None:
    found = grade(VIEW, [at(0.7)], FACTUAL, POLICY)
    assert "0.70" in found.reason
    assert "0.75" in found.reason
    assert found.relevance == 0.7
    assert found.coverage == 0.9


@pytest.mark.parametrize(
    ("value", "level"),
    [(1.0, "high"), (0.85, "high"), (0.84, "medium"), (0.7, "medium"), (0.69, "low"), (0.0, "low")],
)
def test_confidence_has_three_levels(value: float, level: str) -> None:
    assert confidence(value) is Confidence(level)


DECISION = TypeDecision(FACTUAL, "local")


def part(text: str, value: float) -> SubQuestion:
    found = grade(VIEW, [at(value)], FACTUAL, POLICY)
    return SubQuestion(text, DECISION, found, (at(value),))


def state(value: float, *parts: SubQuestion) -> State:
    made: State = {
        "question": question("a and b"),
        "resolved": "a and b",
        "view": VIEW,
        "considered": (at(value),),
        "decision": DECISION,
    }
    return {**made, "parts": parts} if parts else made


async def test_the_node_grades_the_candidates() -> None:
    ran = await run(grade_node, state(0.8))
    assert ran.state["grade"].verdict is Verdict.RELEVANT
    assert [(stage.name, stage.detail) for stage in ran.stages] == [("grade", "relevant")]


@pytest.mark.parametrize(
    ("parts", "verdict"),
    [
        ((0.8, 0.9), Verdict.RELEVANT),
        ((0.8, 0.5), Verdict.PARTIAL),
        ((0.8, 0.1), Verdict.PARTIAL),
        ((0.1, 0.2), Verdict.NONE),
    ],
)
async def test_parts_can_only_help(parts: tuple[float, ...], verdict: Verdict) -> None:
    ran = await run(grade_node, state(0.2, *(part(str(value), value) for value in parts)))
    assert ran.state["grade"].verdict is verdict
    ran = await run(grade_node, state(0.8, *(part(str(value), value) for value in parts)))
    assert ran.state["grade"].verdict is Verdict.RELEVANT


async def test_web_results_become_the_evidence() -> None:
    before = grade(VIEW, [at(0.2)], FACTUAL, POLICY)
    found = hit(0.5, "https://example.org")
    searched: State = {
        **state(0.2),
        "grade": before,
        "web": WebOutcome("found", "q", (found,)),
    }
    ran = await run(grade_node, searched)
    assert ran.state["grade"].verdict is Verdict.RELEVANT
    assert ran.state["grade"].critical
    assert ran.state["ranked"] == (found,)
    nothing: State = {**searched, "web": WebOutcome("empty", "q")}
    assert (await run(grade_node, nothing)).state["grade"].verdict is Verdict.NONE


async def test_retrieval_of_an_index_without_a_profile_is_a_store_error() -> None:
    asked: State = {"question": question("backups?"), "resolved": "backups?", "language": "en"}
    with pytest.raises(StoreError):
        await run(retrieve_node, asked)
    with pytest.raises(StoreError):
        await run(retrieve_node, {**asked, "parts": (SubQuestion("a"), SubQuestion("b"))})
