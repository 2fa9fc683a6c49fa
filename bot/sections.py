"""The sections of belay.toml that say how questions are answered, and from what."""

from __future__ import annotations

from typing import Literal

from pydantic import Field, model_validator

from bot.chat_settings import Section
from bot.ingest.reader import ReadingLimits
from graph.policy import Limits, Policy

_POLICY, _LIMITS, _READING = Policy(), Limits(), ReadingLimits()


class Thresholds(Section):
    """On calibrated relevance, 0 to 1. docs/answers.md explains them."""

    factual: float = Field(default=_POLICY.factual, ge=0, le=1)
    analytical: float = Field(default=_POLICY.analytical, ge=0, le=1)
    synthesis: float = Field(default=_POLICY.synthesis, ge=0, le=1)
    floor: float = Field(default=_POLICY.floor, ge=0, le=1)
    certain: float = Field(default=_POLICY.certain, ge=0, le=1)
    noise_spread: float = Field(default=_POLICY.noise_spread, ge=0, le=1)
    noise_k: int = Field(default=_POLICY.noise_k, ge=2, le=50)
    low_coverage: float = Field(default=_POLICY.low_coverage, ge=0, le=1)
    classify_margin: float = Field(default=_POLICY.classify_margin, ge=0, le=1)

    @model_validator(mode="after")
    def in_order(self) -> Thresholds:
        lowest = min(self.factual, self.analytical, self.synthesis)
        if self.floor > lowest:
            raise ValueError(f"floor {self.floor} is above the lowest threshold {lowest}")
        return self


class Retrieval(Section):
    """How passages are chosen and how many the model reads."""

    fusion: Literal["calibrated", "rrf"] = "calibrated"
    rrf_k: int = Field(default=_POLICY.rrf_k, ge=1)
    chunks_per_document: int = Field(default=_POLICY.chunks_per_document, ge=1, le=20)
    small_document: int = Field(default=_POLICY.small_document, ge=0)
    passages: int = Field(default=_POLICY.passages, ge=1, le=50)
    context_tokens: int = Field(default=_POLICY.context_tokens, ge=200)
    sub_questions: int = Field(default=_POLICY.sub_questions, ge=1, le=8)
    sub_question_penalty: float = Field(default=_POLICY.sub_question_penalty, ge=0)
    stale_days: int = Field(default=_POLICY.stale_days, ge=1)


class LimitSettings(Section):
    """Seconds, characters and counts."""

    deadline: float = Field(default=_LIMITS.deadline, gt=0)
    reserve: float = Field(default=_LIMITS.reserve, ge=0)
    model_timeout: float = Field(default=_LIMITS.model_timeout, gt=0)
    embed_timeout: float = Field(default=_LIMITS.embed_timeout, gt=0)
    web_timeout: float = Field(default=_LIMITS.web_timeout, gt=0)
    question_characters: int = Field(default=_LIMITS.question_characters, ge=200)
    answer_tokens: int = Field(default=_LIMITS.answer_tokens, ge=64)
    history_turns: int = Field(default=_LIMITS.history_turns, ge=0)
    history_tokens: int = Field(default=_LIMITS.history_tokens, ge=0)


class WebSettings(Section):
    backends: tuple[str, ...] = ("duckduckgo", "mojeek", "brave")
    region: str = ""
    results: int = Field(default=_POLICY.web_results, ge=1, le=20)
    proxy: str = Field(default="", repr=False)  # may hold a password
    ca_file: str = ""
    private_names: tuple[str, ...] = ()  # never sent to a search engine


class IngestSettings(Section):
    max_file_bytes: int = Field(default=10 * 1024 * 1024, ge=1000)
    mask_secrets: bool = True
    shrink_limit: float = Field(default=0.5, ge=0, le=1)  # a sync that would lose more is refused
    seconds: float = Field(default=_READING.seconds, gt=0)  # for reading one PDF or Office file
    megabytes: int = Field(default=_READING.megabytes, ge=256)  # of memory for the same
    pages: int = Field(default=_READING.pages, ge=1)
    rows: int = Field(default=_READING.rows, ge=1)  # of one table
    unpacked_bytes: int = Field(default=_READING.unpacked_bytes, ge=1_000_000)  # of one archive

    def reading(self) -> ReadingLimits:
        return ReadingLimits(
            seconds=self.seconds,
            megabytes=self.megabytes,
            pages=self.pages,
            rows=self.rows,
            unpacked_bytes=self.unpacked_bytes,
        )
