"""How every knowledge index follows files that change, move, repeat and go."""

from __future__ import annotations

import asyncio

import numpy as np
import pytest
from contract.index_chunks import (
    by_meaning,
    by_words,
    chunk_of,
    put,
    record_of,
    vector_of,
)

from bot.errors import IndexIncompatible
from bot.ports import KnowledgeIndex, SourceRecord
from graph.model import Access, Scope, SourceType
from graph.ports import Search
from graph.text import tokens


class TestChanging:
    async def test_a_file_becomes_exactly_what_it_is_now(self, index: KnowledgeIndex) -> None:
        await put(index, "a.md", "Drain the node.", "Cordon the node.", "Call the vendor.")
        await put(index, "b.md", "Another page.")
        stored = await put(index, "a.md", "Cordon the node.", "Write a postmortem.")
        assert stored == 2
        assert await by_meaning(index, "x") == {
            "Cordon the node.",
            "Write a postmortem.",
            "Another page.",
        }
        assert await by_words(index, "drain") == await by_words(index, "vendor") == set()
        assert (await index.info()).chunks == 3

    async def test_the_same_again_changes_nothing(self, index: KnowledgeIndex) -> None:
        await put(index, "a.md", "Drain the node.", "Cordon the node.")
        before = await index.info()
        assert await put(index, "a.md", "Drain the node.", "Cordon the node.") == 2
        assert await index.info() == before

    async def test_every_change_of_chunks_grows_the_revision(self, index: KnowledgeIndex) -> None:
        seen = [(await index.info()).revision]

        async def grown() -> bool:
            seen.append((await index.info()).revision)
            return seen[-1] > seen[-2]

        await put(index, "a.md", "Drain the node.")
        assert await grown()
        await put(index, "a.md", "Drain the node.", access=Access(audience="senior"))
        assert await grown()
        await index.replace("runbooks", record_of("empty.md"), [])
        assert not await grown()
        await index.save_source(SourceRecord("runbooks", SourceType.FOLDER, "/docs"))
        assert not await grown()
        await index.remove("runbooks", ["unheard-of.md", "empty.md"])
        assert not await grown()
        await index.remove("runbooks", ["a.md"])
        assert await grown()
        await put(index, "a.md", "Drain the node.")
        await grown()
        await index.reset()
        assert await grown()

    async def test_a_vector_that_changed_is_searched_with(self, index: KnowledgeIndex) -> None:
        await put(index, "a.md", "Call the vendor.")
        for text in ("first", "second"):
            chunk = chunk_of("Drain the node.", "b.md", vector=vector_of(text))
            await index.replace("runbooks", record_of("b.md"), [chunk])
            (hit,) = await index.search(Search((), vector_of(text), dense_limit=1), Scope())
            assert np.array_equal(hit.vector, chunk.vector)

    async def test_removed_files_are_gone(self, index: KnowledgeIndex) -> None:
        await put(index, "a.md", "Drain the node.", "Cordon the node.")
        await put(index, "b.md", "Call the vendor.")
        await put(index, "c.md", "Write a postmortem.")
        assert await index.remove("runbooks", ["a.md", "b.md", "unheard-of.md"]) == 3
        assert await by_meaning(index, "x") == {"Write a postmortem."}
        assert await by_words(index, "drain cordon vendor") == set()
        assert list(await index.records("runbooks")) == ["c.md"]
        assert await index.remove("runbooks", ["a.md"]) == 0

    async def test_a_removed_source_leaves_the_others(self, index: KnowledgeIndex) -> None:
        for name in ("runbooks", "runbooks-2"):
            await index.save_source(SourceRecord(name, SourceType.FOLDER, f"/{name}"))
            await put(index, "a.md", f"Drain the node of {name}.", source=name)
        assert await index.remove_source("runbooks") == 1
        assert await by_words(index, "drain") == {"Drain the node of runbooks-2."}
        assert [record.name for record in await index.sources()] == ["runbooks-2"]
        assert await index.records("runbooks") == {}
        assert await index.remove_source("unheard-of") == 0

    async def test_a_wrong_vector_leaves_the_file_as_it_was(self, index: KnowledgeIndex) -> None:
        """ST-07's kind: a batch with one bad object is refused as a whole, record included."""
        await put(index, "a.md", "Drain the node.")
        chunks = [
            chunk_of("Cordon the node.", "a.md"),
            chunk_of("Call the vendor.", "a.md", ordinal=1, vector=vector_of("x", 8)),
        ]
        with pytest.raises(IndexIncompatible):
            await index.replace("runbooks", record_of("a.md", "f2"), chunks)
        assert await by_meaning(index, "x") == {"Drain the node."}
        assert (await index.records("runbooks"))["a.md"].fingerprint == "f1"

    async def test_many_at_once(self, index: KnowledgeIndex) -> None:
        async with asyncio.TaskGroup() as group:
            for number in range(20):
                group.create_task(put(index, f"{number}.md", f"Restart service {number}."))
                group.create_task(by_meaning(index, "restart"))
                group.create_task(by_words(index, "restart"))
        assert len(await by_meaning(index, "restart")) == 20
        assert len(await by_words(index, "restart")) == 20


class TestDuplicates:
    async def test_a_text_is_found_once_and_names_its_other_places(
        self, index: KnowledgeIndex
    ) -> None:
        assert await put(index, "a.md", "Drain the node.") == 1
        assert await put(index, "b.md", "Drain the node.", "Call the vendor.") == 1
        assert await put(index, "c.md", "Drain the node.", source="wiki") == 0
        hits = await index.search(Search(tuple(tokens("drain")), vector_of("x")), Scope())
        places = {hit.passage.text: (hit.passage.document, hit.passage.also_at) for hit in hits}
        assert len(hits) == 2
        assert places["Drain the node."] == ("a.md", ("runbooks/b.md", "wiki/c.md"))
        assert places["Call the vendor."] == ("b.md", ())
        assert (await index.info()).chunks == 2

    async def test_each_audience_has_its_own(self, index: KnowledgeIndex) -> None:
        """Nobody loses a page to a copy that they may not read, nor learns of that copy."""
        secret = Access(labels=frozenset({"sec"}))
        await put(index, "secret.md", "Drain the node.", access=secret)
        assert await put(index, "open.md", "Drain the node.") == 1
        (hit,) = await index.search(Search(("drain",), None), Scope(labels=frozenset({"ops"})))
        assert (hit.passage.document, hit.passage.also_at) == ("open.md", ())

    @pytest.mark.parametrize("way", ["remove", "replace", "remove_source"])
    async def test_the_copy_takes_over(self, index: KnowledgeIndex, way: str) -> None:
        await put(index, "a.md", "Drain the node.", source="wiki")
        await put(index, "b.md", "Drain the node.")
        await put(index, "c.md", "Drain the node.")
        if way == "remove":
            assert await index.remove("wiki", ["a.md"]) == 0
        elif way == "replace":
            await put(index, "a.md", "Something else.", source="wiki")
        else:
            assert await index.remove_source("wiki") == 0
        for search in (Search(("drain",), None), Search((), vector_of("Drain the node."))):
            hits = await index.search(search, Scope())
            places = [
                (h.passage.document, h.passage.also_at) for h in hits if "D" in h.passage.text
            ]
            assert places == [("b.md", ("runbooks/c.md",))]
        assert await index.remove("runbooks", ["b.md", "c.md"]) == 1
        assert await by_words(index, "drain") == await by_meaning(index, "x") - {"Something else."}

    async def test_a_copy_that_goes_leaves_no_trace(self, index: KnowledgeIndex) -> None:
        await put(index, "a.md", "Drain the node.")
        await put(index, "b.md", "Drain the node.")
        assert await index.remove("runbooks", ["b.md"]) == 0
        (hit,) = await index.search(Search(("drain",), None), Scope())
        assert (hit.passage.document, hit.passage.also_at) == ("a.md", ())

    async def test_an_edited_document_keeps_what_it_was_first_to_say(
        self, index: KnowledgeIndex
    ) -> None:
        await put(index, "b.md", "Drain the node.")
        await put(index, "a.md", "Drain the node.")
        await put(index, "b.md", "A new first line.", "Drain the node.")
        (hit,) = await index.search(Search(("drain",), None), Scope())
        assert (hit.passage.document, hit.passage.also_at) == ("b.md", ("runbooks/a.md",))

    async def test_a_text_twice_in_one_file_is_kept_once(self, index: KnowledgeIndex) -> None:
        stored = await put(index, "a.md", "Call the vendor.", "Drain it.", "Call the vendor.")
        assert stored == 2
        (hit,) = await index.search(Search(("vendor",), None), Scope())
        assert (hit.passage.lines, hit.passage.also_at) == ((1, 1), ())

    async def test_a_document_is_whole_though_parts_stand_elsewhere(
        self, index: KnowledgeIndex
    ) -> None:
        await put(index, "a.md", "Call the vendor.")
        await put(index, "b.md", "Drain the node.", "Call the vendor.", "Close the alert.")
        (hit,) = await index.search(Search(("drain",), None), Scope())
        document = await index.document(hit.passage, Scope())
        assert [passage.text for passage in document] == [
            "Drain the node.",
            "Call the vendor.",
            "Close the alert.",
        ]
        assert document[1].also_at == ("runbooks/a.md",)
