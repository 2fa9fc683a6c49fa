"""The numbers of the corrective policy: values, no I/O. All of them are settings."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from graph.model import Confidence, QueryType


@dataclass(frozen=True, slots=True)
class Policy:
    """Thresholds on calibrated relevance (0 to 1); their meaning is in docs/architecture.md."""

    factual: float = 0.75
    analytical: float = 0.65
    synthesis: float = 0.60
    floor: float = 0.44  # below: nothing here (u = 0.5)
    certain: float = 0.85  # at or above: the noise rule is not asked
    noise_spread: float = 0.04
    noise_k: int = 5
    low_coverage: float = 0.45  # below: the passage is read critically
    fusion: Literal["calibrated", "rrf"] = "calibrated"
    rrf_k: int = 60
    chunks_per_document: int = 2
    small_document: int = 6000  # characters; a smaller document is given whole
    passages: int = 8  # given to the model
    context_tokens: int = 6000  # of passages in one prompt
    sub_questions: int = 4
    sub_question_penalty: float = 0.3  # in u
    classify_margin: float = 0.0  # below this margin the model is asked for the type; 0: never
    web: bool = True
    web_results: int = 5
    stale_days: int = 365

    def threshold(self, query_type: QueryType) -> float:
        return {
            QueryType.FACTUAL: self.factual,
            QueryType.ANALYTICAL: self.analytical,
            QueryType.SYNTHESIS: self.synthesis,
        }[query_type]


def confidence(relevance: float) -> Confidence:
    """high from 0.85, medium from 0.7, low below: of the best cited passage."""
    if relevance >= 0.85:  # noqa: PLR2004
        return Confidence.HIGH
    return Confidence.MEDIUM if relevance >= 0.7 else Confidence.LOW  # noqa: PLR2004


@dataclass(frozen=True, slots=True)
class Limits:
    """Time-outs in seconds, sizes in characters, counts. One value for the whole machine."""

    deadline: float = 60.0  # for the whole question
    reserve: float = 4.0  # of it, kept back for an extractive answer when the model hangs
    model_timeout: float = 45.0  # one call
    embed_timeout: float = 15.0
    web_timeout: float = 12.0
    question_characters: int = 4000  # longer questions are cut in the middle
    answer_tokens: int = 1024
    history_turns: int = 20
    history_tokens: int = 4000
    recursion: int = 25
