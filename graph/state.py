"""The state that flows through the graph, and the context that every node reads."""

from __future__ import annotations

import operator
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Annotated, Literal, TypedDict

from graph.choices import Option
from graph.lexicon import Lexicon
from graph.model import Answer, Grade, Language, QueryType, Question, Ranked
from graph.policy import Limits, Policy
from graph.ports import Ports, Vector
from graph.view import QuestionView


@dataclass(frozen=True, slots=True)
class Stage:
    """An event: a node began. `name` is the node, `detail` a number or word worth showing."""

    name: str
    detail: str = ""


@dataclass(frozen=True, slots=True)
class Token:
    """An event: a piece of the answer whose literals are already known to stand in the sources."""

    text: str


@dataclass(frozen=True, slots=True)
class ModelCall:
    purpose: str
    milliseconds: float
    prompt_tokens: int = 0
    completion_tokens: int = 0
    error: str = ""  # the class name of the ModelError, empty when the call succeeded


@dataclass(frozen=True, slots=True)
class TypeDecision:
    query_type: QueryType
    by: Literal["local", "model"]
    probabilities: tuple[float, float, float] = (0.0, 0.0, 0.0)  # factual, analytical, synthesis


@dataclass(frozen=True, slots=True)
class SubQuestion:
    """A part of the question, as retrieved and graded on its own."""

    text: str
    decision: TypeDecision | None = None
    grade: Grade | None = None
    ranked: tuple[Ranked, ...] = ()


@dataclass(frozen=True, slots=True)
class Recalled:
    """What was said before in the place where the question is asked, best first, and the question
    as those conversations see it."""

    view: QuestionView
    ranked: tuple[Ranked, ...]


@dataclass(frozen=True, slots=True)
class WebOutcome:
    """What the one web search did. `status` tells "nothing there" from "could not look"."""

    status: Literal["found", "empty", "failed"]
    query: str  # as sent, scrubbed
    ranked: tuple[Ranked, ...] = ()


@dataclass(frozen=True, slots=True)
class Draft:
    """An unverified answer. Mark `[n]` points at `given[n - 1]`."""

    text: str
    given: tuple[Ranked, ...]
    by: Literal["model", "extract"]
    insufficient: str | None = None  # the model's reason why the passages do not hold the answer


@dataclass(frozen=True, slots=True)
class Removal:
    """What verify took out of a draft, and why: for `belay why`."""

    text: str
    reason: Literal["unknown mark", "unsupported literal", "foreign url", "no citation"]


class State(TypedDict, total=False):
    question: Question
    language: Language
    resolved: str  # the self-contained question; later nodes use only this one
    word_vector: Vector | None  # of the builtin embedder; None when embedding failed
    decision: TypeDecision
    view: QuestionView  # of the resolved question
    ranked: tuple[Ranked, ...]  # the present evidence, best first
    considered: tuple[Ranked, ...]  # every scored candidate, for `belay why`
    grade: Grade
    options: tuple[Option, ...]  # what the asker has to choose between
    parts: tuple[SubQuestion, ...]  # empty until decomposed
    web: WebOutcome
    said: Recalled | None  # earlier conversations; documents come first
    draft: Draft
    removed: tuple[Removal, ...]
    answer: Answer
    calls: Annotated[tuple[ModelCall, ...], operator.add]
    notes: Annotated[tuple[str, ...], operator.add]
    milliseconds: Annotated[tuple[tuple[str, float], ...], operator.add]  # (node, ms)


@dataclass(frozen=True, slots=True)
class Context:
    """What nodes may use. `deadline` is a loop time in seconds after which nothing may start."""

    ports: Ports
    lexicon: Lexicon
    policy: Policy
    limits: Limits
    deadline: float
    now: Callable[[], datetime] = field(default=lambda: datetime.now(UTC))
