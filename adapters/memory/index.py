"""The knowledge index in plain Python: for tests, and for a first look without a data folder."""

from __future__ import annotations

from collections import Counter
from collections.abc import AsyncIterator, Collection, Mapping, Sequence
from dataclasses import replace

import numpy as np

from adapters.index_mismatch import other_question, other_tools, other_vectors
from bot.ports import Chunk, FileRecord, IndexInfo, KnowledgeIndex, SourceRecord, Stored
from graph.errors import IndexEmpty, StoreError
from graph.model import LANGUAGES, Access, Document, Passage, Scope
from graph.ports import Candidate, Search, Vector
from graph.profile import Profile
from graph.terms import TermCounts, counts_of, term_hashes

Place = tuple[str, str]  # source, path
Text = tuple[Access, str]  # access rule, content hash: findable once

_SATURATION = 1.2  # k1 of BM25


class MemoryIndex(KnowledgeIndex):
    """Keeps everything in dictionaries; a search looks at each chunk of the scope."""

    def __init__(self) -> None:
        self._info = IndexInfo()
        self._profile: Profile | None = None
        self._sources: dict[str, SourceRecord] = {}
        self._records: dict[Place, FileRecord] = {}
        self._files: dict[Place, tuple[Chunk, ...]] = {}
        self._places: dict[Text, set[Place]] = {}
        self._findable: dict[Text, Place] = {}

    async def profile(self) -> Profile:
        if self._profile is None:
            kind = StoreError if self._findable else IndexEmpty
            raise kind("The index has no profile yet: run `belay sync`.")
        return self._profile

    async def search(self, search: Search, scope: Scope) -> Sequence[Candidate]:
        readable = [chunk for chunk in self._stored() if scope.admits(chunk.access)]
        matches = _best_matches(readable, search.terms, search.lexical_limit)
        found = {id(chunk): chunk for chunk in (*self._nearest(readable, search), *matches)}
        return [
            Candidate(self._shown(chunk), chunk.vector, chunk.terms) for chunk in found.values()
        ]

    async def mentioned(self, terms: Sequence[str], scope: Scope) -> frozenset[str]:
        readable = [chunk.terms for chunk in self._stored() if scope.admits(chunk.access)]
        wanted = list(dict.fromkeys(term for term in terms if term))
        held = counts_of(term_hashes(wanted), readable).sum(axis=0)
        return frozenset(term for term, count in zip(wanted, held, strict=True) if count)

    async def document(self, passage: Passage, scope: Scope) -> Sequence[Passage]:
        chunks = self._files.get((passage.source, passage.document), ())
        return [self._shown(chunk) for chunk in chunks if scope.admits(chunk.access)]

    async def readable(self, documents: Collection[Document], scope: Scope) -> frozenset[Document]:
        return frozenset(
            document
            for document in documents
            if any(scope.admits(chunk.access) for chunk in self._files.get(document, ()))
        )

    async def info(self) -> IndexInfo:
        revision = -1 if self._profile is None else self._profile.revision
        return replace(self._info, chunks=len(self._findable), profile_revision=revision)

    async def begin(self, embedder: str, dimension: int, chunker: str) -> None:
        built_with = (self._info.embedder, self._info.dimension, self._info.chunker)
        if self._findable and built_with != (embedder, dimension, chunker):
            raise other_tools(built_with, (embedder, dimension, chunker))
        self._info = replace(self._info, embedder=embedder, dimension=dimension, chunker=chunker)

    async def records(self, source: str) -> Mapping[str, FileRecord]:
        return {path: record for (name, path), record in self._records.items() if name == source}

    async def stored(self, source: str, path: str) -> Sequence[Stored]:
        place = (source, path)
        return [
            Stored(chunk, self._findable[_text(chunk)] == place)
            for chunk in self._files.get(place, ())
        ]

    async def replace(self, source: str, record: FileRecord, chunks: Sequence[Chunk]) -> int:
        other = {len(chunk.vector) for chunk in chunks} - {self._info.dimension}
        if other:
            raise other_vectors(self._info.dimension, max(other))
        place = (source, record.path)
        distinct = _distinct(chunks)
        self._records[place] = record
        if not _same(distinct, self._files.get(place, ())):
            self._set_file(place, distinct)
            self._grow_revision()
        return sum(self._findable[_text(chunk)] == place for chunk in distinct)

    async def remove(self, source: str, paths: Sequence[str]) -> int:
        before = len(self._findable)
        for path in paths:
            self._records.pop((source, path), None)
        gone = [(source, path) for path in paths if (source, path) in self._files]
        for place in gone:
            self._set_file(place, ())
        if gone:
            self._grow_revision()
        return before - len(self._findable)

    async def sources(self) -> Sequence[SourceRecord]:
        stored = Counter(source for source, _ in self._findable.values())
        known = [self._sources[name] for name in sorted(self._sources)]
        return [replace(record, chunks=stored[record.name]) for record in known]

    async def files_in(self, scope: Scope) -> Mapping[str, int]:
        return Counter(
            source
            for (source, _), chunks in self._files.items()
            if any(scope.admits(chunk.access) for chunk in chunks)
        )

    async def save_source(self, record: SourceRecord) -> None:
        self._sources[record.name] = record

    async def remove_source(self, name: str) -> int:
        paths = {path for source, path in (*self._records, *self._files) if source == name}
        self._sources.pop(name, None)
        return await self.remove(name, sorted(paths))

    async def chunks(self) -> AsyncIterator[tuple[Passage, Vector, TermCounts]]:
        for chunk in self._stored():
            yield self._shown(chunk), chunk.vector, chunk.terms

    async def save_profile(self, profile: Profile) -> None:
        if self._profile is None or self._profile.revision <= profile.revision:
            self._profile = profile

    async def reset(self) -> None:
        self._info = IndexInfo(revision=self._info.revision + bool(self._findable))
        self._profile = None
        self._sources = {
            name: SourceRecord(name, record.kind, record.location)
            for name, record in self._sources.items()
        }
        for kept in (self._records, self._files, self._places, self._findable):
            kept.clear()

    async def close(self) -> None:
        """Nothing to close: what was stored is gone with the object."""

    def _stored(self) -> list[Chunk]:
        """The findable chunks, by source, path and place in the file."""
        return [
            chunk
            for place in sorted(self._files)
            for chunk in self._files[place]
            if self._findable[_text(chunk)] == place
        ]

    def _set_file(self, place: Place, chunks: tuple[Chunk, ...]) -> None:
        texts = {_text(chunk) for chunk in chunks}
        for text in {_text(chunk) for chunk in self._files.pop(place, ())} - texts:
            self._leave(text, place)
        for text in texts:
            self._places.setdefault(text, set()).add(place)
            self._findable.setdefault(text, place)
        if chunks:
            self._files[place] = chunks

    def _leave(self, text: Text, place: Place) -> None:
        places = self._places[text]
        places.remove(place)
        if not places:
            del self._places[text], self._findable[text]
        elif self._findable[text] == place:
            self._findable[text] = min(places)

    def _grow_revision(self) -> None:
        self._info = replace(self._info, revision=self._info.revision + 1)

    def _shown(self, chunk: Chunk) -> Passage:
        here = (chunk.passage.source, chunk.passage.document)
        others = self._places[_text(chunk)] - {here}
        return replace(chunk.passage, also_at=tuple(sorted(map("/".join, others))))

    def _nearest(self, chunks: Sequence[Chunk], search: Search) -> list[Chunk]:
        if search.vector is None or not self._findable:
            return []
        if len(search.vector) != self._info.dimension:
            raise other_question(self._info.dimension, len(search.vector))
        found: list[Chunk] = []
        for language in LANGUAGES:
            spoken = [chunk for chunk in chunks if chunk.passage.language == language]
            cosines = np.array([chunk.vector @ search.vector for chunk in spoken])
            found += [spoken[place] for place in np.argsort(-cosines)[: search.dense_limit]]
        return found


def _best_matches(chunks: Sequence[Chunk], terms: Sequence[str], limit: int) -> list[Chunk]:
    """BM25 without the length of the document: it only picks candidates."""
    wanted = term_hashes(dict.fromkeys(term for term in terms if term))
    counts = counts_of(wanted, [chunk.terms for chunk in chunks])
    held = (counts > 0).sum(axis=0)
    rarity = np.log(1 + (len(chunks) - held + 0.5) / (held + 0.5))
    scores = (counts / (counts + _SATURATION)) @ rarity
    order = np.argsort(-scores)[:limit]
    return [chunks[place] for place in order if scores[place] > 0]


def _text(chunk: Chunk) -> Text:
    return chunk.access, chunk.content_hash


def _distinct(chunks: Sequence[Chunk]) -> tuple[Chunk, ...]:
    """Each text of a file once, where it stands first."""
    distinct: dict[Text, Chunk] = {}
    for chunk in chunks:
        distinct.setdefault(_text(chunk), chunk)
    return tuple(distinct.values())


def _same(new: Sequence[Chunk], old: Sequence[Chunk]) -> bool:
    return [_values(chunk) for chunk in new] == [_values(chunk) for chunk in old]


def _values(chunk: Chunk) -> tuple[object, ...]:
    """All of a chunk in values that can be compared; arrays cannot."""
    return (
        chunk.passage,
        chunk.access,
        chunk.content_hash,
        chunk.fields,
        chunk.terms.to_bytes(),
        chunk.vector.tobytes(),
    )
