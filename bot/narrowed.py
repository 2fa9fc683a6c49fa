"""An index of which only some sources may be read: what a reading policy names.

A store filters by access, not by the name of a source, so what it finds is filtered here, from
more candidates than were asked for, and from more of them again while too few are open. A text that
several sources hold is stored once: where the first of them is closed, the passage is shown as the
open one has it.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace

from bot.search import documents_of
from graph.model import Document, Passage, Scope
from graph.ports import Candidate, Retriever, Search
from graph.profile import Profile

_WIDER = (8, 64, 512)  # times the candidates: what closed sources take away


class Narrowed(Retriever):
    """`sources` are names of sources; none closes everything."""

    def __init__(self, retriever: Retriever, sources: Collection[str]) -> None:
        self._retriever, self._sources = retriever, frozenset(sources)

    async def profile(self) -> Profile:
        return await self._retriever.profile()

    async def search(self, search: Search, scope: Scope) -> Sequence[Candidate]:
        found: list[Candidate] = []
        seen = 0
        for times in _WIDER:
            wider = replace(
                search,
                dense_limit=search.dense_limit * times,
                lexical_limit=search.lexical_limit * times,
            )
            candidates = await self._retriever.search(wider, scope)
            found = await self._open_ones(candidates, scope)
            if len(found) >= search.dense_limit or len(candidates) == seen:
                break
            seen = len(candidates)
        return found

    async def _open_ones(self, candidates: Sequence[Candidate], scope: Scope) -> list[Candidate]:
        found: list[Candidate] = []
        for candidate in candidates:
            passage = await self._open(candidate.passage, scope)
            if passage is not None:
                found.append(replace(candidate, passage=passage))
        return found

    async def mentioned(self, terms: Sequence[str], scope: Scope) -> frozenset[str]:
        return await self._retriever.mentioned(terms, scope)

    async def document(self, passage: Passage, scope: Scope) -> Sequence[Passage]:
        if passage.source not in self._sources:
            return ()
        found = await self._retriever.document(passage, scope)
        return [replace(item, also_at=self._open_places(item)) for item in found]

    async def readable(self, documents: Collection[Document], scope: Scope) -> frozenset[Document]:
        inside = [document for document in documents if document[0] in self._sources]
        return await self._retriever.readable(inside, scope)

    async def _open(self, passage: Passage, scope: Scope) -> Passage | None:
        """The passage where it may be read; None where it stands in closed sources alone."""
        if passage.source in self._sources:
            return replace(passage, also_at=self._open_places(passage))
        places = [place for also in passage.also_at for place in documents_of(also)]
        for source, path in sorted(await self.readable(places, scope)):
            there = replace(passage, source=source, document=path)
            for twin in await self.document(there, scope):
                if twin.text.split() == passage.text.split():
                    return twin
        return None

    def _open_places(self, passage: Passage) -> tuple[str, ...]:
        return tuple(
            also
            for also in passage.also_at
            if any(source in self._sources for source, _ in documents_of(also))
        )
