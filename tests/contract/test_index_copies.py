"""What an index gives back of a file is what it was given: for copies in another index."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest
from contract.index_chunks import KINDS, chunk_of, close_index, open_index, put, record_of

from bot.ports import Chunk, KnowledgeIndex, Stored
from graph.model import Access, Passage, Scope, SourceType, Status
from graph.ports import Search
from graph.text import tokens

LIMITED = Access(
    tenant="acme, inc.",
    audience="senior",
    labels=frozenset({"brand a", "ё"}),
    status=Status.SUPERSEDED,
    effective_from=datetime(1500, 2, 3, tzinfo=UTC),
    effective_until=datetime(2400, 5, 6, 7, 8, 9, 123456, tzinfo=UTC),
    source_type=SourceType.SESSION,
    place="slack:C1:chat",
)


def values(chunk: Chunk) -> tuple[object, ...]:
    """All of a chunk in values that can be compared."""
    return (
        chunk.passage,
        chunk.access,
        chunk.fields,
        chunk.terms.to_bytes(),
        chunk.vector.tobytes(),
        chunk.content_hash,
    )


def a_passage_of_all(passage: Passage) -> Passage:
    return replace(
        passage,
        version="v2",
        updated_at=datetime(2026, 1, 2, 3, 4, 5, 678901, tzinfo=UTC),
        owner="team-db",
        document_chunks=7,
        stub=True,
        behind=(("runbooks", "db/failover.md"), ("wiki", "б.md")),
    )


def chunks_of_all_kinds(path: str) -> list[Chunk]:
    plain = chunk_of("Drain the node.", path, heading="How to drain: kubectl=drain")
    russian = chunk_of("Снимите нагрузку с ноды ё.", path, ordinal=1)
    limited = chunk_of("Only for a few.", path, ordinal=2, access=LIMITED)
    whole = chunk_of("All that a passage has.", path, ordinal=3)
    wordless = chunk_of("— ⚠ —", path, ordinal=4)
    passage = a_passage_of_all(whole.passage)
    return [plain, russian, limited, replace(whole, passage=passage), wordless]


async def texts(index: KnowledgeIndex, path: str) -> list[tuple[str, bool]]:
    return [
        (item.chunk.passage.text, item.findable) for item in await index.stored("runbooks", path)
    ]


@pytest.mark.parametrize("path", ["orders/db.md", "README.md", 'a b/c "d"/файл 1.md'])
async def test_a_file_comes_back_as_it_was_stored(index: KnowledgeIndex, path: str) -> None:
    chunks = chunks_of_all_kinds(path)
    await index.replace("runbooks", record_of(path), chunks)
    found = await index.stored("runbooks", path)
    assert [values(item.chunk) for item in found] == [values(chunk) for chunk in chunks]
    assert all(item.findable for item in found)


async def test_a_file_that_is_not_there_has_no_chunks(index: KnowledgeIndex) -> None:
    await put(index, "a.md", "Drain the node.")
    for source, path in (("runbooks", "b.md"), ("wiki", "a.md"), ("runbooks", "A.md"), ("", "")):
        assert list(await index.stored(source, path)) == []


async def test_it_tells_where_a_text_is_findable(index: KnowledgeIndex) -> None:
    await put(index, "b.md", "Drain the node.")
    await put(index, "a.md", "Cordon the node.", "Drain the node.", "Cordon the node.")
    assert await texts(index, "b.md") == [("Drain the node.", True)]
    assert await texts(index, "a.md") == [("Cordon the node.", True), ("Drain the node.", False)]
    await index.remove("runbooks", ["b.md"])
    assert await texts(index, "a.md") == [("Cordon the node.", True), ("Drain the node.", True)]


async def test_more_chunks_than_a_page_come_in_reading_order(index: KnowledgeIndex) -> None:
    said = [f"Step number {number}." for number in range(1100)]
    await put(index, "long.md", *said)
    assert [text for text, _ in await texts(index, "long.md")] == said


@pytest.fixture(params=KINDS)
async def other(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[KnowledgeIndex]:
    other = await open_index(request.param, tmp_path / "other")
    yield other
    await close_index(other)


async def test_a_copy_in_another_index_is_equal(
    index: KnowledgeIndex, other: KnowledgeIndex
) -> None:
    """From each kind to each kind: searches of both see the same."""
    path = "orders/db.md"
    await index.replace("runbooks", record_of(path), chunks_of_all_kinds(path))
    first = await index.stored("runbooks", path)
    await other.replace("runbooks", record_of(path), [item.chunk for item in first])
    second = await other.stored("runbooks", path)
    assert [_both(item) for item in second] == [_both(item) for item in first]
    search = Search(tuple(tokens("drain a node")), first[0].chunk.vector)
    for scope in (Scope(), Scope(tenant=LIMITED.tenant)):
        assert await hits(other, search, scope) == await hits(index, search, scope)


async def hits(index: KnowledgeIndex, search: Search, scope: Scope) -> set[tuple[Passage, bytes]]:
    return {(hit.passage, hit.terms.to_bytes()) for hit in await index.search(search, scope)}


def _both(item: Stored) -> tuple[object, ...]:
    return (*values(item.chunk), item.findable)
