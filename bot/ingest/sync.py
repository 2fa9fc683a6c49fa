"""Brings the index to what a source holds now: new files in, changed ones replaced, gone ones out.

Each file is stored in one step, so a sync that dies leaves whole files, and the next one goes on
where it stopped. What is not there to be read is never taken for deleted on a large scale.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from bot.errors import BotError, SourceError
from bot.fenced import fenced
from bot.ingest.document import Document, Origin
from bot.ingest.embed import embed_groups
from bot.ingest.expansion import Expander, toward
from bot.ingest.fingerprint import Fingerprint, digest, rules
from bot.ingest.lock import held
from bot.ingest.options import SyncOptions
from bot.ingest.reading import FileReader, Reading
from bot.ingest.records import count_indexed, file_record
from bot.ingest.report import Problem, Reason, SyncReport, Tally
from bot.ingest.unpacking import Unpacking
from bot.ingest.version import CHUNKER_VERSION
from bot.ports import (
    Chunk,
    FileRecord,
    FileState,
    KnowledgeIndex,
    Skipped,
    Source,
    SourceFile,
    SourceRecord,
    SyncState,
)
from bot.progress import Progress, Silent
from bot.versioned import Unchanged
from graph.errors import GraphError
from graph.ports import Embedder

log = logging.getLogger(__name__)
_SMALL = 65536  # bytes that are hashed without a thread: it would take longer to wake one


async def sync(
    source: Source,
    index: KnowledgeIndex,
    embedder: Embedder,
    *,
    lock: Path,
    options: SyncOptions | None = None,
    expander: Expander | None = None,
    progress: Progress | None = None,
) -> SyncReport:
    """Reads the whole source and stores what changed; the caller calibrates the index afterwards.
    With an `expander` a chat model writes lines beside each document that changed.

    Raises SyncBusy when another process syncs, LeadLost when one began although this one was not
    done (it stood still, its lock was taken away) and nothing more is written, SourceError when the
    source cannot be read or would lose most of its files, IndexIncompatible, StorageError, and
    EmbedderError. Whatever is raised, files stored before stay.
    """
    options = options or SyncOptions()
    with held(lock):
        index = await fenced(index)
        await index.begin(embedder.name, embedder.dimension, CHUNKER_VERSION)
        unpacked = Unpacking(source, options)
        run = _Run(
            unpacked, index, embedder, options, expander=expander, progress=progress or Silent()
        )
        return await run.recorded()


class _Run:
    """One sync of one source."""

    def __init__(
        self,
        source: Unpacking,
        index: KnowledgeIndex,
        embedder: Embedder,
        options: SyncOptions,
        *,
        expander: Expander | None,
        progress: Progress,
    ) -> None:
        self._source = source
        self._index = index
        self._embedder = embedder
        self._options = options
        self._expander = expander
        self._progress = progress
        access = replace(options.access, source_type=source.kind)
        self._rules = self._bare_rules = rules(options, access)
        if expander is not None:
            self._rules = digest(f"{self._bare_rules} {expander.mark}".encode())
        origin = Origin(source.name, access, source.uri)
        self._reader = FileReader(origin, options, self._rules)
        self._known: Mapping[str, FileRecord] = {}
        self._marks: Mapping[str, Fingerprint] = {}
        self._now: dict[str, FileRecord] = {}  # every file seen, as it is after this run
        self._pending: list[tuple[Document, Fingerprint]] = []
        self._emptied: list[FileRecord] = []  # indexed before, nothing to index now
        self._superseded: set[str] = set()
        self._written = False
        self._tally = Tally()

    async def recorded(self) -> SyncReport:
        """Runs, and leaves word in the index of how it ended."""
        started = time.monotonic()
        self._known = await self._index.records(self._source.name)
        self._marks = {
            path: Fingerprint.parse(record.fingerprint) for path, record in self._known.items()
        }
        await self._save(SyncState.RUNNING, files=self._known)
        try:
            await self._run()
        except asyncio.CancelledError:
            await self._save(SyncState.INTERRUPTED)
            raise
        except (BotError, GraphError) as error:
            cause = error.cause if isinstance(error, GraphError) else str(error)
            await self._save(SyncState.FAILED, cause)
            raise
        finally:
            self._progress.end()
        await self._save(SyncState.COMPLETE, files=None if self._written else self._known)
        return self._tally.report(self._source.name, time.monotonic() - started)

    async def _run(self) -> None:
        self._progress.begin(f"Reading {self._source.name}", len(self._known) or None)
        async for item in self._source.files_since(self._versions()):
            await self._take(item)
            self._progress.advance()
        await self._flush()
        await self._mark_superseded()
        self._refuse_loss()
        await self._forget()

    def _versions(self, without: Collection[str] = ()) -> dict[str, str]:
        """The files that need no reading while their source says that they are as they were."""
        return {
            path: mark.revision
            for path, mark in self._marks.items()
            if mark.revision and mark.rules == self._rules and path not in without
        }

    def _indexed(self, path: str) -> Fingerprint | None:
        """The mark of a file that was indexed."""
        known = self._known.get(path)
        return self._marks[path] if known and known.state is FileState.INDEXED else None

    async def _take(self, item: SourceFile | Skipped | Unchanged) -> None:
        if item.path in self._now:
            self._tally.problems.append(Problem(item.path, 0, Reason.SAME_NAME))
            return
        if isinstance(item, Unchanged):
            self._keep(self._known[item.path])
            return
        if isinstance(item, Skipped):
            mark = digest(f"{item.reason} {item.detail}".encode())
            await self._skip(item, Fingerprint(mark, "", self._rules, revision=item.revision))
            return
        before = self._indexed(item.path)
        superseded = (before.superseded if before else False) or item.path in self._superseded
        reading = (
            self._reader.unchanged(item, before, superseded) if len(item.data) < _SMALL else None
        )
        if reading is None:
            reading = await asyncio.to_thread(self._reader.read, item, before, superseded)
        self._superseded.update(reading.supersedes)
        await self._store(item.path, reading)

    async def _store(self, path: str, reading: Reading) -> None:
        if reading.skipped is not None:
            await self._skip(reading.skipped, reading.fingerprint)
        elif reading.document is None and reading.fingerprint is self._marks[path]:
            self._keep(self._known[path])
        elif reading.document is None:
            await self._renew(replace(self._known[path], fingerprint=str(reading.fingerprint)))
        else:
            self._pending.append((reading.document, reading.fingerprint))
            self._now[path] = file_record(reading.document, reading.fingerprint)
            if sum(len(doc.passages) for doc, _ in self._pending) >= self._options.gather:
                await self._flush()

    async def _renew(self, record: FileRecord) -> None:
        """Keeps a file whose text is what it was, and its other bytes in mind: read once."""
        stored = await self._index.stored(self._source.name, record.path)
        chunks = [item.chunk for item in stored]
        await self._replace(record, chunks)
        self._keep(record)

    def _keep(self, record: FileRecord) -> None:
        self._now[record.path] = record
        if record.state is FileState.INDEXED:
            self._tally.unchanged += 1
        else:
            self._tally.skipped[record.path] = Skipped(record.path, record.reason, record.detail)

    async def _skip(self, skipped: Skipped, fingerprint: Fingerprint) -> None:
        known = self._known.get(skipped.path)
        indexed = known is not None and known.state is FileState.INDEXED
        self._tally.skipped[skipped.path] = skipped
        if known is not None and indexed and skipped.reason == Reason.UNREADABLE:
            self._now[skipped.path] = known
            self._tally.problems.append(
                Problem(skipped.path, 0, "unreadable now; what was read before is kept")
            )
            return
        record = FileRecord(
            skipped.path, str(fingerprint), FileState.SKIPPED, skipped.reason, skipped.detail
        )
        self._now[skipped.path] = record
        if indexed:
            self._emptied.append(record)
        elif known != record:
            await self._replace(record, ())

    async def _flush(self) -> None:
        """Embeds the documents gathered so far and stores them, one transaction each."""
        pending = await self._expanded()
        inputs = [doc.inputs for doc, _, _ in pending]
        groups = [*inputs, *(lines for _, _, lines in pending)]
        options = self._options
        found = await embed_groups(
            self._embedder, groups, batch=options.batch, parallel=options.parallel
        )
        self._tally.embedded += sum(map(len, inputs))
        for place, (doc, fingerprint, _) in enumerate(pending):
            rows = toward(found[place], found[len(pending) + place])
            chunks = await asyncio.to_thread(doc.chunks, rows)
            record = self._now[doc.file.path] = file_record(doc, fingerprint)
            self._count(doc, await self._replace(record, chunks))

    async def _expanded(self) -> list[tuple[Document, Fingerprint, Sequence[str]]]:
        """The documents gathered so far with the lines beside them. What lacks nothing but lines,
        and gets none now, stays as it is stored, for a later sync."""
        pending, self._pending = self._pending, []
        if self._expander is None:
            return [(doc, fingerprint, ()) for doc, fingerprint in pending]
        found: list[tuple[Document, Fingerprint, Sequence[str]]] = []
        expansions = await self._expander.expand([doc for doc, _ in pending])
        for (doc, fingerprint), expansion in zip(pending, expansions, strict=True):
            path, bare = doc.file.path, replace(fingerprint, rules=self._bare_rules)
            self._tally.expanded += bool(expansion.lines)
            self._tally.without_lines += not expansion.settled
            if expansion.settled:
                found.append((doc, fingerprint, expansion.lines))
            elif self._indexed(path) == bare:
                self._keep(self._known[path])
            else:
                found.append((doc, bare, ()))
        return found

    def _count(self, doc: Document, stored: int) -> None:
        tally = self._tally
        tally.indexed += 1
        tally.chunks += stored
        tally.duplicates += len(doc.passages) - stored
        for problem in doc.problems:
            log.info("problem in a document: %s", problem)
        tally.problems += doc.problems
        tally.masked += doc.masked
        if doc.encoding:
            tally.decoded.append(Problem(doc.file.path, 0, f"read as {doc.encoding}"))

    async def _mark_superseded(self) -> None:
        """Reads those files again whose successor was met after them, or is gone."""
        wrong = {
            path
            for path, record in self._now.items()
            if record.state is FileState.INDEXED
            and self._mark(record).superseded != (path in self._superseded)
        }
        if not wrong:
            return
        async for item in self._source.files_since(self._versions(without=wrong)):
            if isinstance(item, SourceFile) and item.path in wrong:
                wrong.remove(item.path)
                superseded = item.path in self._superseded
                reading = await asyncio.to_thread(self._reader.read, item, None, superseded)
                if reading.document is not None:
                    await self._store(item.path, reading)
        await self._flush()

    def _mark(self, record: FileRecord) -> Fingerprint:
        if record is self._known.get(record.path):
            return self._marks[record.path]
        return Fingerprint.parse(record.fingerprint)

    def _refuse_loss(self) -> None:
        """Raises SourceError when far fewer files are left than the index holds."""
        name = self._source.name
        if not self._now:
            raise SourceError(
                f"The source {name!r} has no files; nothing was removed from the index.",
                "Check that its folder is mounted and readable.",
            )
        before, after = count_indexed(self._known.values()), count_indexed(self._now.values())
        lost = before - after
        allowed = max(self._options.loss_files - 1, self._options.loss_share * before)
        if lost > allowed and not self._options.allow_loss:
            raise SourceError(
                f"The source {name!r} lost {lost} of {before} documents; "
                "nothing was removed from the index.",
                "If they were deleted on purpose, sync again with --allow-loss.",
            )

    async def _replace(self, record: FileRecord, chunks: Sequence[Chunk]) -> int:
        self._written = True
        return await self._index.replace(self._source.name, record, chunks)

    async def _forget(self) -> None:
        for record in self._emptied:
            await self._replace(record, ())
        gone = [path for path in self._known if path not in self._now]
        if gone:
            self._written = True
            await self._index.remove(self._source.name, gone)
        self._tally.removed = count_indexed(self._known[path] for path in gone)

    async def _save(
        self,
        state: SyncState,
        message: str = "",
        files: Mapping[str, FileRecord] | None = None,
    ) -> None:
        """`files`: what the index holds of the source, where that was just read."""
        if files is None:
            files = await self._index.records(self._source.name)
        indexed = [record for record in files.values() if record.state is FileState.INDEXED]
        await self._index.save_source(
            SourceRecord(
                name=self._source.name,
                kind=self._source.kind,
                location=self._options.location,
                state=state,
                last_run=datetime.now(UTC),
                files=len(indexed),
                chunks=sum(record.chunks for record in indexed),
                skipped=len(files) - len(indexed),
                message=message,
            )
        )
