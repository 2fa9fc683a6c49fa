"""Several processes on one index: each has a handle of its own."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from contract.index_chunks import (
    EMBEDDER,
    SERVED,
    by_meaning,
    by_words,
    close_index,
    open_weaviate,
    place_of,
    put,
)

from adapters.sqlite import SqliteIndex
from bot.ports import KnowledgeIndex
from graph.model import Access, Scope

STAFF = Scope()
SENIOR = Scope(levels=frozenset({"staff", "senior"}))


@pytest.fixture(params=["sqlite", *SERVED])
async def replicas(
    request: pytest.FixtureRequest, tmp_path: Path
) -> AsyncIterator[tuple[KnowledgeIndex, KnowledgeIndex]]:
    one: KnowledgeIndex
    two: KnowledgeIndex
    if request.param == "sqlite":
        one, two = [await SqliteIndex.open(tmp_path / "index.db") for _ in range(2)]
    else:
        place = place_of(request.param)
        one, two = [await open_weaviate(*place) for _ in range(2)]
    await one.begin(*EMBEDDER)
    yield one, two
    await two.close()
    await close_index(one)


Replicas = tuple[KnowledgeIndex, KnowledgeIndex]


async def test_se_07_nothing_is_lost_when_both_store(replicas: Replicas) -> None:
    """50 changes in turns and at once; each is there once, for both."""
    async with asyncio.TaskGroup() as group:
        for number in range(25):
            for name, index in zip("ab", replicas, strict=True):
                group.create_task(put(index, f"{name}{number}.md", f"note {name}{number}"))
    expected = {f"{name}{number}.md" for name in "ab" for number in range(25)}
    for index in replicas:
        assert set(await index.records("runbooks")) == expected
        assert (await index.info()).chunks == 50
        assert await by_words(index, "a7 b13") == {"note a7", "note b13"}


async def test_se_07_both_store_the_same_and_it_is_there_once(replicas: Replicas) -> None:
    """Two replicas that index one conversation."""
    await asyncio.gather(*(put(index, "turn-1", "the codeword is ORCA") for index in replicas))
    for index in replicas:
        assert (await index.info()).chunks == 1
        assert await by_words(index, "orca") == {"the codeword is ORCA"}


async def test_sc_16_what_is_tightened_or_removed_by_one_is_gone_for_the_other(
    replicas: Replicas,
) -> None:
    one, two = replicas
    await put(one, "plan.md", "Project Zebra starts in May.")
    await put(one, "old.md", "Project Orca was stopped.")
    assert len(await by_meaning(two, "x", STAFF)) == 2
    await put(one, "plan.md", "Project Zebra starts in May.", access=Access(audience="senior"))
    await one.remove("runbooks", ["old.md"])
    for search in (by_words, by_meaning):
        assert await search(two, "project zebra orca", STAFF) == set()
        assert await search(two, "project zebra orca", SENIOR) == {"Project Zebra starts in May."}
    assert await two.readable([("runbooks", "plan.md"), ("runbooks", "old.md")], STAFF) == set()
    assert await two.files_in(STAFF) == {}


async def test_sc_04_what_was_said_in_a_place_is_for_that_place(replicas: Replicas) -> None:
    """By words, by meaning and by name, for the other replica too."""
    one, two = replicas
    said = Access(place="slack:G0HR:chat")
    await put(one, "t1", "Grade 7 earns 7781.", source="sessions", access=said)
    for place in ("", "slack:C01:chat", "slack:G0HR:shared", "slack:G0HR"):
        scope = Scope(place=place)
        assert await by_words(two, "grade 7781", scope) == set()
        assert await by_meaning(two, "grade", scope) == set()
        assert await two.mentioned(["grade", "7781"], scope) == frozenset()
        assert await two.files_in(scope) == {}
    assert await by_words(two, "grade", Scope(place="slack:G0HR:chat")) == {"Grade 7 earns 7781."}
