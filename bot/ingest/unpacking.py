"""A source whose archives are taken for folders: each document inside is a file of its own.

So identity, change, deletion and the reasons for skipping hold for a page of an export as they do
for a file. The paths are `export.zip/Parent/Page`, links are `export.zip#Parent/Page`.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterable, Iterator, Mapping
from dataclasses import replace

from bot.ingest.fingerprint import content
from bot.ingest.formats import ARCHIVES, misnamed, suffix_of
from bot.ingest.links import in_a_link
from bot.ingest.options import SyncOptions
from bot.ingest.reader import Reader, Refused
from bot.ingest.refusal import is_pointer, refusal
from bot.ingest.report import SETTLED, Reason
from bot.ports import Skipped, Source, SourceFile
from bot.versioned import Unchanged, Versioned
from graph.model import SourceType


class Unpacking(Source, Versioned):
    """`source` with its archives opened by the reader of `options`."""

    def __init__(self, source: Source, options: SyncOptions) -> None:
        self._source = source
        self._options = options
        self._archives: set[str] = set()

    @property
    def name(self) -> str:
        return self._source.name

    @property
    def kind(self) -> SourceType:
        return self._source.kind

    def uri(self, path: str, line: int) -> str:
        """A link to the archive that ends in the path inside it."""
        for archive in self._archives:
            if path.startswith(f"{archive}/"):
                place = self._source.uri(archive, 1).partition("#")[0]
                return f"{place}#{in_a_link(path[len(archive) + 1 :])}"
        return self._source.uri(path, line)

    async def files(self) -> AsyncIterator[SourceFile | Skipped]:
        """The files of the source, and in place of each archive what it holds."""
        async for item in self.files_since({}):
            if not isinstance(item, Unchanged):
                yield item

    async def files_since(
        self, versions: Mapping[str, str]
    ) -> AsyncIterator[SourceFile | Skipped | Unchanged]:
        """As the source does it, if it can. An archive is opened unless all that it holds is known
        to be of an archive with its bytes."""
        async for item in self._offered(versions):
            if not isinstance(item, SourceFile) or suffix_of(item.path) not in ARCHIVES:
                yield item
                continue
            for part in await asyncio.to_thread(self._parts, item, versions):
                yield part

    def _parts(
        self, archive: SourceFile, versions: Mapping[str, str]
    ) -> Iterable[SourceFile | Skipped | Unchanged]:
        """A revision of a part is the hash of its archive and the count of the parts: whoever has
        that many of them has all."""
        inside = f"{archive.path}/"
        known = {path: name for path, name in versions.items() if path.startswith(inside)}
        mark = content(archive, archive.data)
        if known and set(known.values()) == {_revision(mark, len(known))}:
            self._archives.add(archive.path)
            return [Unchanged(path) for path in known]
        parts = self._opened(archive)
        if archive.path not in self._archives:
            return parts
        revision = _revision(mark, len(parts))
        return [_settled(part, revision) for part in parts]

    def _offered(
        self, versions: Mapping[str, str]
    ) -> AsyncIterator[SourceFile | Skipped | Unchanged]:
        source = self._source
        return source.files_since(versions) if isinstance(source, Versioned) else source.files()

    def _opened(self, archive: SourceFile) -> list[SourceFile | Skipped]:
        reader = self._options.reader
        if reader is None or self._stays_closed(archive):
            return [archive]
        try:
            members = list(self._members(reader, archive))
        except Refused as error:
            return [Skipped(archive.path, error.reason, error.detail)]
        if not members:
            return [Skipped(archive.path, Reason.NO_TEXT, "an empty archive")]
        self._archives.add(archive.path)
        return members

    def _stays_closed(self, archive: SourceFile) -> bool:
        """True for a file that is no archive whatever its name, and for one that is too large:
        `decoded` says why."""
        refused = refusal(archive.path, len(archive.data), self._options)
        misleading = misnamed(suffix_of(archive.path), archive.data)
        return refused is not None or is_pointer(archive.data) or bool(misleading)

    def _members(self, reader: Reader, archive: SourceFile) -> Iterator[SourceFile | Skipped]:
        for member in reader.unpack(archive.data):
            path = f"{archive.path}/{member.path}"
            if member.reason:
                yield Skipped(path, member.reason, member.detail)
                continue
            yield replace(
                archive,
                path=path,
                data=member.data,
                format=member.format,
                updated_at=member.updated_at or archive.updated_at,
                revision="",
            )


def _revision(mark: str, parts: int) -> str:
    return f"{mark}-{parts}"


def _settled(part: SourceFile | Skipped, revision: str) -> SourceFile | Skipped:
    """With the revision, unless another try may have another end."""
    if isinstance(part, Skipped) and part.reason not in SETTLED:
        return part
    return replace(part, revision=revision)
