"""The vectors in memory stay equal to the file through any number of changes."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest
from contract.index_chunks import EMBEDDER, put, vector_of

from adapters.sqlite import SqliteIndex
from graph.model import LANGUAGES, Access, Scope
from graph.ports import Search

WORDS = ("node", "vendor", "узел", "шлюз", "certificate", "очередь")
ACCESS = (Access(), Access(labels=frozenset({"sec"})), Access(audience="senior"))


async def nearest(index: SqliteIndex, question: str, limit: int, scope: Scope) -> set[str]:
    hits = await index.search(Search((), vector_of(question), dense_limit=limit), scope)
    return {hit.passage.id for hit in hits}


async def nearest_in_file(index: SqliteIndex, question: str, limit: int) -> set[str]:
    """The same from what the file holds, sorted in full."""
    cosines = {
        language: sorted(
            [
                (-float(vector @ vector_of(question)), passage.id)
                async for passage, vector, _ in index.chunks()
                if passage.language == language
            ]
        )[:limit]
        for language in LANGUAGES
    }
    return {passage for best in cosines.values() for _, passage in best}


@pytest.mark.parametrize("seed", range(3))
async def test_a_long_life_of_changes(tmp_path: Path, seed: int) -> None:
    """One index answers after every few changes; another, opened new, answers the same."""
    random = Random(seed)
    everyone = Scope(levels=frozenset({"staff", "senior"}))
    index = await SqliteIndex.open(tmp_path / "index.db")
    await index.begin(*EMBEDDER)
    for step in range(120):
        path = f"{random.randrange(25)}.md"
        if random.random() < 0.3:
            await index.remove("runbooks", [path])
        else:
            rule = random.randrange(len(ACCESS))  # in the text, too: equal vectors would be ties
            texts = {f"{random.choice(WORDS)} {random.randrange(40)} r{rule}" for _ in range(6)}
            await put(index, path, *sorted(texts), access=ACCESS[rule])
        if step % 7 == 0:
            question = f"question {step}"
            expected = await nearest_in_file(index, question, 5)
            assert await nearest(index, question, 5, everyone) == expected
    fresh = await SqliteIndex.open(tmp_path / "index.db")
    for scope in (everyone, Scope(labels=frozenset({"ops"})), Scope(tenant="acme")):
        for limit in (1, 4, 1000):
            found = await nearest(index, "last", limit, scope)
            assert found == await nearest(fresh, "last", limit, scope)
    await fresh.close()
    await index.close()


async def test_more_vectors_than_one_block(tmp_path: Path) -> None:
    """Hidden chunks between visible ones, over several blocks of the matrix."""
    index = await SqliteIndex.open(tmp_path / "index.db")
    await index.begin(*EMBEDDER)
    for number in range(6):
        access = ACCESS[number % 2]
        await put(index, f"{number}.md", *(f"{number} {n}" for n in range(1500)), access=access)
    open_files = {"0.md", "2.md", "4.md"}
    for target in ("0 0", "2 1499", "4 700", "3 5"):
        search = Search((), vector_of(target), dense_limit=3)
        hits = await index.search(search, Scope(labels=frozenset({"ops"})))
        assert len(hits) == 3
        assert {hit.passage.document for hit in hits} <= open_files
        path = f"{target[0]}.md"
        assert (target in {hit.passage.text for hit in hits}) == (path in open_files)
    await index.close()
