"""What the application needs from outside, beside the graph's ports."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Protocol

from graph.model import Access, Passage, SourceType
from graph.ports import Retriever, Vector
from graph.profile import Profile
from graph.terms import Fields, TermCounts


@dataclass(frozen=True, slots=True)
class SourceFile:
    """One file as a source offers it. `path` is relative, "/" separated, NFC."""

    path: str
    data: bytes
    updated_at: datetime | None = None
    version: str = ""


@dataclass(frozen=True, slots=True)
class Skipped:
    """A file that was not indexed. `reason` is one of bot/ingest/report.py's words."""

    path: str
    reason: str
    detail: str = ""


class Source(Protocol):
    """Where documents come from."""

    @property
    def name(self) -> str: ...

    @property
    def kind(self) -> SourceType: ...

    def files(self) -> AsyncIterator[SourceFile | Skipped]:
        """Every file of the source, read one at a time. Raises SourceError when the source as a
        whole cannot be read; a file that cannot be read is yielded as Skipped."""

    def uri(self, path: str, line: int) -> str:
        """A link to `line` (from 1) of the file."""


@dataclass(frozen=True, slots=True)
class Chunk:
    """What ingestion gives to a store: a passage with all that finding and filtering need."""

    passage: Passage
    access: Access
    fields: Fields
    terms: TermCounts
    vector: Vector
    content_hash: str  # of the normalised text; unique in one audience


class FileState(StrEnum):
    INDEXED = "indexed"
    SKIPPED = "skipped"


@dataclass(frozen=True, slots=True)
class FileRecord:
    """What the index knows of one file. `fingerprint` covers content, path and metadata rules."""

    path: str
    fingerprint: str
    state: FileState
    reason: str = ""
    detail: str = ""
    chunks: int = 0
    title: str = ""
    updated_at: datetime | None = None


class SyncState(StrEnum):
    NEVER = "never"
    RUNNING = "running"
    COMPLETE = "complete"
    INTERRUPTED = "interrupted"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class SourceRecord:
    name: str
    kind: SourceType
    location: str  # a folder or an address without secrets
    state: SyncState = SyncState.NEVER
    last_run: datetime | None = None
    files: int = 0
    chunks: int = 0
    skipped: int = 0
    message: str = ""


@dataclass(frozen=True, slots=True)
class IndexInfo:
    """What the index was built with. Empty strings and zeros in a new index."""

    embedder: str = ""
    dimension: int = 0
    chunker: str = ""
    chunks: int = 0
    revision: int = 0  # grows with every change of chunks
    profile_revision: int = -1  # the revision that the stored profile describes
    details: Mapping[str, str] = field(default_factory=dict)


class KnowledgeIndex(Retriever, Protocol):
    """The write side of a store. Every method is one transaction: it happens wholly or not at all.

    All methods raise StorageError when the store cannot be written.
    """

    async def info(self) -> IndexInfo: ...

    async def begin(self, embedder: str, dimension: int, chunker: str) -> None:
        """Names what the index is built with. Raises IndexIncompatible when it holds chunks of
        another embedder, dimension or chunker version."""

    async def records(self, source: str) -> Mapping[str, FileRecord]:
        """What is known of each file of a source, by path."""

    async def replace(self, source: str, record: FileRecord, chunks: Sequence[Chunk]) -> int:
        """The file's chunks become exactly `chunks`. A chunk whose content hash another document
        of the same audience already holds is recorded there (`also_at`) and not stored again;
        returns how many were stored."""

    async def remove(self, source: str, paths: Sequence[str]) -> int:
        """Forgets files with their chunks; returns how many chunks went. A text that another
        place still holds stays findable there."""

    async def sources(self) -> Sequence[SourceRecord]: ...

    async def save_source(self, record: SourceRecord) -> None: ...

    async def remove_source(self, name: str) -> int:
        """Forgets a source with all its chunks; returns how many chunks went."""

    def chunks(self) -> AsyncIterator[tuple[Passage, Vector, TermCounts]]:
        """Every stored chunk, in a stable order: for calibration and statistics."""

    async def save_profile(self, profile: Profile) -> None: ...

    async def reset(self) -> None:
        """Empties the index (another embedder); sources stay registered."""

    async def close(self) -> None: ...
