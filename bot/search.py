"""Search without an answer: the passages that come near a query, best first.

Nothing is generated and no model is asked. A passage below the policy's floor is as good as
unrelated, and is not shown at all.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from graph.model import Document, Passage, Ranked, SourceType
from graph.policy import Policy
from graph.retrieval import Found

_DIGITS = 3
_ELLIPSIS = "…"


@dataclass(frozen=True, slots=True)
class SearchBounds:
    """Counts of passages and characters."""

    passages: int = 5  # unless asked otherwise
    most: int = 20  # passages that can be asked for
    snippet: int = 1500  # characters of a passage that are shown


@dataclass(frozen=True, slots=True)
class Hit:
    """A passage that was found. `score` is fused, in units of the calibrated negatives;
    `relevance` is calibrated, 0 to 1."""

    id: str  # of its document: "source/path"
    score: float
    relevance: float
    source: str
    source_type: SourceType
    title: str
    heading: tuple[str, ...]
    snippet: str
    url: str
    lines: tuple[int, int]


def document_id(document: Document) -> str:
    """A document as people and agents name it."""
    return "/".join(document)


def documents_of(name: str) -> tuple[Document, ...]:
    """The documents that an id may mean: names of sources may hold "/" as well as paths."""
    parts = name.split("/")
    return tuple(
        ("/".join(parts[:at]), "/".join(parts[at:]))
        for at in range(1, len(parts))
        if parts[0] and parts[-1]
    )


def near(found: Found, policy: Policy, count: int) -> tuple[Ranked, ...]:
    """The best passages that reach the floor, few of one document."""
    taken: Counter[Document] = Counter()
    chosen: list[Ranked] = []
    for item in found.ranked:
        document = (item.passage.source, item.passage.document)
        if item.scores.relevance < policy.floor or len(chosen) == count:
            break
        if taken[document] < policy.chunks_per_document:
            taken[document] += 1
            chosen.append(item)
    return tuple(chosen)


def hits(ranked: Iterable[Ranked], bounds: SearchBounds) -> tuple[Hit, ...]:
    return tuple(_hit(item, bounds.snippet) for item in ranked)


def _hit(item: Ranked, characters: int) -> Hit:
    passage, scores = item.passage, item.scores
    return Hit(
        id=document_id((passage.source, passage.document)),
        score=round(scores.u, _DIGITS),
        relevance=round(scores.relevance, _DIGITS),
        source=passage.source,
        source_type=passage.source_type,
        title=passage.title,
        heading=passage.heading,
        snippet=shortened(passage.text, characters),
        url=passage.uri or passage.document,
        lines=passage.lines,
    )


def shortened(text: str, characters: int) -> str:
    """The beginning of `text`, broken at white space."""
    text = text.strip()
    if len(text) <= characters:
        return text
    head = text[: characters - len(_ELLIPSIS)]
    return (head.rsplit(None, 1)[0] if len(head.split(None, 1)) > 1 else head) + _ELLIPSIS


def whole(passages: Sequence[Passage]) -> str:
    """A document's chunks as one Markdown text, without the prose that two of them share."""
    pieces: list[str] = []
    before = ""
    for passage in passages:
        pieces.append(passage.text[_overlap(before, passage.text) :].strip())
        before = passage.text
    return "\n\n".join(piece for piece in pieces if piece)


_LONGEST_OVERLAP = 400  # characters; bot/ingest/chunk.py repeats about half of that
_SHORTEST_OVERLAP = 20  # what is shorter may be a coincidence


def _overlap(before: str, text: str) -> int:
    """How many characters at the start of `text` stood at the end of what came before."""
    longest = min(len(before), len(text), _LONGEST_OVERLAP)
    for size in range(longest, _SHORTEST_OVERLAP - 1, -1):
        if before.endswith(text[:size]):
            return size
    return 0
