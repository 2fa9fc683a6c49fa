"""What every knowledge index remembers of files, sources and the tools it was built with."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

import numpy as np
import pytest
from contract.index_chunks import (
    DIMENSION,
    EMBEDDER,
    by_meaning,
    by_words,
    chunk_of,
    put,
    record_of,
    vector_of,
)

from bot.errors import IndexIncompatible
from bot.ports import FileRecord, FileState, KnowledgeIndex, SourceRecord, SyncState
from graph.errors import IndexEmpty, StoreError
from graph.model import LANGUAGES, Access, Scope, SourceType, Status
from graph.ports import Search
from graph.profile import Anchor, Calibration, Profile, Statistics, Vocabulary
from graph.terms import term_hashes

NOW = datetime(2026, 5, 4, 3, 0, tzinfo=UTC)


def a_profile(revision: int) -> Profile:
    mean = np.full(DIMENSION, 0.25, dtype=np.float32)
    anchor = Anchor(0.2, 0.1)
    return Profile(
        embedder=EMBEDDER[0],
        dimension=DIMENSION,
        revision=revision,
        statistics=Statistics(
            3, 12.5, np.sort(term_hashes(["drain", "node"])), np.array([1, 2], np.float32)
        ),
        calibration=Calibration(
            passage_means=dict.fromkeys(LANGUAGES, mean),
            question_means=dict.fromkeys(LANGUAGES, mean),
            dense={(q, d): anchor for q in LANGUAGES for d in LANGUAGES},
            lexical={(q, d): anchor for q in LANGUAGES for d in LANGUAGES},
            final=dict.fromkeys(LANGUAGES, anchor),
            chunks=3,
            fitted_at=NOW,
        ),
        vocabularies={
            lang: Vocabulary(("node",), vector_of("node").reshape(1, -1), mean)
            for lang in LANGUAGES
        },
    )


class TestRecords:
    async def test_files_are_remembered(self, index: KnowledgeIndex) -> None:
        record = FileRecord(
            "отчёты/май.md", "f9", FileState.SKIPPED, "encoding", "koi8-r?", 0, "Май", NOW
        )
        await index.replace("runbooks", record, [])
        await index.replace("wiki", record_of("a.md"), [])
        assert await index.records("runbooks") == {record.path: record}
        assert await index.records("unheard-of") == {}

    async def test_a_skipped_file_has_no_chunks_left(self, index: KnowledgeIndex) -> None:
        await put(index, "a.md", "Drain the node.")
        await index.replace("runbooks", FileRecord("a.md", "f2", FileState.SKIPPED, "binary"), [])
        assert await by_words(index, "drain") == set()
        assert (await index.records("runbooks"))["a.md"].state is FileState.SKIPPED

    async def test_sources_are_remembered(self, index: KnowledgeIndex) -> None:
        record = SourceRecord(
            "wiki", SourceType.REPO, "git.example/wiki", SyncState.COMPLETE, NOW, 3, 0, 1, "ok"
        )
        await index.save_source(replace(record, state=SyncState.RUNNING))
        await index.save_source(record)
        await index.save_source(SourceRecord("runbooks", SourceType.FOLDER, "/docs"))
        assert [source.name for source in await index.sources()] == ["runbooks", "wiki"]
        assert (await index.sources())[1] == record

    async def test_chunks_of_sources_are_counted_as_those_of_the_index(
        self, index: KnowledgeIndex
    ) -> None:
        """What two places hold is stored once, and counted once, for the one that still has it."""

        async def counted() -> dict[str, int]:
            found = {source.name: source.chunks for source in await index.sources()}
            assert sum(found.values()) == (await index.info()).chunks
            return found

        for name in ("runbooks", "wiki", "empty"):
            await index.save_source(SourceRecord(name, SourceType.FOLDER, f"/{name}", chunks=99))
        await put(index, "a.md", "Drain the node.", "Cordon the node.")
        await put(index, "copy.md", "Drain the node.", "Call the vendor.", source="wiki")
        assert await counted() == {"empty": 0, "runbooks": 2, "wiki": 1}
        await index.remove("runbooks", ["a.md"])
        assert await counted() == {"empty": 0, "runbooks": 0, "wiki": 2}

    async def test_chunks_come_in_the_order_of_documents(self, index: KnowledgeIndex) -> None:
        await put(index, "b.md", "Third.", "Fourth.")
        await put(index, "a.md", "First.", "Second.", access=Access(status=Status.DRAFT))
        await put(index, "c.md", "First of the wiki.", "Third.", source="wiki")
        stored = [(p.text, vector, terms) async for p, vector, terms in index.chunks()]
        assert [text for text, _, _ in stored] == [
            "First.",
            "Second.",
            "Third.",
            "Fourth.",
            "First of the wiki.",
        ]
        assert all(np.array_equal(vector, vector_of(text)) for text, vector, _ in stored)
        assert stored[3][2].to_bytes() == chunk_of("Fourth.", "b.md").terms.to_bytes()

    async def test_more_chunks_than_one_page(self, index: KnowledgeIndex) -> None:
        texts = [f"Line {number}." for number in range(1100)]
        await put(index, "long.md", *texts)
        assert [passage.text async for passage, _, _ in index.chunks()] == texts


class TestBuildingTools:
    async def test_a_new_index_says_so(self, index: KnowledgeIndex) -> None:
        info = await index.info()
        assert (info.embedder, info.dimension, info.chunker) == EMBEDDER
        assert (info.chunks, info.revision, info.profile_revision) == (0, 0, -1)

    @pytest.mark.parametrize(
        "other", [("e5", DIMENSION, "chunker-1"), ("toy-embedder", 384, "chunker-1"),
                  ("toy-embedder", DIMENSION, "chunker-2")],
    )  # fmt: skip
    async def test_st_05_other_tools_are_refused_by_name(
        self, index: KnowledgeIndex, other: tuple[str, int, str]
    ) -> None:
        await put(index, "a.md", "Drain the node.")
        before = await index.info()
        with pytest.raises(IndexIncompatible) as refusal:
            await index.begin(*other)
        for word in (*EMBEDDER, *other):
            assert str(word) in str(refusal.value)
        assert "belay sync --rebuild" in refusal.value.remedy
        assert await index.info() == before
        assert await by_words(index, "drain") == {"Drain the node."}

    async def test_st_05_the_same_tools_go_on(self, index: KnowledgeIndex) -> None:
        await put(index, "a.md", "Drain the node.")
        await index.begin(*EMBEDDER)
        assert await put(index, "b.md", "Call the vendor.") == 1

    async def test_st_05_an_emptied_index_takes_another_embedder(
        self, index: KnowledgeIndex
    ) -> None:
        await index.save_source(
            SourceRecord("runbooks", SourceType.FOLDER, "/docs", SyncState.COMPLETE, NOW, 1, 1)
        )
        await put(index, "a.md", "Drain the node.")
        await index.save_profile(a_profile(1))
        assert await by_meaning(index, "drain") == {"Drain the node."}
        await index.reset()
        info = await index.info()
        assert (info.embedder, info.dimension, info.chunks, info.profile_revision) == ("", 0, 0, -1)
        assert await index.records("runbooks") == {}
        (source,) = await index.sources()
        assert (source.location, source.state, source.chunks) == ("/docs", SyncState.NEVER, 0)
        await index.begin("e5", 8, "chunker-1")
        chunk = chunk_of("Drain the node.", vector=vector_of("e5", 8))
        await index.replace("runbooks", record_of("orders/db.md"), [chunk])
        (hit,) = await index.search(Search((), vector_of("e5", 8)), Scope())
        assert np.array_equal(hit.vector, chunk.vector)

    async def test_no_profile_yet(self, index: KnowledgeIndex) -> None:
        with pytest.raises(IndexEmpty, match="no profile"):
            await index.profile()
        await put(index, "a.md", "Drain the node.")
        with pytest.raises(StoreError, match="no profile") as failure:
            await index.profile()
        assert not isinstance(failure.value, IndexEmpty)

    async def test_a_profile_comes_back(self, index: KnowledgeIndex) -> None:
        for revision in (4, 5):
            await index.save_profile(a_profile(revision))
            profile = await index.profile()
            assert profile.to_bytes() == a_profile(revision).to_bytes()
            assert (await index.info()).profile_revision == revision

    async def test_a_profile_of_an_earlier_revision_comes_too_late(
        self, index: KnowledgeIndex
    ) -> None:
        """Two processes fit one; the one that began first is done last."""
        await index.save_profile(a_profile(5))
        await index.save_profile(a_profile(4))
        assert (await index.info()).profile_revision == 5
        assert (await index.profile()).to_bytes() == a_profile(5).to_bytes()
        await index.reset()
        await index.save_profile(a_profile(4))
        assert (await index.profile()).revision == 4

    async def test_a_profile_of_the_same_revision_replaces_the_first(
        self, index: KnowledgeIndex
    ) -> None:
        await index.save_profile(a_profile(4))
        await index.profile()
        again = replace(a_profile(4), embedder="another")
        await index.save_profile(again)
        assert (await index.profile()).embedder == "another"
