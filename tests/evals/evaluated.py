"""Evaluated questions, made by hand: what was asked, expected, ranked, and how it ended."""

from __future__ import annotations

from collections.abc import Sequence

from bot.evals.rows import Part, Row
from bot.evals.run import SOURCE, Result
from graph.model import Answer, Citation, Outcome, Passage, SourceType
from graph.relevance import MIDDLE, STEEPNESS
from graph.trace import Trace, TraceCandidate


def result(
    question: str,
    outcome: Outcome = Outcome.ANSWERED,
    *,
    expected: Sequence[str] = (),
    ranked: Sequence[tuple[str, float]] = (),
    cited: Sequence[str] = (),
    category: str = "kind",
    heading: str = "Heading",
    score: float | None = None,
    reason: str = "best relevance reaches the threshold",
    text: str = "An answer [1].",
) -> Result:
    """`ranked`: (document, relevance), best first. Answerable when a document is expected; every
    expected document holds a fact of its own. `score`: answerability, else the relevance."""
    best = ranked[0][1] if ranked else 0.0
    candidates = tuple(_candidate(name, value, heading) for name, value in ranked)
    return Result(
        Row(
            id=question[:8],
            question=question,
            lang="en",
            category=category,
            answerable=bool(expected),
            coverage="full" if expected else "none",
            parts=tuple(Part(frozenset((name,))) for name in expected),
        ),
        Answer("q", outcome, text, "en", tuple(_citation(name) for name in cited)),
        Trace(
            "q", question, question, "en", outcome.value,
            query_type="factual", threshold=0.75, floor=0.44, verdict="relevant", reason=reason,
            relevance=best, answerability=best if score is None else score,
            candidates=candidates, total_ms=1.0,
        ),
        tuple(dict.fromkeys(name for name, _ in ranked)),
        0,
    )  # fmt: skip


def _candidate(name: str, relevance: float, heading: str) -> TraceCandidate:
    u = MIDDLE + (relevance - 0.5) * 4 / STEEPNESS
    return TraceCandidate(
        f"{SOURCE}/{name}", f"id-{name}", heading, 0.3, 1.0, u, relevance, 0.5, "relevant"
    )


def _citation(name: str) -> Citation:
    passage = Passage(name, SOURCE, SourceType.FOLDER, name, name, (), "text", name)
    return Citation(1, passage, 0.9)
