"""The trace: how an answer came about, as data."""

from __future__ import annotations

import json

from graph.model import (
    Answer,
    Grade,
    Outcome,
    Passage,
    QueryType,
    Ranked,
    Scores,
    SourceType,
    Verdict,
)
from graph.policy import Policy
from graph.state import ModelCall, Removal, State, SubQuestion, TypeDecision, WebOutcome
from graph.trace import CANDIDATES, trace
from tests.graph.node_run import question

ANSWER = Answer("q1", Outcome.ANSWERED, "text [1]", "en")


def hit(number: int, relevance: float, origin: str = "") -> Ranked:
    passage = Passage(
        f"c{number}", "docs", SourceType.FOLDER, f"{number}.md", "T", ("A", "B"), "text", ""
    )
    return Ranked(passage, Scores(0.4, 2.0, 1.0, relevance, 0.7, origin))


FULL: State = {
    "question": question("and on staging?"),
    "language": "en",
    "resolved": "backup window on staging?",
    "decision": TypeDecision(QueryType.ANALYTICAL, "local", (0.1, 0.8, 0.1)),
    "considered": (hit(1, 0.9), hit(2, 0.5, "part"), hit(3, 0.2), hit(1, 0.1)),
    "grade": Grade(Verdict.RELEVANT, "because", 0.9, 0.7, 0.05, ("argocd",)),
    "parts": (SubQuestion("part", TypeDecision(QueryType.FACTUAL, "local")), SubQuestion("bare")),
    "web": WebOutcome("empty", "backup window"),
    "removed": (Removal("port 1", "unsupported literal"),),
    "notes": ("model_down", "model_down"),
    "calls": (ModelCall("generate", 12.0, 100, 20),),
    "milliseconds": (("retrieve", 3.0),),
}


def test_a_trace_tells_the_whole_story() -> None:
    told = trace(FULL, ANSWER, Policy(), 42.0)
    assert (told.question, told.resolved) == ("and on staging?", "backup window on staging?")
    assert (told.query_type, told.decided_by, told.threshold) == ("analytical", "local", 0.65)
    assert (told.verdict, told.reason, told.floor) == ("relevant", "because", 0.44)
    assert told.unknown_terms == ("argocd",)
    assert [item.verdict for item in told.candidates] == ["relevant", "partial", "none", "none"]
    assert told.candidates[1].origin == "part"
    assert told.candidates[0].heading == "A > B"
    assert told.documents == ("docs/1.md", "docs/2.md", "docs/3.md")
    assert [part.query_type for part in told.parts] == ["factual", ""]
    assert (told.web, told.web_query) == ("empty", "backup window")
    assert told.removed == (("port 1", "unsupported literal"),)
    assert told.notes == ("model_down",)
    assert told.total_ms == 42.0


def test_a_trace_of_a_run_that_broke_off_has_what_was_known() -> None:
    failed = Answer("q1", Outcome.FAILED, "sorry", "ru", error_id="ab12")
    told = trace({"question": question("почему?")}, failed, Policy(), 1.0)
    assert (told.outcome, told.language, told.resolved) == ("failed", "ru", "почему?")
    assert told.candidates == ()
    assert told.verdict == ""
    assert told.web == "not asked"


def test_a_trace_is_plain_data() -> None:
    data = json.loads(json.dumps(trace(FULL, ANSWER, Policy(), 1.0).to_json()))
    assert data["candidates"][0]["chunk_id"] == "c1"
    assert data["calls"][0]["prompt_tokens"] == 100


def test_only_the_best_candidates_are_kept_but_every_document_is_named() -> None:
    many: State = {**FULL, "considered": tuple(hit(number, 0.5) for number in range(50))}
    told = trace(many, ANSWER, Policy(), 1.0)
    assert len(told.candidates) == CANDIDATES
    assert len(told.documents) == 50
