"""The words of the answering machine: questions, evidence, verdicts and answers.

All values are frozen. Two passages with the same id are the same place in a document;
scores belong to one question and travel beside the passage, never inside it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from enum import StrEnum
from typing import Literal

Language = Literal["en", "ru"]
LANGUAGES: tuple[Language, ...] = ("en", "ru")

LEVELS = ("staff", "manager", "senior", "director", "administrator")
"""Audiences, lowest first; a level reads everything below it."""

EVERYBODY = "all"
"""The label that matches every label."""


class QueryType(StrEnum):
    FACTUAL = "factual"  # one fact, value, place, command
    ANALYTICAL = "analytical"  # why, what if, compare
    SYNTHESIS = "synthesis"  # collect or summarise several sources


class Verdict(StrEnum):
    RELEVANT = "relevant"
    PARTIAL = "partial"
    NONE = "none"


class Outcome(StrEnum):
    ANSWERED = "answered"
    PARTIAL = "partial"
    WEB = "web"
    NOT_FOUND = "not_found"
    FAILED = "failed"


class Confidence(StrEnum):
    HIGH = "high"
    MEDIUM = "medium"
    LOW = "low"


class SourceType(StrEnum):
    VAULT = "vault"
    REPO = "repo"
    UPLOAD = "upload"
    MANUAL = "manual"
    FOLDER = "folder"
    SESSION = "session"
    WEB = "web"


class Status(StrEnum):
    PUBLISHED = "published"
    DRAFT = "draft"
    SUPERSEDED = "superseded"


@dataclass(frozen=True, slots=True)
class Access:
    """Who may read a document, and when. Every store filters on this value and nothing else."""

    tenant: str = "default"
    audience: str = LEVELS[0]
    labels: frozenset[str] = frozenset({EVERYBODY})
    status: Status = Status.PUBLISHED
    effective_from: datetime | None = None
    effective_until: datetime | None = None
    source_type: SourceType = SourceType.FOLDER
    place: str = ""  # the only place that may read it; "" for no such bound


def levels_up_to(level: str, levels: Sequence[str] = LEVELS) -> frozenset[str]:
    """All audiences that a person of `level` may read; `levels` is the ladder, lowest first.
    Raises ValueError for an unknown level."""
    return frozenset(levels[: levels.index(level) + 1])


def in_common(labels: frozenset[str], other: frozenset[str]) -> bool:
    """Whether a reader's labels open a document's: one is the same, or one of both is `all`."""
    return EVERYBODY in labels or EVERYBODY in other or bool(labels & other)


@dataclass(frozen=True, slots=True)
class Scope:
    """What an audience may read: a filter inside every query, never a sentence in a prompt.

    `labels` are those of one reader, `also` those of each further one: a document needs a label
    in common with every reader, not one that all of them have.
    """

    tenant: str = "default"
    levels: frozenset[str] = frozenset({LEVELS[0]})
    labels: frozenset[str] = frozenset({EVERYBODY})
    now: datetime = field(default_factory=lambda: datetime.now(UTC))
    source_types: frozenset[SourceType] | None = None
    place: str = ""  # where it is asked: what was said there may be read there alone
    private_names: frozenset[str] = frozenset()  # never sent to a web search
    also: frozenset[frozenset[str]] = frozenset()

    @property
    def readers(self) -> tuple[frozenset[str], ...]:
        """The labels of each reader."""
        return (self.labels, *self.also)

    def admits(self, access: Access) -> bool:
        """True when everybody in this scope may read what `access` describes, at `now`."""
        labels_match = all(in_common(labels, access.labels) for labels in self.readers)
        in_force = (access.effective_from is None or access.effective_from <= self.now) and (
            access.effective_until is None or self.now < access.effective_until
        )
        return (
            access.tenant == self.tenant
            and access.audience in self.levels
            and labels_match
            and in_force
            and access.status is Status.PUBLISHED
            and access.place in ("", self.place)
            and (self.source_types is None or access.source_type in self.source_types)
        )


@dataclass(frozen=True, slots=True)
class Turn:
    """One message of a conversation. `who` is "user", "bot" or an opaque speaker id."""

    who: str
    text: str


@dataclass(frozen=True, slots=True)
class Question:
    """What was asked, by whom it may be read, and what was said before (oldest turn first)."""

    text: str
    id: str
    scope: Scope = field(default_factory=Scope)
    history: tuple[Turn, ...] = ()
    web_allowed: bool = True
    web_first: bool = False  # the asker wants the web, whatever the documents hold


Document = tuple[str, str]
"""A document by its source and its path inside it."""


@dataclass(frozen=True, slots=True)
class Passage:
    """A piece of a document that can be cited."""

    id: str
    source: str  # the source's name, unique in a tenant
    source_type: SourceType
    document: str  # path inside the source, "/" separated
    title: str
    heading: tuple[str, ...]
    text: str  # Markdown; line breaks as in the document
    uri: str  # opens the place; has a line anchor where the source allows one
    lines: tuple[int, int] = (1, 1)  # first and last line in the file, from 1
    language: Language = "en"
    version: str = ""
    updated_at: datetime | None = None
    effective_from: datetime | None = None
    effective_until: datetime | None = None
    status: Status = Status.PUBLISHED
    owner: str = ""
    document_chunks: int = 1  # how many chunks the whole document has
    also_at: tuple[str, ...] = ()  # other places that hold the same text
    stub: bool = False  # the section says TODO or holds next to nothing
    behind: tuple[Document, ...] = ()  # what an earlier answer was drawn from


@dataclass(frozen=True, slots=True)
class Scores:
    """How a passage fits one question. `u` = 1: one negative in four reaches it."""

    cosine: float | None  # raw, as the store returned it; None when only keywords found it
    bm25: float  # field-weighted, per square root of content words
    u: float  # fused, in units of the calibrated negatives
    relevance: float  # calibrated, 0 to 1
    coverage: float  # idf-weighted share of the question's words found in the passage
    origin: str = ""  # the sub-question that found it, empty for the question itself


@dataclass(frozen=True, slots=True)
class Ranked:
    passage: Passage
    scores: Scores


@dataclass(frozen=True, slots=True)
class Grade:
    """The verdict over a ranking, with the reason in words for `belay why`."""

    verdict: Verdict
    reason: str
    relevance: float = 0.0  # of the best passage
    coverage: float = 0.0
    spread: float | None = None  # 0.10 (u1 - uk); None with fewer than k documents
    unknown_terms: tuple[str, ...] = ()  # words of the question that no document mentions
    critical: bool = False  # read critically: low coverage, stub page, or partial evidence
    answerability: float = float("-inf")  # orders questions by how likely they can be answered


@dataclass(frozen=True, slots=True)
class Citation:
    number: int
    passage: Passage
    relevance: float


@dataclass(frozen=True, slots=True)
class Answer:
    """What leaves the machine. `text` is Markdown with `[n]` marks, without a source list."""

    question_id: str
    outcome: Outcome
    text: str
    language: Language
    citations: tuple[Citation, ...] = ()
    nearest: tuple[Ranked, ...] = ()  # shown with not_found and partial
    confidence: Confidence | None = None
    missing: tuple[str, ...] = ()  # parts of the question without evidence
    notes: tuple[str, ...] = ()  # text keys of what the reader must know, e.g. "model_down"
    error_id: str = ""
    cause: str = ""  # of a failure: deadline, index_empty, index_down or failed
