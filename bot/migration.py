"""Copies an index into another store: chunk by chunk, without embedding anything again.

A file is copied as a whole, its record last, so a copy that was cut off at any moment goes on
where it stopped: what has the same record in both is there. Until the end the sources of the
copy say that they are a part; only such sources may be overwritten unasked.

A text that stands in several files is findable at one of them. To be so at the same one, files
with duplicates are written twice: first what is findable in them, under a record that matches no
file, and when all files have theirs, all of it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from bot.copy_check import compared
from bot.errors import IndexIncompatible, SourceError
from bot.ports import FileRecord, KnowledgeIndex, SourceRecord, SyncState
from bot.progress import Progress
from graph.errors import StoreError
from graph.profile import Profile

PART = "copied in part: run the same command again"
"""The message of a source whose copy has not ended."""
_OVERWRITE = "Add --overwrite to empty it first, or take it away."


@dataclass(frozen=True, slots=True)
class Copied:
    """What the target holds now. `fresh`: files that this run copied, the others were there.
    `asked`: sampled searches, each of which found the same in both."""

    files: int
    fresh: int
    chunks: int
    asked: int


@dataclass(frozen=True, slots=True)
class Migration:
    """From one store into another. `derived`: the target's content can be made again, and gives
    way without being asked about."""

    origin: KnowledgeIndex
    target: KnowledgeIndex
    derived: bool = False

    async def empty(self) -> bool:
        """Whether there is nothing to copy."""
        return not (await self.origin.info()).chunks and not await self.origin.sources()

    async def check(self, *, overwrite: bool = False) -> None:
        """Raises SourceError for an empty origin, and IndexIncompatible for a target that holds
        other things than a part of it, unless they may be overwritten."""
        if await self.empty():
            raise SourceError(
                "There is nothing to copy: no folder was synced into this index.",
                "Look at --from and at BELAY_HOME, or fill the target with `belay sync`.",
            )
        if not (self.derived or overwrite):
            await self._check_tools()
            await self._check_files()

    async def run(self, progress: Progress, *, overwrite: bool = False) -> Copied:
        """Raises StorageError when a store fails, or the copy is found to differ."""
        if overwrite or (self.derived and await self._differing_tools()):
            await self._empty_target()
        info = await self.origin.info()
        await self.target.begin(info.embedder, info.dimension, info.chunker)
        sources = await self.origin.sources()
        await self._announce(sources)
        files = {record.name: await self.origin.records(record.name) for record in sources}
        fresh = await self._copy(files, progress)
        await self._copy_profile()
        asked = await compared(self.origin, self.target, files, progress)
        for record in sources:
            await self.target.save_source(_settled(record))
        count = sum(map(len, files.values()))
        return Copied(count, fresh, (await self.target.info()).chunks, asked)

    async def _empty_target(self) -> None:
        await self.target.reset()
        for record in await self.target.sources():
            await self.target.remove_source(record.name)

    async def _differing_tools(self) -> str:
        """What the target was built with, when it holds chunks of other tools."""
        origin, target = await self.origin.info(), await self.target.info()
        tools = (target.embedder, target.dimension, target.chunker)
        if target.chunks and tools != (origin.embedder, origin.dimension, origin.chunker):
            return f"{tools[0]!r} ({tools[1]} dimensions, chunker {tools[2]!r})"
        return ""

    async def _check_tools(self) -> None:
        if tools := await self._differing_tools():
            info = await self.origin.info()
            raise IndexIncompatible(
                f"The target was built with {tools}; what is to be copied with {info.embedder!r} "
                f"({info.dimension} dimensions, chunker {info.chunker!r}).",
                _OVERWRITE,
            )

    async def _check_files(self) -> None:
        for record in await self.target.sources():
            if record.message == PART:
                continue
            there = await self.target.records(record.name)
            known = await self.origin.records(record.name)
            other = [path for path, found in there.items() if known.get(path) != found]
            if other:
                raise IndexIncompatible(
                    f"The target is not empty: it holds {record.name}/{min(other)} "
                    f"{'as another version' if min(other) in known else 'and the origin does not'}"
                    f" ({len(other)} such files).",
                    _OVERWRITE,
                )

    async def _announce(self, sources: Sequence[SourceRecord]) -> None:
        for record in sources:
            await self.target.save_source(_partial(record))
        names = {record.name for record in sources}
        for record in await self.target.sources():
            if record.name not in names:
                await self.target.remove_source(record.name)

    async def _copy(self, files: Mapping[str, Mapping[str, FileRecord]], progress: Progress) -> int:
        missing = {name: await self._missing(name, known) for name, known in files.items()}
        total = sum(map(len, missing.values()))
        progress.begin("copying files", total)
        try:
            doubled: list[tuple[str, FileRecord]] = []
            for name, records in missing.items():
                for record in records:
                    if await self._copy_file(name, record):
                        doubled.append((name, record))
                    else:
                        progress.advance()
            for name, record in doubled:
                chunks = [item.chunk for item in await self.origin.stored(name, record.path)]
                await self.target.replace(name, record, chunks)
                progress.advance()
        finally:
            progress.end()
        return total

    async def _missing(self, source: str, known: Mapping[str, FileRecord]) -> list[FileRecord]:
        """Files that the target lacks or has as another version; what it has beside them goes."""
        there = await self.target.records(source)
        if extra := sorted(there.keys() - known.keys()):
            await self.target.remove(source, extra)
        return [record for path, record in sorted(known.items()) if there.get(path) != record]

    async def _copy_file(self, source: str, record: FileRecord) -> bool:
        """What is findable in the file; True when it has more than that."""
        stored = await self.origin.stored(source, record.path)
        findable = [item.chunk for item in stored if item.findable]
        doubled = len(findable) < len(stored)
        shown = replace(record, fingerprint="") if doubled else record
        await self.target.replace(source, shown, findable)
        return doubled

    async def _copy_profile(self) -> None:
        """Anchors and statistics: as up to date there as they are here."""
        profile = await _profile(self.origin)
        if profile is not None:
            info, target = await self.origin.info(), await self.target.info()
            behind = info.profile_revision != info.revision
            revision = target.revision - behind
            await self.target.save_profile(replace(profile, revision=revision))


async def _profile(index: KnowledgeIndex) -> Profile | None:
    try:
        return await index.profile()
    except StoreError:  # none yet: the next sync makes one
        return None


def _partial(record: SourceRecord) -> SourceRecord:
    return replace(record, state=SyncState.INTERRUPTED, message=PART)


def _settled(record: SourceRecord) -> SourceRecord:
    """Nobody syncs while it is copied: a sync that says it runs was cut off."""
    if record.state is SyncState.RUNNING:
        return replace(record, state=SyncState.INTERRUPTED)
    return record
