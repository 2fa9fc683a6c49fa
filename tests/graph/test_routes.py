"""The corrective policy: which node follows which."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from adapters.memory.index import MemoryIndex
from adapters.memory.web import MemoryWeb
from graph import routes
from graph.lexicon import Lexicon
from graph.machine import NODES, build
from graph.model import Answer, Grade, Outcome, Verdict
from graph.policy import Limits, Policy
from graph.ports import Ports, WebSearch
from graph.state import Context, State, SubQuestion, WebOutcome
from tests.graph.node_run import NoEmbedder, question


def context(web: WebSearch | None, *, allowed: bool = True) -> Context:
    embedder = NoEmbedder()
    ports = Ports(MemoryIndex(), embedder, embedder, web=web)
    return Context(ports, Lexicon(embedder), Policy(web=allowed), Limits(), 60.0)


def graded(verdict: Verdict, *, parts: Sequence[str] | None = None, web: bool = True) -> State:
    state: State = {"question": question("why?", web=web), "grade": Grade(verdict, "because")}
    return state if parts is None else {**state, "parts": tuple(map(SubQuestion, parts))}


WEB, NO_WEB = MemoryWeb(()), None
HERE = context(WEB)
ANSWER = Answer("q1", Outcome.ANSWERED, "text", "en")


@pytest.mark.parametrize("parts", [None, (), ("a", "b")])
@pytest.mark.parametrize("web", [WEB, NO_WEB])
def test_relevant_evidence_is_answered(parts: Sequence[str] | None, web: WebSearch | None) -> None:
    state = graded(Verdict.RELEVANT, parts=parts)
    assert routes.after_grade(state, context(web)) == "generate"


def test_partial_evidence_is_taken_apart_once() -> None:
    assert routes.after_grade(graded(Verdict.PARTIAL), context(WEB)) == "decompose"
    for parts in ((), ("a", "b")):
        state = graded(Verdict.PARTIAL, parts=parts)
        assert routes.after_grade(state, context(WEB)) == "generate"


def test_no_evidence_is_searched_for_on_the_web_once() -> None:
    state = graded(Verdict.NONE)
    assert routes.after_grade(state, context(WEB)) == "web"
    searched: State = {**state, "web": WebOutcome("empty", "why")}
    assert routes.after_grade(searched, context(WEB)) == "decline"


@pytest.mark.parametrize(
    ("there", "asked_for_web"),
    [
        (context(NO_WEB), True),
        (context(WEB, allowed=False), True),
        (context(WEB), False),
    ],
    ids=["no web port", "switched off", "not in this channel"],
)
def test_the_web_can_be_off(there: Context, asked_for_web: bool) -> None:
    state = graded(Verdict.NONE, web=asked_for_web)
    assert routes.after_grade(state, there) == "decline"


@pytest.mark.parametrize("text", ["", "🔥🔥", "?!", "   "])
def test_what_has_no_words_is_not_searched_for(text: str) -> None:
    assert routes.after_contextualize({"resolved": text}, HERE) == "decline"


def test_a_question_with_words_is_classified_unless_it_is_answered_already() -> None:
    assert routes.after_contextualize({"resolved": "why is it down"}, HERE) == "classify"
    assert routes.after_contextualize({"resolved": "hello", "answer": ANSWER}, HERE) == "decline"


def test_parts_are_retrieved_and_a_question_without_parts_is_answered_from_what_there_is() -> None:
    assert (
        routes.after_decompose({"parts": (SubQuestion("a"), SubQuestion("b"))}, HERE) == "retrieve"
    )
    assert routes.after_decompose({"parts": ()}, HERE) == "generate"


def test_a_draft_that_does_not_hold_is_declined() -> None:
    assert routes.after_verify({"answer": ANSWER}, HERE) == "__end__"
    assert routes.after_verify({}, HERE) == "decline"


def test_no_path_leads_back_into_a_second_decomposition_or_web_search() -> None:
    edges = {(edge.source, edge.target) for edge in build().get_graph().edges}
    assert set(NODES) <= {place for edge in edges for place in edge}
    assert {source for source, target in edges if target == "web"} == {"grade"}
    assert {source for source, target in edges if target == "decompose"} == {"grade"}
    assert {target for source, target in edges if source == "web"} == {"grade"}
    assert {source for source, target in edges if target == "__end__"} <= {"verify", "decline"}
