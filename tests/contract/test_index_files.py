"""The contract of a knowledge index: which sources an audience learns of."""

from __future__ import annotations

from contract.index_chunks import put

from bot.ports import KnowledgeIndex
from graph.model import Access, Scope, Status


async def test_sc_04_a_source_is_known_to_those_who_may_read_something_of_it(
    index: KnowledgeIndex,
) -> None:
    closed = Access(audience="senior")
    await put(index, "a.md", "The open rule.", "Its second part.", source="handbook")
    await put(index, "b.md", "The closed rule.", source="handbook", access=closed)
    await put(index, "c.md", "The bonus pool.", source="board", access=closed)
    await put(index, "d.md", "A draft.", source="drafts", access=Access(status=Status.DRAFT))
    everybody, senior = Scope(), Scope(levels=frozenset({"staff", "senior"}))
    assert dict(await index.files_in(everybody)) == {"handbook": 1}
    assert dict(await index.files_in(senior)) == {"handbook": 2, "board": 1}
    assert dict(await index.files_in(Scope(tenant="acme"))) == {}


async def test_a_copy_in_another_source_counts_there_too(index: KnowledgeIndex) -> None:
    await put(index, "a.md", "One text.", source="first")
    await put(index, "b.md", "One text.", source="second")
    assert dict(await index.files_in(Scope())) == {"first": 1, "second": 1}
    await index.remove("first", ["a.md"])
    assert dict(await index.files_in(Scope())) == {"second": 1}


async def test_a_reader_needs_a_label_in_common_with_each_document(index: KnowledgeIndex) -> None:
    """Readers of different brands share what is for both brands, and not what is for one."""
    both, one = frozenset({"swift", "parcelo"}), frozenset({"swift"})
    await put(index, "both.md", "For both brands.", source="both", access=Access(labels=both))
    await put(index, "one.md", "For one brand.", source="one", access=Access(labels=one))
    together = Scope(labels=one, also=frozenset({frozenset({"parcelo"})}))
    assert dict(await index.files_in(together)) == {"both": 1}
    assert dict(await index.files_in(Scope(labels=one))) == {"both": 1, "one": 1}
    assert dict(await index.files_in(Scope(labels=frozenset()))) == {}
