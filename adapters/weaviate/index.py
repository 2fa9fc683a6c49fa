"""The knowledge index in a Weaviate server."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Collection, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import replace
from typing import TypeVar

from weaviate import WeaviateAsyncClient
from weaviate.exceptions import WeaviateQueryError, WeaviateStartUpError

from adapters.index_mismatch import other_question, other_vectors, profile_of
from adapters.weaviate.checks import findings
from adapters.weaviate.collections import Collections
from adapters.weaviate.connection import alive, connect
from adapters.weaviate.contents import begun, counted, counted_sources, emptied
from adapters.weaviate.facts import Stamp, Tools
from adapters.weaviate.faults import FAULTS, late, storage_faults, store_faults
from adapters.weaviate.generations import Aside, Generation, Generations, Work
from adapters.weaviate.options import Endpoint, Layout, Waits
from adapters.weaviate.schema import SCHEMA
from bot.adopting import Renewing
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


class WeaviateIndex(KnowledgeIndex, Renewing, Checkable):
    """Chunks, words, vectors and records of all sources, shared by the replicas of a bot.

    Any number of processes search; one at a time writes. A change of a file is as near to wholly
    or not at all as the server allows: see adapters/weaviate/writing.py for what a crash leaves
    and how the next sync repairs it.
    """

    def __init__(
        self, client: WeaviateAsyncClient, url: str, generations: Generations, waits: Waits
    ):
        self._client = client
        self._url = url
        self._generations = generations
        self._waits = waits
        self._turn = asyncio.Lock()  # of writers in this process
        self._dimension = 0
        self._profile: tuple[Stamp, Profile] | None = None

    @property
    def collections(self) -> Collections:
        """Of the generation that answered when it was last looked."""
        return self._generations.present.collections

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
        ready in time, a newer Belay wrote the index, or its tenant does not become active.
        """
        waits, endpoint = waits or Waits(), Endpoint.of(url, grpc)
        with storage_faults(endpoint.url):
            client = await connect(endpoint, key, waits)
        parts = Collections(client, layout or Layout(), shelf)
        index = cls(client, endpoint.url, Generations(parts), waits)
        try:
            await index._prepare()
        except BaseException:
            await index.close()
            raise
        return index

    async def profile(self) -> Profile:
        return await self._retrieved(self._load_profile)

    async def search(self, search: Search, scope: Scope) -> Sequence[Candidate]:
        if search.vector is not None and len(search.vector) != self._dimension:
            await self._check_question(search.vector)
        try:
            return await self._retrieved(lambda now: now.reading.search(search, scope))
        except StoreError as error:
            if search.vector is not None and isinstance(error.__cause__, WeaviateQueryError):
                await self._check_question(search.vector)  # rebuilt meanwhile by another process
            raise

    async def mentioned(self, terms: Sequence[str], scope: Scope) -> frozenset[str]:
        return await self._retrieved(lambda now: now.reading.mentioned(terms, scope))

    async def document(self, passage: Passage, scope: Scope) -> Sequence[Passage]:
        document = (passage.source, passage.document)
        return await self._retrieved(lambda now: now.reading.document(document, scope))

    async def readable(self, documents: Collection[Document], scope: Scope) -> frozenset[Document]:
        return await self._retrieved(lambda now: now.reading.readable(documents, scope))

    async def info(self) -> IndexInfo:
        return await self._found(self._info)

    async def begin(self, embedder: str, dimension: int, chunker: str) -> None:
        async with self._turn:
            await self._stored(lambda now: begun(now, (embedder, dimension, chunker)))
            self._dimension = dimension

    async def records(self, source: str) -> Mapping[str, FileRecord]:
        return await self._found(lambda now: now.files.records(source))

    async def stored(self, source: str, path: str) -> Sequence[Stored]:
        return await self._found(lambda now: now.reading.stored((source, path)))

    async def replace(self, source: str, record: FileRecord, chunks: Sequence[Chunk]) -> int:
        async with self._turn:
            await self._check_chunks(chunks)
            return await self._stored(lambda now: now.writing.replace(source, record, chunks))

    async def remove(self, source: str, paths: Sequence[str]) -> int:
        async with self._turn:
            return await self._stored(lambda now: now.writing.remove(source, paths))

    async def sources(self) -> Sequence[SourceRecord]:
        return await self._found(counted_sources)

    async def files_in(self, scope: Scope) -> Mapping[str, int]:
        return await self._found(lambda now: now.reading.files_in(scope))

    async def save_source(self, record: SourceRecord) -> None:
        await self._stored(lambda now: now.facts.save_source(record))

    async def remove_source(self, name: str) -> int:
        async with self._turn:
            return await self._stored(lambda now: now.writing.remove_source(name))

    async def chunks(self) -> AsyncIterator[tuple[Passage, Vector, TermCounts]]:
        """Ordered by source, path and place in the file, whatever was written first."""
        with storage_faults(self._url):
            now = await self._generations.look()
            async for chunk in now.reading.chunks(now.files):
                yield chunk.passage, chunk.vector, chunk.terms

    async def save_profile(self, profile: Profile) -> None:
        data = await asyncio.to_thread(profile.to_bytes)
        async with self._turn:
            await self._stored(lambda now: now.facts.save_profile(profile.revision, data))

    async def reset(self) -> None:
        """A crash leaves an index without tools: the next `belay sync --rebuild` ends it."""
        async with self._turn:
            await self._stored(emptied)
            self._dimension = 0

    @asynccontextmanager
    async def renewed(self) -> AsyncIterator[KnowledgeIndex]:
        old = await self._stored(_itself)
        new = await self._stored(self._generations.begin)
        try:
            yield WeaviateIndex(self._client, self._url, Aside(new.collections), self._waits)
        except Exception:
            with suppress(StorageError):  # what is left goes after the next one
                await self._stored(lambda _: self._generations.drop(new))
            raise
        await self._stored(lambda _: self._generations.switch(old, new))
        await self._swept()

    async def check(self) -> Sequence[Finding]:
        async with self._turn:
            return await self._stored(lambda now: findings(now, self._url))

    async def close(self) -> None:
        await self._client.close()

    async def drop(self) -> None:
        """Deletes the index with all its generations."""
        with storage_faults(self._url):
            await self._within(self._waits.write, self.collections.drop_all())

    async def _prepare(self) -> None:
        tools = await self._opened()
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

    async def _opened(self) -> Tools:
        with storage_faults(self._url):
            try:
                tools = await self._within(self._waits.write, self._generations.open(self._waits))
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
                await self._generations.present.facts.save_tools(replace(tools, schema=SCHEMA))
        except StorageError as error:
            _log.warning("the index keeps schema %d for now: %s", tools.schema, error)

    async def _info(self, now: Generation) -> IndexInfo:
        tools, stamp, chunks = await asyncio.gather(
            now.facts.tools(), now.facts.stamp(), counted(now)
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

    async def _check_chunks(self, chunks: Sequence[Chunk]) -> None:
        lengths = {len(chunk.vector) for chunk in chunks}
        if lengths - {self._dimension}:
            self._dimension = (await self._stored(lambda now: now.facts.tools())).dimension
        if other := lengths - {self._dimension}:
            raise other_vectors(self._dimension, max(other))

    async def _check_question(self, vector: Vector) -> None:
        """Raises IndexMismatch when the index has chunks of another dimension."""
        self._dimension = (await self._retrieved(lambda now: now.facts.tools())).dimension
        chunks = await self._retrieved(counted)
        if chunks and len(vector) != self._dimension:
            raise other_question(self._dimension, len(vector))

    async def _load_profile(self, now: Generation) -> Profile:
        """The stored profile, parsed once for each time that it was saved, by whichever process."""
        stamp = await now.facts.stamp()
        if stamp is None:
            kind = StoreError if await counted(now) else IndexEmpty
            raise kind("The index has no profile yet: run `belay sync`.")
        if self._profile is None or self._profile[0] != stamp:
            data = await now.facts.profile()
            self._profile = stamp, await asyncio.to_thread(profile_of, data)
        return self._profile[1]

    async def _swept(self) -> None:
        try:
            await self._stored(lambda _: self._generations.sweep())
        except StorageError as error:
            _log.warning("what was before the rebuild is still stored, until the next: %s", error)

    async def _retrieved(self, work: Work[T]) -> T:
        """Read for the answering machine: raises StoreError."""
        with store_faults(self._url):
            return await self._within(self._waits.query, self._generations.read(work))

    async def _found(self, work: Work[T]) -> T:
        """Read for the application: raises StorageError."""
        with storage_faults(self._url):
            return await self._within(self._waits.write, self._generations.read(work))

    async def _stored(self, work: Work[T]) -> T:
        """Written by the application: raises StorageError."""
        with storage_faults(self._url):
            return await self._within(self._waits.write, self._generations.write(work))

    async def _within(self, seconds: float, work: Awaitable[T]) -> T:
        """The client tries a dead server again for a minute: longer than anybody waits."""
        try:
            async with asyncio.timeout(seconds):
                return await work
        except FAULTS as error:
            if not late(error) or await alive(self._client, self._waits.look):
                raise
            raise WeaviateStartUpError("It does not answer.") from error


async def _itself(now: Generation) -> Generation:
    return now
