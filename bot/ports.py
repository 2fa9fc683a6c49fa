"""What the application needs from outside, beside the graph's ports."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Protocol, runtime_checkable

from bot.chat import Incoming, Place, Reply
from graph.model import Access, Passage, Scope, SourceType
from graph.ports import Retriever, Vector
from graph.profile import Profile
from graph.terms import Fields, TermCounts


@dataclass(frozen=True, slots=True)
class SourceFile:
    """One file as a source offers it. `path` is relative, "/" separated, NFC.

    `format` is the suffix that says how it is read when its path does not: a page inside an
    export. `access` bounds its readers, whatever the file says of them; `title` and `uri` go
    before its own. `revision` names the content in a source that is Versioned, without a ".".
    """

    path: str
    data: bytes
    updated_at: datetime | None = None
    version: str = ""
    format: str = ""
    access: Access | None = None
    title: str = ""
    uri: str = ""
    revision: str = ""


@dataclass(frozen=True, slots=True)
class Skipped:
    """A file that was not indexed. `reason` is one of bot/ingest/report.py's words; `revision`
    is as that of a SourceFile."""

    path: str
    reason: str
    detail: str = ""
    revision: str = ""


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


@dataclass(frozen=True, slots=True)
class Stored:
    """A chunk as a store holds it. A text of one access rule is findable at one place; where else
    it stands it is a duplicate, named in the `also_at` of the first."""

    chunk: Chunk
    findable: bool


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


Sources = Callable[[Scope], Awaitable[Sequence[SourceRecord]]]
"""The sources of which an audience may read anything; their `files` counts what it may read."""


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

    async def stored(self, source: str, path: str) -> Sequence[Stored]:
        """A file's chunks as `replace` took them, each text once, in reading order: for another
        store. `also_at` is left to that store."""

    async def replace(self, source: str, record: FileRecord, chunks: Sequence[Chunk]) -> int:
        """The file's chunks become exactly `chunks`. A chunk whose content hash another document
        of the same audience already holds is recorded there (`also_at`) and not stored again;
        returns how many were stored."""

    async def remove(self, source: str, paths: Sequence[str]) -> int:
        """Forgets files with their chunks; returns how many chunks went. A text that another
        place still holds stays findable there."""

    async def sources(self) -> Sequence[SourceRecord]:
        """What is known of each source, by name. `chunks` are counted now: those that are stored
        for it, without the ones that another place stored before (see `replace`)."""

    async def files_in(self, scope: Scope) -> Mapping[str, int]:
        """How many documents of each source the scope may read; a source without any is left
        out: whoever may read nothing of it does not learn its name."""

    async def save_source(self, record: SourceRecord) -> None: ...

    async def remove_source(self, name: str) -> int:
        """Forgets a source with all its chunks; returns how many chunks went."""

    def chunks(self) -> AsyncIterator[tuple[Passage, Vector, TermCounts]]:
        """Every stored chunk, in a stable order: for calibration and statistics."""

    async def save_profile(self, profile: Profile) -> None:
        """It replaces the one that was saved, unless that is of a later revision: whoever took
        long to fit one changes nothing then."""

    async def reset(self) -> None:
        """Empties the index (another embedder); sources stay registered."""

    async def close(self) -> None: ...


class Conversation(Protocol):
    """The way back to whoever asked. How progress and streaming look is the platform's business."""

    async def progress(self, stage: str) -> None:
        """A short line of what is being done ("searching …"). May be dropped."""

    async def stream(self, markdown: str) -> None:
        """The answer so far, from its beginning. May be throttled or dropped."""

    async def answer(self, reply: Reply) -> None:
        """The final answer: delivered, whatever became of progress and streaming.

        Raises PlatformGone when the place is closed to the bot, AnswerRefused when the platform
        takes this answer in no form, DeliveryFailed when it could not be reached in time (the
        question stays open).
        """

    async def say(self, reply: Reply) -> None:
        """Something that is no answer: help, a denial, a note. Raises like `answer`."""


class Sink(Protocol):
    """Where a platform hands over what it received."""

    async def accept(self, event: Incoming) -> None:
        """Returns when the event is stored; only then may the platform be told so."""


class Platform(Protocol):
    """A messenger."""

    @property
    def name(self) -> str: ...

    async def run(self, sink: Sink) -> None:
        """Receives until cancelled. Raises SettingsError for a wrong token."""

    def conversation(self, event: Incoming) -> Conversation: ...

    async def close(self) -> None: ...


@runtime_checkable
class Completing(Protocol):
    """A platform whose events say less than is needed to answer them. Optional."""

    async def completed(self, event: Incoming) -> Incoming:
        """The event with what had to be looked up: who asks, who reads along, what was said
        before. Called when the event is worked on, long after it was acknowledged. Raises
        DeliveryFailed, PlatformGone."""


@runtime_checkable
class Receiving(Protocol):
    """A platform that knows whether events come in. Optional."""

    @property
    def receiving(self) -> bool:
        """True while the token is accepted, and the platform can be reached or reaches the bot."""


@runtime_checkable
class Linking(Protocol):
    """A platform whose messages have addresses. Optional."""

    def link(self, place: Place, message_id: str) -> str:
        """Opens a message for those who may read it; "" where there is no such address."""


@runtime_checkable
class Grouping(Protocol):
    """A platform with groups of people of its own. Optional."""

    async def members(self, group: str) -> frozenset[str]:
        """The ids of the people in a group. Raises DeliveryFailed, PlatformGone, and SettingsError
        when the platform does not tell."""


@dataclass(frozen=True, slots=True)
class Finding:
    """What `belay doctor` found out about one thing.

    `state` is "ok", "note" (works, but worth knowing) or "bad".
    """

    check: str
    state: str
    message: str
    remedy: str = ""


@runtime_checkable
class Checkable(Protocol):
    """A platform that can say whether it is set up as it should be. Optional."""

    async def check(self) -> Sequence[Finding]:
        """One finding a thing: token, webhook, privacy, commands. Changes nothing, and raises
        BotError only for what none of them covers."""


class SharedServer(Checkable, Protocol):
    """A server that the stores of several processes live in. Made with its address, without a
    connection."""

    async def ready(self) -> None:
        """Returns when it takes writes. Raises StorageError when that takes too long."""

    async def close(self) -> None: ...


@dataclass(frozen=True, slots=True)
class Taken:
    """An event that this process works on, until it is done or its lease runs out."""

    event: Incoming
    attempt: int  # 1 the first time
    token: int  # fences a worker that lost its lease


class Inbox(Protocol):
    """Events that wait for an answer: stored before they are acknowledged, taken at least once.

    All methods raise StorageError.
    """

    async def put(self, event: Incoming) -> bool:
        """Stores an event; False when its key is known already. An EDIT replaces the text of a
        pending question, a DELETE removes it; both are False when there was none."""

    async def take(self, owner: str, lease: float) -> Taken | None:
        """The oldest waiting event whose conversation has no other one at work, or None.
        `lease` seconds; an event whose lease ran out waits again."""

    async def renew(self, taken: Taken, lease: float) -> bool:
        """Prolongs the lease; False when another worker has the event by now."""

    async def done(self, taken: Taken) -> bool:
        """The event was answered; False (and nothing happens) when the lease was lost."""

    async def release(self, taken: Taken, delay: float = 0.0) -> None:
        """Gives the event back, to be taken again after `delay` seconds."""

    async def sign(self, taken: Taken, handle: str) -> None:
        """Keeps with the event where its work is shown (`Incoming.sign`): whoever takes it next
        goes on there. Nothing happens when the lease was lost."""

    async def move(self, platform: str, old: str, new: str) -> None:
        """A place has a new id: pending events and what is remembered of them move."""

    async def waiting(self) -> int: ...

    async def oldest(self) -> datetime | None:
        """When the first of the events without an answer was sent, by its own time stamp."""
