"""The knowledge index in a Weaviate server."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Collection, Mapping, Sequence
from dataclasses import replace
from typing import TypeVar

from weaviate import WeaviateAsyncClient
from weaviate.classes.query import Filter
from weaviate.exceptions import (
    WeaviateGRPCUnavailableError,
    WeaviateQueryError,
    WeaviateStartUpError,
)

from adapters.index_mismatch import other_question, other_tools, other_vectors, profile_of
from adapters.weaviate.checks import findings
from adapters.weaviate.connection import alive, connect
from adapters.weaviate.facts import Facts, Stamp, Tools
from adapters.weaviate.faults import FAULTS, late, storage_faults, store_faults
from adapters.weaviate.files import Files
from adapters.weaviate.options import Endpoint, Layout, Waits
from adapters.weaviate.paging import count
from adapters.weaviate.reading import Reading
from adapters.weaviate.rows import exact
from adapters.weaviate.schema import SCHEMA, Collections
from adapters.weaviate.scopes import findable
from adapters.weaviate.writing import Writing
from bot.errors import StorageError
from bot.ports import (
    Checkable,
    Chunk,
    FileRecord,
    Finding,
    IndexInfo,
    KnowledgeIndex,
    SourceRecord,
    Stored,
)
from graph.errors import IndexEmpty, StoreError
from graph.model import Document, Passage, Scope
from graph.ports import Candidate, Search, Vector
from graph.profile import Profile
from graph.terms import TermCounts

_log = logging.getLogger(__name__)

T = TypeVar("T")


class WeaviateIndex(KnowledgeIndex, Checkable):
    """Chunks, words, vectors and records of all sources, shared by the replicas of a bot.

    Any number of processes search; one at a time writes. A change of a file is as near to wholly
    or not at all as the server allows: see adapters/weaviate/writing.py for what a crash leaves
    and how the next sync repairs it.
    """

    def __init__(self, client: WeaviateAsyncClient, url: str, parts: Collections, waits: Waits):
        self._client = client
        self._url = url
        self.collections = parts
        self._waits = waits
        self._facts = Facts(parts)
        self._files = Files(parts)
        self._reading = Reading(parts)
        self._writing = Writing(parts, self._facts, self._files)
        self._turn = asyncio.Lock()  # of writers in this process
        self._dimension = 0
        self._profile: tuple[Stamp, Profile] | None = None

    @classmethod
    async def open(
        cls,
        url: str,
        *,
        grpc: str = "",
        key: str = "",
        shelf: str = "Documents",
        layout: Layout | None = None,
        waits: Waits | None = None,
    ) -> WeaviateIndex:
        """The index `shelf` of the server at `url`, made when it is missing.

        `grpc` is `HOST:PORT` when that is not the same host and port 50051. Documents and what
        was said in chats lie on shelves of their own. Raises StorageError when the server is not
        ready in time or a newer Belay wrote the index.
        """
        waits, endpoint = waits or Waits(), Endpoint.of(url, grpc)
        with storage_faults(endpoint.url):
            client = await connect(endpoint, key, waits)
        index = cls(client, endpoint.url, Collections(client, layout or Layout(), shelf), waits)
        try:
            await index._prepare()
        except BaseException:
            await index.close()
            raise
        return index

    async def profile(self) -> Profile:
        return await self._retrieved(self._load_profile())

    async def search(self, search: Search, scope: Scope) -> Sequence[Candidate]:
        if search.vector is not None and len(search.vector) != self._dimension:
            await self._check_question(search.vector)
        try:
            return await self._retrieved(self._reading.search(search, scope))
        except StoreError as error:
            if search.vector is not None and isinstance(error.__cause__, WeaviateQueryError):
                await self._check_question(search.vector)  # rebuilt meanwhile by another process
            raise

    async def mentioned(self, terms: Sequence[str], scope: Scope) -> frozenset[str]:
        return await self._retrieved(self._reading.mentioned(terms, scope))

    async def document(self, passage: Passage, scope: Scope) -> Sequence[Passage]:
        document = (passage.source, passage.document)
        return await self._retrieved(self._reading.document(document, scope))

    async def readable(self, documents: Collection[Document], scope: Scope) -> frozenset[Document]:
        return await self._retrieved(self._reading.readable(documents, scope))

    async def info(self) -> IndexInfo:
        tools, stamp, chunks = await self._stored(
            asyncio.gather(self._facts.tools(), self._facts.stamp(), self._count())
        )
        return IndexInfo(
            embedder=tools.embedder,
            dimension=tools.dimension,
            chunker=tools.chunker,
            chunks=chunks,
            revision=tools.revision,
            profile_revision=stamp.revision if stamp else -1,
            details={"server": self._url, "schema": str(tools.schema)},
        )

    async def begin(self, embedder: str, dimension: int, chunker: str) -> None:
        wanted = (embedder, dimension, chunker)
        async with self._turn:
            tools = await self._stored(self._facts.tools())
            if tools.names == wanted:
                return
            if await self._stored(self._count()):
                raise other_tools(tools.names, wanted)
            if tools.dimension not in (0, dimension):
                await self._stored(self.collections.renew("Chunks"))
            await self._save_tools(
                replace(tools, embedder=embedder, dimension=dimension, chunker=chunker)
            )

    async def records(self, source: str) -> Mapping[str, FileRecord]:
        return await self._stored(self._files.records(source))

    async def stored(self, source: str, path: str) -> Sequence[Stored]:
        return await self._stored(self._reading.stored((source, path)))

    async def replace(self, source: str, record: FileRecord, chunks: Sequence[Chunk]) -> int:
        async with self._turn:
            await self._check_chunks(chunks)
            return await self._stored(self._writing.replace(source, record, chunks))

    async def remove(self, source: str, paths: Sequence[str]) -> int:
        async with self._turn:
            return await self._stored(self._writing.remove(source, paths))

    async def sources(self) -> Sequence[SourceRecord]:
        return await self._stored(self._counted_sources())

    async def files_in(self, scope: Scope) -> Mapping[str, int]:
        return await self._stored(self._reading.files_in(scope))

    async def save_source(self, record: SourceRecord) -> None:
        await self._stored(self._facts.save_source(record))

    async def remove_source(self, name: str) -> int:
        async with self._turn:
            return await self._stored(self._writing.remove_source(name))

    async def chunks(self) -> AsyncIterator[tuple[Passage, Vector, TermCounts]]:
        """Ordered by source, path and place in the file, whatever was written first."""
        with storage_faults(self._url):
            async for chunk in self._reading.chunks(self._files):
                yield chunk.passage, chunk.vector, chunk.terms

    async def save_profile(self, profile: Profile) -> None:
        data = await asyncio.to_thread(profile.to_bytes)
        await self._stored(self._facts.save_profile(profile.revision, data))

    async def reset(self) -> None:
        """A crash leaves an index without tools: the next `belay sync --rebuild` ends it."""
        async with self._turn:
            await self._stored(self._empty())

    async def check(self) -> Sequence[Finding]:
        async with self._turn:
            return await self._stored(findings(self._client, self._facts, self._url))

    async def close(self) -> None:
        await self._client.close()

    async def drop(self) -> None:
        """Deletes the collections of the index."""
        await self._stored(self.collections.drop())

    async def _prepare(self) -> None:
        tools = await self._stored(self._first_facts())
        if tools.schema > SCHEMA:
            raise StorageError(
                f"A newer version of Belay wrote the index (schema {tools.schema}, this version "
                f"knows {SCHEMA}): {self._url}.",
                "Update Belay, or let BELAY_WEAVIATE__PREFIX name other collections and run "
                "`belay sync`.",
            )
        if tools.schema < SCHEMA:
            await self._bring_up(tools)
        self._dimension = tools.dimension

    async def _first_facts(self) -> Tools:
        """Through REST, then gRPC: they are two doors, and one of them may be shut."""
        await self.collections.ensure()
        try:
            async with asyncio.timeout(self._waits.query):
                tools = await self._facts.tools()
        except TimeoutError as error:
            raise WeaviateGRPCUnavailableError from error
        except WeaviateQueryError:
            await self._check_schema()
            raise
        await self._check_schema()
        return tools

    async def _check_schema(self) -> None:
        """Raises StorageError for collections in which filters would find other things."""
        if strange := await self.collections.strange():
            raise StorageError(
                f"Weaviate has {strange} in another way than Belay makes it: {self._url}.",
                "Let BELAY_WEAVIATE__PREFIX name other collections, or delete this one in "
                "Weaviate; then run `belay sync`.",
            )

    async def _bring_up(self, tools: Tools) -> None:
        """To the present schema. A server that takes no changes is still read: the next start
        does it."""
        try:
            with storage_faults(self._url):
                await self.collections.complete()
                await self._facts.save_tools(replace(tools, schema=SCHEMA))
        except StorageError as error:
            _log.warning("the index keeps schema %d for now: %s", tools.schema, error)

    async def _save_tools(self, tools: Tools) -> None:
        await self._stored(self._facts.save_tools(tools))
        self._dimension = tools.dimension

    async def _check_chunks(self, chunks: Sequence[Chunk]) -> None:
        lengths = {len(chunk.vector) for chunk in chunks}
        if lengths - {self._dimension}:
            self._dimension = (await self._stored(self._facts.tools())).dimension
        if other := lengths - {self._dimension}:
            raise other_vectors(self._dimension, max(other))

    async def _check_question(self, vector: Vector) -> None:
        """Raises IndexMismatch when the index has chunks of another dimension."""
        self._dimension = (await self._retrieved(self._facts.tools())).dimension
        chunks = await self._retrieved(self._count())
        if chunks and len(vector) != self._dimension:
            raise other_question(self._dimension, len(vector))

    async def _count(self) -> int:
        return await count(self.collections.chunks, findable())

    async def _counted_sources(self) -> list[SourceRecord]:
        records = await self._facts.sources()
        named = [Filter.by_property("source").equal(exact(record.name)) for record in records]
        counts = await asyncio.gather(
            *(count(self.collections.chunks, where & findable()) for where in named)
        )
        return [replace(record, chunks=n) for record, n in zip(records, counts, strict=True)]

    async def _empty(self) -> None:
        tools, chunks = await asyncio.gather(self._facts.tools(), self._count())
        await self._facts.save_tools(Tools(revision=tools.revision + bool(chunks)))
        await self._facts.forget_profile()
        await self.collections.renew("Files", "Chunks")
        for record in await self._facts.sources():
            await self._facts.save_source(SourceRecord(record.name, record.kind, record.location))
        self._dimension = 0

    async def _load_profile(self) -> Profile:
        """The stored profile, parsed once for each time that it was saved, by whichever process."""
        stamp = await self._facts.stamp()
        if stamp is None:
            kind = StoreError if await self._count() else IndexEmpty
            raise kind("The index has no profile yet: run `belay sync`.")
        if self._profile is None or self._profile[0] != stamp:
            data = await self._facts.profile()
            self._profile = stamp, await asyncio.to_thread(profile_of, data)
        return self._profile[1]

    async def _retrieved(self, work: Awaitable[T]) -> T:
        """For the answering machine: raises StoreError."""
        with store_faults(self._url):
            return await self._within(self._waits.query, work)

    async def _stored(self, work: Awaitable[T]) -> T:
        """For the application: raises StorageError."""
        with storage_faults(self._url):
            return await self._within(self._waits.write, work)

    async def _within(self, seconds: float, work: Awaitable[T]) -> T:
        """The client tries a dead server again for a minute: longer than anybody waits."""
        try:
            async with asyncio.timeout(seconds):
                return await work
        except FAULTS as error:
            if not late(error) or await alive(self._client, self._waits.look):
                raise
            raise WeaviateStartUpError("It does not answer.") from error
