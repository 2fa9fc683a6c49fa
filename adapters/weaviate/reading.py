"""Chunks as they are searched for and read back."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import AsyncIterator, Collection, Iterable, Mapping, Sequence
from typing import Any

from weaviate.classes.query import Filter

from adapters.weaviate.collections import Collections
from adapters.weaviate.files import Files, Held
from adapters.weaviate.paging import PAGE, everything, groups
from adapters.weaviate.rows import candidate, document_key, document_of, passage, stored
from adapters.weaviate.schema import CHUNK_NAMES
from adapters.weaviate.scopes import Where, admitted, findable
from bot.ports import Stored
from graph.model import LANGUAGES, Document, Passage, Scope
from graph.ports import Candidate, Search, Vector

_SHOWN = ("document", "text", "passage", "terms")
_AT_ONCE = 16  # requests


class Reading:
    """Every search filters by the scope inside the server, before its limit."""

    def __init__(self, collections: Collections) -> None:
        self._collections = collections
        self._free = asyncio.Semaphore(_AT_ONCE)

    async def search(self, search: Search, scope: Scope) -> list[Candidate]:
        where = admitted(scope) & findable()
        halves = []
        query = _query(search.terms)
        if query and search.lexical_limit > 0:
            halves.append(self._matches(query, where, search.lexical_limit))
        if search.vector is not None:
            for language in LANGUAGES:
                spoken = where & Filter.by_property("language").equal(language)
                halves.append(self._nearest(search.vector, spoken, search.dense_limit))
        found = {
            hit.properties["text"]: hit for hits in await asyncio.gather(*halves) for hit in hits
        }
        places = await self._places(found, Filter.by_property("findable").equal(False))
        return [
            candidate(hit.properties, hit.vector["default"], _others(hit.properties, places))
            for hit in found.values()
        ]

    async def mentioned(self, terms: Sequence[str], scope: Scope) -> frozenset[str]:
        wanted = [term for term in dict.fromkeys(terms) if _query([term])]
        held = await asyncio.gather(*(self._mentions(term, admitted(scope)) for term in wanted))
        return frozenset(term for term, found in zip(wanted, held, strict=True) if found)

    async def document(self, document: Document, scope: Scope) -> list[Passage]:
        """Its chunks in reading order."""
        where = _document(document) & admitted(scope)
        names = (*_SHOWN[:3], "ordinal")
        found = await everything(self._collections.chunks, where, names)
        found.sort(key=lambda item: item.properties["ordinal"])
        places = await self._places([item.properties["text"] for item in found])
        return [passage(item.properties, _others(item.properties, places)) for item in found]

    async def stored(self, document: Document) -> list[Stored]:
        """Its chunks in reading order, duplicates included."""
        found = await everything(
            self._collections.chunks, _document(document), CHUNK_NAMES, vectors=True
        )
        found.sort(key=lambda item: item.properties["ordinal"])
        return [stored(_whole(item.properties), item.vector["default"]) for item in found]

    async def readable(self, documents: Collection[Document], scope: Scope) -> frozenset[Document]:
        found: set[Document] = set()
        for some in groups([document_key(document) for document in documents]):
            where = Filter.by_property("document").contains_any(list(some)) & admitted(scope)
            found |= await self._documents(where)
        return frozenset(found)

    async def files_in(self, scope: Scope) -> Mapping[str, int]:
        counted: dict[str, int] = defaultdict(int)
        for source, _ in await self._documents(admitted(scope)):
            counted[source] += 1
        return dict(counted)

    async def chunks(self, files: Files) -> AsyncIterator[Candidate]:
        """The findable chunks by source, path and place in the file."""
        for some in _pages(await files.held()):
            keys = [document_key(held.document) for held in some]
            where = Filter.by_property("document").contains_any(keys) & findable()
            names = (*_SHOWN, "ordinal")
            found = await everything(self._collections.chunks, where, names, vectors=True)
            found.sort(key=_place)
            places = await self._places([item.properties["text"] for item in found])
            for item in found:
                others = _others(item.properties, places)
                yield candidate(item.properties, item.vector["default"], others)

    async def _matches(self, query: str, where: Where, limit: int) -> Sequence[Any]:
        answer = await self._collections.chunks.query.bm25(
            query,
            query_properties=["stems"],
            limit=limit,
            filters=where,
            include_vector=True,
            return_properties=list(_SHOWN),
        )
        return answer.objects

    async def _nearest(self, vector: Vector, where: Where, limit: int) -> Sequence[Any]:
        answer = await self._collections.chunks.query.near_vector(
            vector.tolist(),
            limit=limit,
            filters=where,
            include_vector=True,
            return_properties=list(_SHOWN),
        )
        return answer.objects

    async def _mentions(self, term: str, where: Where) -> bool:
        async with self._free:
            answer = await self._collections.chunks.query.bm25(
                term, query_properties=["stems"], limit=1, filters=where, return_properties=[]
            )
        return bool(answer.objects)

    async def _documents(self, where: Where) -> set[Document]:
        first = Filter.by_property("first").equal(True)
        found = await everything(self._collections.chunks, where & first, ("document",))
        return {document_of(item.properties["document"]) for item in found}

    async def _places(
        self, texts: Iterable[str], where: Where | None = None
    ) -> dict[str, set[Document]]:
        """Where each text stands. A text has one access rule: no hidden place is among them."""
        places: dict[str, set[Document]] = defaultdict(set)
        for some in groups(sorted(texts)):
            same = Filter.by_property("text").contains_any(list(some))
            wanted = same if where is None else same & where
            for item in await everything(self._collections.chunks, wanted, ("document", "text")):
                places[item.properties["text"]].add(document_of(item.properties["document"]))
        return places


def _whole(properties: Mapping[str, Any]) -> Mapping[str, Any]:
    if properties["parts"]:
        return properties
    from adapters.weaviate.earlier import completed  # noqa: PLC0415 - hardly ever needed

    return completed(properties)


def _query(terms: Sequence[str]) -> str:
    """Terms as the server's tokenizer parts them. One with white space is no analyzer token."""
    return " ".join(term for term in dict.fromkeys(terms) if term.split() == [term])


def _document(document: Document) -> Where:
    return Filter.by_property("document").equal(document_key(document))


def _others(properties: Mapping[str, Any], places: Mapping[str, set[Document]]) -> list[str]:
    here = document_of(properties["document"])
    return ["/".join(place) for place in places.get(properties["text"], set()) - {here}]


def _place(item: Any) -> tuple[Document, int]:
    return document_of(item.properties["document"]), item.properties["ordinal"]


def _pages(documents: Sequence[Held]) -> list[list[Held]]:
    """Documents in groups of about a page of chunks; one that is longer stands alone."""
    pages: list[list[Held]] = [[]]
    size = 0
    for held in documents:
        if pages[-1] and size + held.chunks >= PAGE:
            pages.append([])
            size = 0
        pages[-1].append(held)
        size += held.chunks
    return [page for page in pages if page]
