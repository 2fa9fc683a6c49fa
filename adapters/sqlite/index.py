"""The knowledge index in one SQLite file."""

from __future__ import annotations

import asyncio
import os
import sqlite3
from collections.abc import AsyncIterator, Callable, Collection, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from copy import copy
from dataclasses import replace
from functools import partial
from pathlib import Path
from threading import Lock
from typing import ParamSpec, TypeVar

from adapters.index_mismatch import other_question, other_tools, other_vectors, profile_of
from adapters.sqlite import adopting, fence, reading, rows, writing
from adapters.sqlite.audiences import Audiences
from adapters.sqlite.batch import Batch
from adapters.sqlite.database import Database
from adapters.sqlite.faults import storage_faults, store_faults
from adapters.sqlite.schema import SCHEMA
from adapters.sqlite.vectors import Vectors
from adapters.sqlite.words import best_matches, mentioned_terms
from bot.adopting import Adopting
from bot.fenced import Fencing
from bot.ports import (
    Chunk,
    FileRecord,
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

_PAGE = 512  # chunks that are read at a time

T = TypeVar("T")
P = ParamSpec("P")


class SqliteIndex(KnowledgeIndex, Adopting, Fencing):
    """Chunks, words, vectors and records of all sources, shared by threads and processes.

    Searches read a snapshot and never wait for a writer. Writers take turns; one that has waited
    `busy_timeout` seconds gives up with StorageError. Nothing is done before `open`.
    """

    def __init__(self, path: Path, *, busy_timeout: float = 10.0) -> None:
        self._path = path
        self._database = Database(path, busy_timeout)
        self._audiences = Audiences()
        self._vectors = Vectors()
        self._profile: tuple[int, Profile] | None = None
        self._profile_lock = Lock()
        self._number: int | None = None  # of a writer that a later one ends
        # Few threads: each reads through a connection of its own, with a cache of its own.
        self._readers = ThreadPoolExecutor(max(2, os.cpu_count() or 1), "index")
        self._documents = Batch(self._readers, self._read_documents)

    @classmethod
    async def open(cls, path: Path, *, busy_timeout: float = 10.0) -> SqliteIndex:
        """The index in the file `path`, which is made when it is missing.

        Raises StorageError when the file cannot be used or a newer Belay wrote it.
        """
        index = cls(path, busy_timeout=busy_timeout)
        try:
            await asyncio.to_thread(index._prepare)
        except BaseException:
            await index.close()
            raise
        return index

    async def fenced(self) -> SqliteIndex:
        writer = copy(self)
        writer._number = await asyncio.to_thread(self._write, fence.advance)
        return writer

    async def profile(self) -> Profile:
        return await self._in_reader(self._load_profile)

    async def search(self, search: Search, scope: Scope) -> Sequence[Candidate]:
        return await self._in_reader(self._search, search, scope)

    async def mentioned(self, terms: Sequence[str], scope: Scope) -> frozenset[str]:
        def find(connection: sqlite3.Connection) -> frozenset[str]:
            admitted = self._audiences.admitted(connection, scope)
            return mentioned_terms(connection, terms, admitted)

        return await self._in_reader(self._retrieve, find)

    async def document(self, passage: Passage, scope: Scope) -> Sequence[Passage]:
        if self._database.closed:
            return self._read_documents([(passage, scope)])[0]
        return await self._documents.ask((passage, scope))

    async def readable(self, documents: Collection[Document], scope: Scope) -> frozenset[Document]:
        def find(connection: sqlite3.Connection) -> frozenset[Document]:
            return reading.readable(
                connection, documents, self._audiences.admitted(connection, scope)
            )

        return await self._in_reader(self._retrieve, find)

    async def info(self) -> IndexInfo:
        info = await self._in_reader(self._read, reading.info)
        return replace(info, details={"path": str(self._path), "schema": str(SCHEMA)})

    async def begin(self, embedder: str, dimension: int, chunker: str) -> None:
        def name(connection: sqlite3.Connection) -> None:
            info = reading.info(connection)
            built_with = (info.embedder, info.dimension, info.chunker)
            wanted = (embedder, dimension, chunker)
            if info.chunks and built_with != wanted:
                raise other_tools(built_with, wanted)
            connection.execute("UPDATE meta SET embedder = ?, dimension = ?, chunker = ?", wanted)

        await asyncio.to_thread(self._write, name)

    async def records(self, source: str) -> Mapping[str, FileRecord]:
        def read(connection: sqlite3.Connection) -> dict[str, FileRecord]:
            found = connection.execute(
                "SELECT path, fingerprint, state, reason, detail, chunks, title, updated_at "
                "FROM files WHERE source = ? ORDER BY path",
                (source,),
            )
            return {row[0]: rows.file_from_row(row) for row in found}

        return await self._in_reader(self._read, read)

    async def stored(self, source: str, path: str) -> Sequence[Stored]:
        return await self._in_reader(
            self._read, lambda connection: reading.stored(connection, source, path)
        )

    async def replace(self, source: str, record: FileRecord, chunks: Sequence[Chunk]) -> int:
        def write(connection: sqlite3.Connection) -> int:
            _check_dimension(connection, chunks)
            return writing.replace_file(connection, source, record, chunks)

        return await asyncio.to_thread(self._write, write)

    async def remove(self, source: str, paths: Sequence[str]) -> int:
        """Nothing of the files can be read in the file of the index afterwards."""

        def write(connection: sqlite3.Connection) -> int:
            removed = writing.remove_files(connection, source, paths)
            if removed:
                writing.tidy_words(connection)
            return removed

        return await asyncio.to_thread(self._erase, write)

    async def sources(self) -> Sequence[SourceRecord]:
        return await self._in_reader(self._read, reading.sources)

    async def files_in(self, scope: Scope) -> Mapping[str, int]:
        def read(connection: sqlite3.Connection) -> dict[str, int]:
            return reading.files_in(connection, self._audiences.admitted(connection, scope))

        return await self._in_reader(self._read, read)

    async def save_source(self, record: SourceRecord) -> None:
        await asyncio.to_thread(
            self._write, lambda connection: writing.save_source(connection, record)
        )

    async def remove_source(self, name: str) -> int:
        def write(connection: sqlite3.Connection) -> int:
            removed = writing.remove_source(connection, name)
            writing.tidy_words(connection)
            return removed

        return await asyncio.to_thread(self._erase, write)

    async def chunks(self) -> AsyncIterator[tuple[Passage, Vector, TermCounts]]:
        """Ordered by source, path and place in the file, whatever was written first."""
        after: reading.Place | None = reading.BEFORE_ALL
        while after is not None:
            found, after = await self._in_reader(self._page, after)
            for chunk in found:
                yield chunk.passage, chunk.vector, chunk.terms

    async def save_profile(self, profile: Profile) -> None:
        data = await asyncio.to_thread(profile.to_bytes)
        await asyncio.to_thread(
            self._write,
            lambda connection: writing.save_profile(connection, profile.revision, data),
        )

    async def adopt(self, other: Path) -> None:
        """Becomes what the index in the file `other` is, in one transaction: whoever searches
        meanwhile finds what was here before. Raises StorageError."""

        def take() -> None:
            with storage_faults(self._path), self._database.write_beside(other) as connection:
                fence.check(connection, self._number)
                adopting.adopt(connection)

        await asyncio.to_thread(take)

    async def reset(self) -> None:
        await asyncio.to_thread(self._write, writing.empty)

    async def close(self) -> None:
        """Ends all connections; a write that is running is finished first."""
        await asyncio.to_thread(self._database.close)
        self._readers.shutdown(wait=False)

    async def _in_reader(self, work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Runs `work` in a thread that never waits for a writer."""
        if self._database.closed:  # it says so itself
            return await asyncio.to_thread(work, *args, **kwargs)
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._readers, partial(work, *args, **kwargs))

    def _prepare(self) -> None:
        with storage_faults(self._path):
            self._database.prepare()

    def _read(self, work: Callable[[sqlite3.Connection], T]) -> T:
        with storage_faults(self._path), self._database.read() as connection:
            return work(connection)

    def _write(self, work: Callable[[sqlite3.Connection], T]) -> T:
        with storage_faults(self._path), self._database.write() as connection:
            fence.check(connection, self._number)
            return work(connection)

    def _erase(self, work: Callable[[sqlite3.Connection], T]) -> T:
        result = self._write(work)
        with storage_faults(self._path):
            self._database.shrink_log()
        return result

    def _retrieve(self, work: Callable[[sqlite3.Connection], T]) -> T:
        with store_faults(self._path), self._database.read() as connection:
            return work(connection)

    def _page(self, after: reading.Place) -> tuple[list[Candidate], reading.Place | None]:
        return self._read(lambda connection: reading.page(connection, after, _PAGE))

    def _search(self, search: Search, scope: Scope) -> list[Candidate]:
        def find(connection: sqlite3.Connection) -> list[Candidate]:
            snapshot = None if search.vector is None else self._vectors.current(connection)
            admitted = self._audiences.admitted(connection, scope)
            ids = set(best_matches(connection, search.terms, admitted, search.lexical_limit))
            if snapshot is not None and search.vector is not None and len(snapshot.ids):
                _check_question(search.vector, snapshot.space.shape[1])
                ids.update(snapshot.nearest(search.vector, admitted, search.dense_limit))
            return reading.candidates(connection, sorted(ids), admitted)

        return self._retrieve(find)

    def _read_documents(self, wanted: Sequence[tuple[Passage, Scope]]) -> list[list[Passage]]:
        def find(connection: sqlite3.Connection) -> list[list[Passage]]:
            return [
                reading.document(connection, passage, self._audiences.admitted(connection, scope))
                for passage, scope in wanted
            ]

        return self._retrieve(find)

    def _load_profile(self) -> Profile:
        """The stored profile, parsed once for each time that it was saved, by whichever process."""

        def read(connection: sqlite3.Connection) -> tuple[int, Profile]:
            known = self._profile
            row = connection.execute("SELECT serial FROM profile").fetchone()
            if row is None:
                kind = StoreError if reading.info(connection).chunks else IndexEmpty
                raise kind("The index has no profile yet: run `belay sync`.")
            if known is not None and known[0] == row[0]:
                return known
            (data,) = connection.execute("SELECT data FROM profile").fetchone()
            return row[0], profile_of(data)

        with self._profile_lock:
            self._profile = self._retrieve(read)
            return self._profile[1]


def _check_dimension(connection: sqlite3.Connection, chunks: Sequence[Chunk]) -> None:
    (dimension,) = connection.execute("SELECT dimension FROM meta").fetchone()
    other = {len(chunk.vector) for chunk in chunks} - {dimension}
    if other:
        raise other_vectors(dimension, max(other))


def _check_question(vector: Vector, dimension: int) -> None:
    if len(vector) != dimension:
        raise other_question(dimension, len(vector))
