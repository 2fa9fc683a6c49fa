"""Whether a copy of an index is one: by its files and chunks, and by what searches find."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime

from bot.errors import StorageError
from bot.ports import Chunk, FileRecord, KnowledgeIndex
from bot.progress import Progress
from graph.model import Document, Passage, Scope, Status
from graph.ports import Candidate, Search, Vector

SAMPLES = 25  # files whose text is searched for, spread over all
TOP = 5  # documents that must be the same
_TERMS = 12
_SAME = 1e-4  # of a cosine: the last bits of a product depend on where a vector lies

Files = Mapping[str, Mapping[str, FileRecord]]  # by source and path


async def compared(
    origin: KnowledgeIndex, copy: KnowledgeIndex, files: Files, progress: Progress
) -> int:
    """The number of searches that found the same in both. Raises StorageError for a difference."""
    await _counted(origin, copy, files)
    sampled = _spread([(name, path) for name in files for path in files[name]])
    progress.begin("comparing", len(sampled))
    asked = 0
    try:
        for document in sampled:
            asked += await _same(origin, copy, document)
            progress.advance()
    finally:
        progress.end()
    return asked


async def _counted(origin: KnowledgeIndex, copy: KnowledgeIndex, files: Files) -> None:
    for name, known in files.items():
        there = await copy.records(name)
        if dict(there) != dict(known):
            raise _differs(f"{name} has {len(there)} files there, {len(known)} here")
    here, there_too = (await origin.info()).chunks, (await copy.info()).chunks
    if here != there_too:
        raise _differs(f"{there_too} chunks there, {here} here")


def _spread(documents: Sequence[Document]) -> list[Document]:
    """At most `SAMPLES`, as far apart as they can be."""
    step = max(1, len(documents) / SAMPLES)
    return [documents[int(place * step)] for place in range(min(SAMPLES, len(documents)))]


async def _same(origin: KnowledgeIndex, copy: KnowledgeIndex, document: Document) -> bool:
    """False when the file has nothing that may be found."""
    stored = await origin.stored(*document)
    chunks = [item.chunk for item in stored if item.chunk.access.status is Status.PUBLISHED]
    if not chunks:
        return False
    chunk = chunks[len(chunks) // 2]
    terms, scope = tuple(dict.fromkeys(chunk.fields.body))[:_TERMS], _reader(chunk)
    near, words = Search((), chunk.vector), Search(terms, None)
    first = [await index.search(near, scope) for index in (origin, copy)]
    if not _alike(first[0], first[1], chunk.vector):
        raise _differs(f"what is near to {'/'.join(document)} is not the same")
    found = [await index.search(words, scope) for index in (origin, copy)]
    if _held(found[0], document) != _held(found[1], document):
        raise _differs(f"the words of {'/'.join(document)} do not find it in both")
    return True


def _reader(chunk: Chunk) -> Scope:
    """Somebody who may read the chunk."""
    access = chunk.access
    now = datetime.now(UTC)
    if access.effective_from is not None and access.effective_from > now:
        now = access.effective_from
    elif access.effective_until is not None and access.effective_until <= now:
        now = access.effective_from or datetime(1970, 1, 1, tzinfo=UTC)
    return Scope(
        tenant=access.tenant,
        levels=frozenset({access.audience}),
        labels=access.labels,
        now=now,
        place=access.place,
    )


def _alike(one: Sequence[Candidate], two: Sequence[Candidate], vector: Vector) -> bool:
    """Whether each found the other's nearest texts, at the same places and as near."""
    first, second = _scores(one, vector), _scores(two, vector)
    return _holds(first, second) and _holds(second, first)


def _scores(hits: Sequence[Candidate], vector: Vector) -> dict[frozenset[str], float]:
    """How near each text is, by its places; a file's nearest counts."""
    found: dict[frozenset[str], float] = {}
    for hit in hits:
        places, score = _places(hit.passage), float(hit.vector @ vector)
        found[places] = max(score, found.get(places, score))
    return found


def _holds(scores: Mapping[frozenset[str], float], others: Mapping[frozenset[str], float]) -> bool:
    best = sorted(others, key=lambda places: -others[places])[:TOP]
    return all(places in scores and abs(scores[places] - others[places]) < _SAME for places in best)


def _held(hits: Sequence[Candidate], document: Document) -> bool:
    return any("/".join(document) in _places(hit.passage) for hit in hits)


def _places(passage: Passage) -> frozenset[str]:
    return frozenset({f"{passage.source}/{passage.document}", *passage.also_at})


def _differs(how: str) -> StorageError:
    return StorageError(
        f"The copy differs from what was copied: {how}.",
        "Something else changed one of them meanwhile: run it again, with --overwrite if need be.",
    )
