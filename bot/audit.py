"""The audit: who asked what and where, with which rights, what was found, and how it ended.

Kept for those who run the bot: what it was asked, what it lacked, and what it showed to whom.
Secrets are masked before anything is kept, and answers and documents' texts are not kept at all.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TYPE_CHECKING, Protocol

from bot.chat import Person, Place
from bot.ingest.secrets import mask
from bot.redaction import redact
from graph.model import Outcome, Question, Ranked, Scope
from graph.text import fold, normalise

if TYPE_CHECKING:
    from graph.machine import Finished

HITS = 10
"""Passages of a ranking that are kept with a question."""

_CHARACTERS = 4000  # of a question; what is longer is cut, after its secrets were masked
_MASKED_AT_A_TIME = 100_000  # characters; more is no question, and is not worth the time
_FORGOTTEN = "forgotten"


@dataclass(frozen=True, slots=True)
class Rights:
    """What the audience might read. `readers` are the labels of each of its readers."""

    tenant: str
    levels: tuple[str, ...]
    readers: tuple[tuple[str, ...], ...]

    @classmethod
    def of(cls, scope: Scope) -> Rights:
        readers = sorted(tuple(sorted(labels)) for labels in scope.readers)
        return cls(scope.tenant, tuple(sorted(scope.levels)), tuple(readers))


@dataclass(frozen=True, slots=True)
class Hit:
    """A passage that was found: its id, "source/path" of its document, calibrated relevance."""

    chunk_id: str
    document: str
    relevance: float


@dataclass(frozen=True, slots=True)
class AuditRecord:
    """One question. `resolved` is what was looked for, where that is not what was asked."""

    question_id: str
    at: datetime
    person: str  # their key, "telegram:42"
    place: Place  # without a title that consists of people's names
    way: (
        str  # a command ("ask", "oncall"), a button ("web", "post"), a tool ("get_document"), "why"
    )
    question: str
    resolved: str
    rights: Rights
    hits: tuple[Hit, ...]  # best first
    cited: tuple[str, ...]  # ids of what was shown as sources: documents, the web, earlier turns
    outcome: Outcome
    milliseconds: float
    model_calls: int

    @property
    def relevance(self) -> float:
        """The top score; 0 when nothing was found."""
        return max((hit.relevance for hit in self.hits), default=0.0)

    @property
    def asked(self) -> str:
        """The self-contained question."""
        return self.resolved or self.question


@dataclass(frozen=True, slots=True)
class AuditQuery:
    """Which questions are wanted; what is empty does not narrow.

    `place` is a chat ("telegram:-100"), a thread in it ("slack:C1:17.5") or a title. `contains`
    is looked for in the question, whatever its case.
    """

    since: datetime | None = None
    person: str = ""
    place: str = ""
    outcomes: frozenset[Outcome] = frozenset()
    contains: str = ""
    limit: int | None = None

    def admits(self, record: AuditRecord) -> bool:
        """Whether `record` is wanted, the limit aside."""
        wanted = fold(normalise(self.contains))
        return (
            (self.since is None or record.at >= self.since)
            and self.person in ("", record.person)
            and (not self.place or self._is_place(record.place))
            and (not self.outcomes or record.outcome in self.outcomes)
            and (wanted in fold(record.question) or wanted in fold(record.resolved))
        )

    def _is_place(self, place: Place) -> bool:
        keys = (f"{place.platform}:{place.id}", place.conversation, place.conversation.rstrip(":"))
        return self.place in keys or fold(self.place) == fold(place.title)


@dataclass(frozen=True, slots=True)
class Extent:
    """How many questions are kept, and since when."""

    count: int
    oldest: datetime | None = None


class Audit(Protocol):
    """Keeps questions for a time that the settings say. All methods raise StorageError."""

    async def save(self, record: AuditRecord) -> None:
        """Replaces the record of an earlier attempt at the same question."""

    async def find(self, query: AuditQuery) -> list[AuditRecord]:
        """What is wanted, newest first."""

    async def forget(self, person: str) -> int:
        """Deletes what `person` asked, or only who it was, as the settings say; how many."""

    async def extent(self) -> Extent: ...


def recorded(
    finished: Finished, question: Question, person: Person, place: Place, way: str
) -> AuditRecord:
    """The record of a question that was answered, without secrets."""
    trace = finished.trace
    way = "web" if question.web_first else way
    record = noted(question, person, place, way, finished.answer.outcome)
    hits = [Hit(row.chunk_id, row.document, row.relevance) for row in trace.candidates[:HITS]]
    resolved = "" if trace.resolved == question.text else without_secrets(trace.resolved)
    return replace(
        record,
        resolved=resolved,
        hits=tuple(hits),
        cited=tuple(citation.passage.id for citation in finished.answer.citations),
        milliseconds=trace.total_ms,
        model_calls=len(trace.calls),
    )


def noted(
    question: Question, person: Person, place: Place, way: str, outcome: Outcome
) -> AuditRecord:
    """The record of a question that nothing was looked up for, without secrets."""
    title = "" if _is_of_people(place) else without_secrets(place.title)
    return AuditRecord(
        question.id,
        question.scope.now,
        person.key,
        replace(place, title=title),
        way,
        without_secrets(question.text),
        "",
        Rights.of(question.scope),
        (),
        (),
        outcome,
        0.0,
        0,
    )


def looked_up(record: AuditRecord, ranked: Sequence[Ranked], milliseconds: float) -> AuditRecord:
    """`record` of a search, with the passages that it showed."""
    hits = [
        Hit(item.passage.id, f"{item.passage.source}/{item.passage.document}",
            item.scores.relevance)
        for item in ranked[:HITS]
    ]  # fmt: skip
    cited = tuple(item.passage.id for item in ranked)
    return replace(record, hits=tuple(hits), cited=cited, milliseconds=milliseconds)


def _is_of_people(place: Place) -> bool:
    """Whether the title names the people in it; Slack calls a group message mpdm-ann--boris-1."""
    return place.kind == "private" or place.title.startswith("mpdm-")


def without_secrets(text: str) -> str:
    """What is written of `text`: secrets by shape and by value masked, long texts cut."""
    return mask(redact(normalise(text[:_MASKED_AT_A_TIME])))[:_CHARACTERS]


def pseudonymous(record: AuditRecord, name: str) -> AuditRecord:
    """`record` of somebody who has only this name, nor a private chat by which to know them."""
    place = record.place
    if place.kind == "private":
        place = Place(place.platform, name)
    return replace(record, person=f"{_FORGOTTEN}:{name}", place=place)
