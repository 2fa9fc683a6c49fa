"""A git repository as a source: the files of one branch, at the commit that was fetched last."""

from __future__ import annotations

import asyncio
import unicodedata
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from adapters.git.clone import Clone, Entry
from adapters.git.links import link, pattern
from bot.errors import SourceError
from bot.ingest.choice import Choice, refused_name
from bot.ingest.options import MAX_FILE_BYTES, SyncOptions
from bot.ingest.refusal import POINTER_BYTES, refusal
from bot.ingest.report import Reason
from bot.ports import Skipped, Source, SourceFile
from bot.source_settings import GitLimits, Remote
from bot.versioned import Unchanged, Versioned
from graph.model import SourceType

_LINK, _SUBMODULE = "120000", "160000"
_AT_ONCE, _FILES_AT_ONCE = 4_000_000, 256  # bytes and files that are read ahead


@dataclass(frozen=True, slots=True)
class _State:
    """What one fetch brought: `items` are sorted by path."""

    commit: str
    items: tuple[tuple[str, Entry | Skipped], ...]


class Repository(Source, Versioned):
    """Fetches when it is read for the first time; one object offers one commit.

    A file's date is not known: a shallow copy has no history. `include` and `exclude` are over
    paths below the folder of the source.
    """

    def __init__(
        self,
        name: str,
        remote: Remote,
        clone: Clone,
        choice: Choice,
        *,
        max_bytes: int = MAX_FILE_BYTES,
        kind: SourceType = SourceType.REPO,
    ) -> None:
        self._name, self._remote, self._clone, self._kind = name, remote, clone, kind
        self._wanted = choice
        self._options = SyncOptions(max_file_bytes=max_bytes)
        self._pattern = pattern(remote.url, remote.link)
        self._state: _State | None = None
        self._turn = asyncio.Lock()
        self._written: dict[str, bytes] = {}  # paths that git writes in another way

    @property
    def name(self) -> str:
        return self._name

    @property
    def kind(self) -> SourceType:
        return self._kind

    def uri(self, path: str, line: int) -> str:
        """The line at the code host, at the commit that was read."""
        written = self._written.get(path, path.encode())
        place = (f"{self._remote.folder}/" if self._remote.folder else "").encode() + written
        commit = self._state.commit if self._state else "HEAD"
        return link(self._pattern, commit, place, line)

    async def files(self) -> AsyncIterator[SourceFile | Skipped]:
        """Raises SourceError when the repository cannot be fetched, or holds nothing to read."""
        async for item in self.files_since({}):
            if not isinstance(item, Unchanged):
                yield item

    async def files_since(
        self, versions: Mapping[str, str]
    ) -> AsyncIterator[SourceFile | Skipped | Unchanged]:
        """Reads only what has another blob than in `versions`. Raises SourceError."""
        state = await self._fetched()
        read: list[tuple[str, Entry]] = []
        skipped: list[Skipped] = []
        for path, entry in state.items:
            if isinstance(entry, Skipped):
                skipped.append(entry)
            elif versions.get(path) == entry.blob:
                yield Unchanged(path)
            else:
                read.append((path, entry))
        for some in _batches(read):
            contents = await self._clone.blobs([entry.blob for _, entry in some])
            for (path, entry), data in zip(some, contents, strict=True):
                yield SourceFile(path, data, revision=entry.blob)
        for item in skipped:  # at the end: of two files with one name the first is the document
            yield item

    async def _fetched(self) -> _State:
        async with self._turn:
            if self._state is None:
                commit = await self._clone.fetch()
                items = tuple(self._items(await self._clone.tree(commit)))
                if not items:
                    place = f"The folder {self._remote.folder!r} of " if self._remote.folder else ""
                    raise SourceError(
                        f"{place}{self._remote.url} holds no files to read.",
                        "Check branch, folder, include and exclude of this source.",
                    )
                self._state = _State(commit, items)
            return self._state

    def _items(self, tree: Sequence[Entry]) -> Iterator[tuple[str, Entry | Skipped]]:
        """Each path once; names that differ only in how they are written are one."""
        seen: set[str] = set()
        for entry in tree:
            path = _readable(entry.path)
            item = self._refused(path, entry) or entry
            path = item.path if isinstance(item, Skipped) else path
            if not self._wanted(path):
                continue
            if path in seen:
                if not isinstance(item, Skipped):
                    yield path, Skipped(path, Reason.SAME_NAME)
                continue
            seen.add(path)
            if path.encode() != entry.path:
                self._written[path] = entry.path
            yield path, item

    def _refused(self, path: str, entry: Entry) -> Skipped | None:
        parts = path.split("/")
        for depth, part in enumerate(parts, start=1):
            if reason := refused_name(part, folder=depth < len(parts)):
                return Skipped("/".join(parts[:depth]), reason)
        if entry.mode == _SUBMODULE:
            return Skipped(path, Reason.SUBMODULE, "list its repository as a source of its own")
        if entry.mode == _LINK:
            return Skipped(path, Reason.UNSUPPORTED, "symbolic link")
        skipped = refusal(path, entry.size, self._options)
        if skipped and skipped.reason == Reason.UNSUPPORTED and entry.size < POINTER_BYTES:
            return None  # maybe a pointer, which the sync tells by its content
        return skipped


def _readable(path: bytes) -> str:
    """The identity of a file: names that are no UTF-8 keep their bytes as escapes."""
    return unicodedata.normalize("NFC", path.decode("utf-8", "backslashreplace"))


def _batches(entries: Sequence[tuple[str, Entry]]) -> Iterator[list[tuple[str, Entry]]]:
    some: list[tuple[str, Entry]] = []
    size = 0
    for path, entry in entries:
        some.append((path, entry))
        size += entry.size
        if size >= _AT_ONCE or len(some) == _FILES_AT_ONCE:
            yield some
            some, size = [], 0
    if some:
        yield some


def create(
    name: str,
    remote: Remote,
    folder: Path,
    include: Sequence[str] = (),
    exclude: Sequence[str] = (),
    *,
    limits: GitLimits,
    max_bytes: int = MAX_FILE_BYTES,
    kind: SourceType = SourceType.REPO,
) -> Source:
    """The factory that bot/registry.py names. `folder` is where the copy is kept."""
    clone = Clone(folder.absolute(), remote, limits)
    choice = Choice(include, exclude)
    return Repository(name, remote, clone, choice, max_bytes=max_bytes, kind=kind)
