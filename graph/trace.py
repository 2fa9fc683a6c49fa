"""How an answer came about, as plain data: what `belay why` shows and evals read."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from math import isfinite
from typing import Any

from graph.model import Answer, Document, Grade, Ranked
from graph.policy import Policy
from graph.state import ModelCall, State

CANDIDATES = 20  # rows kept of a ranking


@dataclass(frozen=True, slots=True)
class TraceCandidate:
    """One scored passage. `cosine` and `bm25` are raw; `relevance` is calibrated."""

    document: str
    chunk_id: str
    heading: str
    cosine: float | None
    bm25: float
    u: float
    relevance: float
    coverage: float
    verdict: str  # "relevant", "partial" or "none": the passage against the thresholds
    origin: str = ""  # the sub-question that found it
    source: str = ""  # its name; `document` begins with it

    @property
    def place(self) -> Document:
        return self.source, self.document.removeprefix(f"{self.source}/")


@dataclass(frozen=True, slots=True)
class TracePart:
    text: str
    query_type: str
    verdict: str
    reason: str
    relevance: float


@dataclass(frozen=True, slots=True)
class Trace:
    question_id: str
    question: str
    resolved: str
    language: str
    outcome: str
    query_type: str = ""
    decided_by: str = ""
    probabilities: tuple[float, float, float] = (0.0, 0.0, 0.0)
    threshold: float = 0.0
    floor: float = 0.0
    verdict: str = ""
    reason: str = ""
    relevance: float = 0.0
    coverage: float = 0.0
    answerability: float | None = None
    spread: float | None = None
    unknown_terms: tuple[str, ...] = ()
    candidates: tuple[TraceCandidate, ...] = ()
    parts: tuple[TracePart, ...] = ()
    web: str = "not asked"
    web_query: str = ""
    removed: tuple[tuple[str, str], ...] = ()  # (text, reason)
    notes: tuple[str, ...] = ()
    calls: tuple[ModelCall, ...] = ()
    milliseconds: tuple[tuple[str, float], ...] = ()
    total_ms: float = 0.0
    began: float = 0.0  # seconds since the epoch
    documents: tuple[str, ...] = field(default=())  # "source/path" in rank order, each once

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


def trace(state: State, answer: Answer, policy: Policy, total_ms: float) -> Trace:
    """The trace of a run from its last state; a run that broke off has what was known by then."""
    question = state["question"]
    decision = state.get("decision")
    threshold = policy.threshold(decision.query_type) if decision else 0.0
    considered = state.get("considered", ())
    web = state.get("web")
    return Trace(
        question_id=question.id,
        question=question.text,
        resolved=state.get("resolved", question.text),
        language=answer.language,
        outcome=answer.outcome.value,
        query_type=decision.query_type.value if decision else "",
        decided_by=decision.by if decision else "",
        probabilities=decision.probabilities if decision else (0.0, 0.0, 0.0),
        threshold=threshold,
        floor=policy.floor,
        **_graded(state.get("grade")),
        candidates=tuple(_row(item, threshold, policy) for item in considered[:CANDIDATES]),
        parts=_parts(state),
        web=web.status if web else "not asked",
        web_query=web.query if web else "",
        removed=tuple((item.text, item.reason) for item in state.get("removed", ())),
        notes=tuple(dict.fromkeys(state.get("notes", ()))),
        calls=state.get("calls", ()),
        milliseconds=state.get("milliseconds", ()),
        total_ms=total_ms,
        documents=_documents(considered),
    )


def _documents(considered: Sequence[Ranked]) -> tuple[str, ...]:
    """In rank order. Equal places of one source are found before they are put into words."""
    places = dict.fromkeys((item.passage.source, item.passage.document) for item in considered)
    return tuple(dict.fromkeys(f"{source}/{document}" for source, document in places))


def _place(item: Ranked) -> str:
    return f"{item.passage.source}/{item.passage.document}"


def _graded(grade: Grade | None) -> dict[str, Any]:
    if grade is None:
        return {}
    return {
        "verdict": grade.verdict.value,
        "reason": grade.reason,
        "relevance": grade.relevance,
        "coverage": grade.coverage,
        "answerability": grade.answerability if isfinite(grade.answerability) else None,
        "spread": grade.spread,
        "unknown_terms": grade.unknown_terms,
    }


def _row(item: Ranked, threshold: float, policy: Policy) -> TraceCandidate:
    scores = item.scores
    verdict = "relevant" if scores.relevance >= threshold else "partial"
    return TraceCandidate(
        document=_place(item),
        chunk_id=item.passage.id,
        heading=" > ".join(item.passage.heading),
        cosine=scores.cosine,
        bm25=scores.bm25,
        u=scores.u,
        relevance=scores.relevance,
        coverage=scores.coverage,
        verdict=verdict if scores.relevance >= policy.floor else "none",
        origin=scores.origin,
        source=item.passage.source,
    )


def _parts(state: State) -> tuple[TracePart, ...]:
    return tuple(
        TracePart(
            part.text,
            part.decision.query_type.value if part.decision else "",
            part.grade.verdict.value if part.grade else "",
            part.grade.reason if part.grade else "",
            part.grade.relevance if part.grade else 0.0,
        )
        for part in state.get("parts", ())
    )
