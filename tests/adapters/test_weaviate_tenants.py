"""Teams in the same collections of a Weaviate server, each in a tenant of its own."""

from __future__ import annotations

from collections.abc import AsyncIterator
from types import SimpleNamespace
from typing import Any, cast
from uuid import uuid4

import pytest
from contract.index_chunks import (
    EMBEDDER,
    NEEDS_WEAVIATE,
    by_meaning,
    by_words,
    close_index,
    open_weaviate,
    put,
)
from contract.index_kit import contents, filled
from weaviate.classes.tenants import TenantActivityStatus as Status

from adapters.weaviate import WeaviateIndex
from adapters.weaviate.options import Waits
from adapters.weaviate.schema import Collection
from adapters.weaviate.tenants import activated, activity
from bot.errors import StorageError
from graph.errors import StoreError
from graph.model import Scope
from graph.ports import Search

SHELF = "SuiteShared"
Teams = tuple[WeaviateIndex, WeaviateIndex]


@pytest.fixture
async def teams() -> AsyncIterator[Teams]:
    """Two on one shelf; the name of one begins with that of the other."""
    name = uuid4().hex
    one, two = [await open_weaviate(SHELF, tenant) for tenant in (name, f"{name}_1a")]
    for index in (one, two):
        await index.begin(*EMBEDDER)
    yield one, two
    for index in (one, two):
        await close_index(index)


async def seen(index: WeaviateIndex, words: str) -> tuple[object, ...]:
    """What every way of looking finds."""
    passages = [passage.text async for passage, _, _ in index.chunks()]
    return (
        await by_words(index, words),
        await by_meaning(index, words),
        await index.mentioned(words.split(), Scope()),
        await index.readable([("runbooks", "a.md")], Scope()),
        await index.files_in(Scope()),
        await index.records("runbooks"),
        await index.stored("runbooks", "a.md"),
        (await index.info()).chunks,
        passages,
    )


NOTHING = (set(), set(), frozenset(), frozenset(), {}, {}, [], 0, [])


@NEEDS_WEAVIATE
async def test_no_team_sees_anything_of_another(teams: Teams) -> None:
    """By words, by meaning, by name, in lists, counts and copies, though the path is the same."""
    one, two = teams
    await put(one, "a.md", "The zebra launch is in May.")
    assert tuple(map(plain, await seen(two, "zebra launch"))) == NOTHING
    await put(two, "a.md", "Drain the node.")
    assert await by_meaning(one, "x") == {"The zebra launch is in May."}
    assert await by_meaning(two, "x") == {"Drain the node."}
    assert one.collections.chunks.name == two.collections.chunks.name


def plain(value: object) -> object:
    return list(value) if isinstance(value, tuple) else value


@NEEDS_WEAVIATE
@pytest.mark.parametrize("change", ["remove", "reset", "renew", "drop", "dimension"])
async def test_what_one_team_does_leaves_the_other_as_it_was(teams: Teams, change: str) -> None:
    one, two = teams
    for index in teams:
        await filled(index)
    before = await contents(two)
    if change == "remove":
        await one.remove_source("runbooks")
    elif change == "reset":
        await one.reset()
    elif change == "renew":
        async with one.renewed() as fresh:
            await fresh.begin(*EMBEDDER)
    elif change == "drop":
        await one.drop()
    else:
        await one.reset()
        await one.begin("other", 24, "chunker-1")
    assert await contents(two) == before
    again = await open_weaviate(SHELF, two.collections.layout.tenant)
    assert await contents(again) == before
    await again.close()


async def sleep(index: WeaviateIndex) -> None:
    parts, name = index.collections, index.collections.layout.tenant
    for part in (parts.chunks, parts.files, parts.facts):
        await part.tenants.deactivate([name])


@NEEDS_WEAVIATE
async def test_an_inactive_tenant_becomes_active(teams: Teams) -> None:
    """When a bot starts, and under one that runs. The other team's is not touched."""
    one, two = teams
    await put(one, "a.md", "Drain the node.")
    await sleep(one)
    assert await by_words(one, "drain") == {"Drain the node."}
    await sleep(one)
    await sleep(two)
    name = one.collections.layout.tenant
    again = await open_weaviate(SHELF, name)
    assert await activity(one.collections.chunks, name) is Status.ACTIVE
    assert await activity(two.collections.chunks, two.collections.layout.tenant) is Status.INACTIVE
    assert await by_words(again, "drain") == {"Drain the node."}
    (finding,) = await again.check()
    assert f"tenant {name!r} is active" in finding.message
    await again.close()


@NEEDS_WEAVIATE
async def test_a_tenant_that_was_deleted_is_named(teams: Teams) -> None:
    """Nothing of it comes back by a write; a restart makes an empty one."""
    one, _ = teams
    await put(one, "a.md", "Drain the node.")
    name = one.collections.layout.tenant
    await one.drop()
    with pytest.raises(StoreError, match="no tenant for this team"):
        await one.search(Search(("drain",), None), Scope())
    with pytest.raises(StorageError, match="no tenant for this team"):
        await put(one, "b.md", "Cordon.")
    again = await open_weaviate(SHELF, name)
    assert (await again.info()).chunks == 0
    await again.close()


@NEEDS_WEAVIATE
async def test_collections_of_the_other_kind_are_refused(teams: Teams) -> None:
    plain_one = await open_weaviate(f"Suite{uuid4().hex}")
    with pytest.raises(StorageError, match=r"without tenants.*multi_tenancy asks") as refusal:
        await open_weaviate(plain_one.collections.shelf, "acme")
    assert "belay migrate" in refusal.value.remedy
    await close_index(plain_one)
    with pytest.raises(StorageError, match=r"with tenants.*does not ask") as refusal:
        await open_weaviate(SHELF)
    assert "BELAY_WEAVIATE__PREFIX" in refusal.value.remedy


class Tenants:
    """A tenant that stays as it is, whatever is asked."""

    def __init__(self, state: Status) -> None:
        self._state = state

    async def get_by_names(self, names: list[str]) -> dict[str, Any]:
        return {name: SimpleNamespace(activity_status=self._state) for name in names}

    async def activate(self, names: list[str]) -> None:
        """Takes it, as a server does whose bucket is away."""


@pytest.mark.parametrize("state", [Status.OFFLOADED, Status.INACTIVE, Status.ONLOADING])
async def test_a_tenant_that_does_not_become_active_is_said(state: Status) -> None:
    shared = cast(Collection, SimpleNamespace(name="BelayChunks", tenants=Tenants(state)))
    with pytest.raises(StorageError) as refusal:
        await activated(shared, "acme", Waits(start=0.01))
    assert f"'acme' of BelayChunks is {state.value.lower()}" in str(refusal.value)
    assert "offload-s3" in refusal.value.remedy
