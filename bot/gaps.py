"""What the documents lack: questions without a good answer, those that mean the same together."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from bot.audit import AuditRecord, Rights
from bot.chat import Place
from bot.meaning import alike
from bot.votes import Tallies, Tally
from graph.model import Outcome
from graph.ports import Embedder
from graph.text import fold, tokens

COMPARED = 1000
"""Different questions that are compared with each other; the newest count."""

_UNANSWERED = frozenset({Outcome.NOT_FOUND, Outcome.PARTIAL, Outcome.WEB})
_WAYS = frozenset({"ask", "runbook", "incident"})  # the others repeat a question
_DOCUMENTS = 3
_RATED_DOWN = "rated_down"
# Addresses and handles are names of people, who are not what is missing.
_PEOPLE = re.compile(r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+|(?<![\w./])@[\w.-]*\w|<@\w+>")


@dataclass(frozen=True, slots=True)
class Gap:
    """Questions that mean the same. `reasons` counts them by outcome, or as rated_down."""

    question: str  # the one that was asked most often
    count: int
    people: int
    reasons: tuple[tuple[str, int], ...]  # most frequent first
    places: tuple[Place, ...]
    documents: tuple[tuple[str, float], ...]  # that came nearest, with their relevance
    newest: datetime
    others: tuple[str, ...] = ()  # in other words


async def gaps(records: Sequence[AuditRecord], votes: Tallies, embedder: Embedder) -> list[Gap]:
    """The gaps that `records` (newest first) show, largest first. Raises EmbedderError.

    What was answered since, for the same rights and in the same words, is none any more.
    """
    asked: dict[str, list[AuditRecord]] = defaultdict(list)
    for record in _unanswered(records, votes):
        asked[_words(record)].append(record)
    questions = list(asked.values())[:COMPARED]
    texts = [without_people(each[0].asked) for each in questions]
    groups = await alike(texts, embedder)
    found = [_gap([questions[place] for place in group], votes) for group in groups]
    return sorted(found, key=lambda gap: (gap.count, gap.newest), reverse=True)


def without_people(text: str) -> str:
    return _PEOPLE.sub("…", text)


def _unanswered(records: Sequence[AuditRecord], votes: Tallies) -> list[AuditRecord]:
    answered: set[tuple[str, Rights]] = set()
    found = []
    for record in records:
        key = (_words(record), record.rights)
        down = votes.get(record.question_id, Tally()).down
        if record.way not in _WAYS or key in answered:
            continue
        if down or record.outcome in _UNANSWERED:
            found.append(record)
        elif record.outcome is Outcome.ANSWERED:
            answered.add(key)
    return found


def _words(record: AuditRecord) -> str:
    """What makes two questions the same however they are typed."""
    return " ".join(tokens(record.asked)) or fold(record.asked)


def _gap(questions: Sequence[Sequence[AuditRecord]], votes: Tallies) -> Gap:
    """`questions` are the records of each wording, newest first."""
    records = sorted((item for each in questions for item in each), key=lambda item: item.at)
    reasons = Counter(_reason(record, votes) for record in records)
    places = {_visible(record.place): record.place for record in records}
    texts = [_usual(each) for each in sorted(questions, key=len, reverse=True)]
    return Gap(
        texts[0],
        len(records),
        len({record.person for record in records}),
        tuple(reasons.most_common()),
        tuple(places.values()),
        _nearest(records),
        records[-1].at,
        tuple(texts[1:]),
    )


def _usual(records: Sequence[AuditRecord]) -> str:
    """The most frequent spelling of a question."""
    spelled = Counter(without_people(record.asked) for record in records)
    return spelled.most_common(1)[0][0]


def _reason(record: AuditRecord, votes: Tallies) -> str:
    if votes.get(record.question_id, Tally()).down:
        return _RATED_DOWN
    return record.outcome.value


def _visible(place: Place) -> tuple[str, str]:
    """Private chats of a platform are one place: which one would say who asked."""
    return (place.platform, "" if place.kind == "private" else place.id)


def _nearest(records: Sequence[AuditRecord]) -> tuple[tuple[str, float], ...]:
    best: dict[str, float] = defaultdict(float)
    for record in records:
        for hit in record.hits:
            best[hit.document] = max(best[hit.document], hit.relevance)
    return tuple(sorted(best.items(), key=lambda item: -item[1])[:_DOCUMENTS])
