"""Copying an index into another store: whole, after any interruption, and over nothing else."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from contract.index_chunks import EMBEDDER, KINDS, chunk_of, close_index, open_index, put, record_of
from contract.index_kit import contents, filled

from adapters.memory.index import MemoryIndex
from bot.errors import IndexIncompatible, SourceError, StorageError
from bot.migration import PART, Migration
from bot.ports import Chunk, FileRecord, KnowledgeIndex, SourceRecord, SyncState
from bot.progress import Silent
from graph.errors import StoreError
from graph.model import SourceType


@pytest.fixture(params=KINDS)
async def origin(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[KnowledgeIndex]:
    index = await open_index(request.param, tmp_path / "origin")
    yield await filled(index)
    await close_index(index)


@pytest.fixture(params=KINDS)
async def target(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[KnowledgeIndex]:
    index = await open_index(request.param, tmp_path / "target")
    yield index
    await close_index(index)


async def test_a_copy_is_equal(origin: KnowledgeIndex, target: KnowledgeIndex) -> None:
    """From every store to every store: records, chunks, `also_at`, where a text is findable."""
    migration = Migration(origin, target)
    await migration.check()
    copied = await migration.run(Silent())
    assert (copied.files, copied.fresh, copied.chunks) == (5, 5, 4)
    assert copied.asked == 4
    assert await contents(target) == await contents(origin)
    info, profile = await target.info(), await target.profile()
    assert profile.revision == info.profile_revision == info.revision


async def test_a_second_run_copies_nothing(origin: KnowledgeIndex, target: KnowledgeIndex) -> None:
    await Migration(origin, target).run(Silent())
    before = await target.info()
    again = Migration(origin, target)
    await again.check()
    assert (await again.run(Silent())).fresh == 0
    assert await target.info() == before


class Killed(Exception):
    pass


class Mortal(MemoryIndex):
    """Lets a number of changes through and dies at the next one, before or after it was made."""

    def __init__(self, *, after: bool) -> None:
        super().__init__()
        self.left, self._after = 10**6, after

    async def replace(self, source: str, record: FileRecord, chunks: Sequence[Chunk]) -> int:
        self._step(before=True)
        stored = await super().replace(source, record, chunks)
        self._step(before=False)
        return stored

    async def save_source(self, record: SourceRecord) -> None:
        self._step(before=True)
        await super().save_source(record)
        self._step(before=False)

    def _step(self, *, before: bool) -> None:
        self.left -= before
        if self.left < 0 and before != self._after:
            raise Killed


@pytest.mark.parametrize("after", [False, True])
@pytest.mark.parametrize("changes", range(12))
async def test_what_was_cut_off_goes_on(changes: int, after: bool) -> None:
    """After each single change: the next run ends with an equal copy, and needs no permission."""
    origin, target = await filled(MemoryIndex()), Mortal(after=after)
    target.left = changes
    with pytest.raises(Killed):
        await Migration(origin, target).run(Silent())
    target.left = 10**6
    again = Migration(origin, target)
    await again.check()
    await again.run(Silent())
    assert await contents(target) == await contents(origin)


async def test_a_part_says_that_it_is_one() -> None:
    origin, target = await filled(MemoryIndex()), Mortal(after=True)
    target.left = 5
    with pytest.raises(Killed):
        await Migration(origin, target).run(Silent())
    sources = await target.sources()
    assert {(record.state, record.message) for record in sources} == {(SyncState.INTERRUPTED, PART)}


async def test_what_changed_since_the_first_half_is_copied_as_it_is_now() -> None:
    origin, target = await filled(MemoryIndex()), Mortal(after=True)
    target.left = 6
    with pytest.raises(Killed):
        await Migration(origin, target).run(Silent())
    await origin.remove("runbooks", ["a.md"])
    await origin.replace("wiki", record_of("page.md", "f2"), [chunk_of("New.", "page.md")])
    await origin.remove_source("none")
    target.left = 10**6
    again = Migration(origin, target)
    await again.check()
    await again.run(Silent())
    assert sorted(await target.records("runbooks")) == ["b.md"]
    assert (await target.records("wiki"))["page.md"].fingerprint == "f2"
    assert (await target.info()).chunks == (await origin.info()).chunks


async def other_version(target: KnowledgeIndex) -> None:
    await target.replace("runbooks", record_of("a.md", "other"), [chunk_of("Mine.", "a.md")])
    await target.save_source(SourceRecord("runbooks", SourceType.FOLDER, "/runbooks"))


async def other_source(target: KnowledgeIndex) -> None:
    await put(target, "mine.md", "Mine.", source="mine")
    await target.save_source(SourceRecord("mine", SourceType.FOLDER, "/mine"))


@pytest.mark.parametrize(
    ("prepare", "named"), [(other_version, "runbooks/a.md"), (other_source, "mine/mine.md")]
)
async def test_a_target_with_other_things_is_refused_and_stays(
    target: KnowledgeIndex, prepare: object, named: str
) -> None:
    origin = await filled(MemoryIndex())
    assert callable(prepare)
    await prepare(target)
    before = await contents(target)
    with pytest.raises(IndexIncompatible, match=named) as refusal:
        await Migration(origin, target).check()
    assert "--overwrite" in refusal.value.remedy
    assert await contents(target) == before


async def test_overwriting_leaves_nothing_of_the_old(target: KnowledgeIndex) -> None:
    origin = await filled(MemoryIndex())
    await other_version(target)
    await other_source(target)
    migration = Migration(origin, target)
    await migration.check(overwrite=True)
    await migration.run(Silent(), overwrite=True)
    assert await contents(target) == await contents(origin)


@pytest.mark.parametrize("tools", [("other", 16, "chunker-1"), ("toy-embedder", 16, "chunker-2")])
async def test_another_embedder_or_chunker_is_refused(tools: tuple[str, int, str]) -> None:
    """ST-05: and named, with what was to be copied."""
    origin, target = await filled(MemoryIndex()), MemoryIndex()
    await target.begin(*tools)
    await put(target, "a.md", "Mine.")
    with pytest.raises(IndexIncompatible) as refusal:
        await Migration(origin, target).check()
    assert tools[0] in str(refusal.value)
    assert tools[2] in str(refusal.value)
    assert EMBEDDER[0] in str(refusal.value)
    assert "--overwrite" in refusal.value.remedy


async def test_an_empty_origin_is_refused_and_the_target_stays(target: KnowledgeIndex) -> None:
    await other_source(target)
    before = await contents(target)
    with pytest.raises(SourceError, match="nothing to copy"):
        await Migration(MemoryIndex(), target).check(overwrite=True)
    assert await contents(target) == before


async def test_what_can_be_made_again_gives_way() -> None:
    """Earlier conversations: the log has them, so nobody is asked."""
    origin, target = await filled(MemoryIndex()), MemoryIndex()
    await target.begin("other", 16, "chunker-1")
    await put(target, "old", "What was said.", source="sessions")
    migration = Migration(origin, target, derived=True)
    await migration.check()
    await migration.run(Silent())
    assert await contents(target) == await contents(origin)


async def test_a_profile_that_is_behind_stays_behind(target: KnowledgeIndex) -> None:
    """The next sync brings it up to date, as it would have done here."""
    origin = await filled(MemoryIndex())
    await put(origin, "later.md", "Stored after the last calibration.")
    await Migration(origin, target).run(Silent())
    info = await target.info()
    assert 0 <= info.profile_revision < info.revision


async def test_without_a_profile_there_is_none(target: KnowledgeIndex) -> None:
    origin = MemoryIndex()
    await origin.begin(*EMBEDDER)
    await put(origin, "a.md", "Drain the node.")
    await origin.save_source(SourceRecord("runbooks", SourceType.FOLDER, "/runbooks"))
    await Migration(origin, target).run(Silent())
    with pytest.raises(StoreError):
        await target.profile()


class Lossy(MemoryIndex):
    """Takes chunks and keeps something else."""

    def __init__(self, change: str) -> None:
        super().__init__()
        self._change = change

    async def replace(self, source: str, record: FileRecord, chunks: Sequence[Chunk]) -> int:
        kept = list(chunks)
        if self._change == "chunks":
            kept = kept[1:]
        elif self._change == "vectors":
            kept = [replace(chunk, vector=-chunk.vector) for chunk in kept]
        elif self._change == "words":
            kept = [replace(chunk, terms=chunk_of("Else.").terms) for chunk in kept]
        elif record.path == "b.md":
            record = replace(record, title="Else")
        return await super().replace(source, record, kept)


@pytest.mark.parametrize("change", ["chunks", "vectors", "words", "records"])
async def test_a_copy_that_differs_is_not_called_one(change: str) -> None:
    origin, target = await filled(MemoryIndex()), Lossy(change)
    with pytest.raises(StorageError, match="differs"):
        await Migration(origin, target).run(Silent())
    assert {record.message for record in await target.sources()} == {PART}
