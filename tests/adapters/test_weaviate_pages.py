"""Messages of a bounded size: what is larger goes, and comes, in parts."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any, cast

import pytest
from weaviate.classes.data import DataObject
from weaviate.exceptions import WeaviateBatchError, WeaviateQueryError

from adapters.weaviate.faults import Refused
from adapters.weaviate.paging import PAGE, everything, insert
from adapters.weaviate.rows import SPOTS, object_id, spot
from adapters.weaviate.schema import Collection

EXHAUSTED = 'status = StatusCode.RESOURCE_EXHAUSTED details = "received message larger than max"'


@dataclass
class Bounded:
    """A collection behind a wire that takes and gives messages of at most `limit` bytes."""

    limit: int
    stored: list[Any] = field(default_factory=list)
    messages: list[int] = field(default_factory=list)

    @property
    def data(self) -> Bounded:
        return self

    query = aggregate = data

    async def insert_many(self, objects: Sequence[Any]) -> Any:
        size = sum(size_of(item) for item in objects)
        if size > self.limit:
            raise WeaviateBatchError(EXHAUSTED)
        self.messages.append(size)
        self.stored += objects
        return SimpleNamespace(errors={})

    async def over_all(self, **_: Any) -> Any:
        return SimpleNamespace(total_count=len(self.stored))

    async def fetch_objects(self, *, limit: int, filters: Any, **_: Any) -> Any:
        start, end = bounds(filters)
        found = [item for item in self.stored if start <= item.properties["spot"] < end][:limit]
        if sum(size_of(item) for item in found) > self.limit:
            raise WeaviateQueryError(EXHAUSTED, "GRPC search")
        return SimpleNamespace(objects=found)


def size_of(item: Any) -> int:
    return len(json.dumps(item.properties).encode()) + 4 * len(item.vector or ())


def bounds(filters: Any) -> tuple[int, int]:
    """The range of spots that a filter asks for."""
    if filters is None:
        return 0, SPOTS
    first, second = filters.filters
    return first.value, second.value


def objects(count: int, characters: int) -> list[Any]:
    found = []
    for number in range(count):
        identity = object_id(str(number))
        properties = {"number": number, "spot": spot(identity), "text": "x" * characters}
        found.append(DataObject(properties=properties, uuid=identity, vector=[0.5] * 64))
    return found


def numbers(found: Sequence[Any]) -> list[int]:
    return sorted(item.properties["number"] for item in found)


@pytest.mark.parametrize("limit", [10_000_000, 1_000_000, 40_000])
async def test_st_01_what_is_too_large_for_a_message_is_stored_once_each(limit: int) -> None:
    """500 chunks of 30 KB, which are 15 MB."""
    server = Bounded(limit)
    await insert(cast("Collection", server), objects(500, 30_000))
    assert numbers(server.stored) == list(range(500))
    assert max(server.messages) <= limit


async def test_st_01_small_objects_still_go_together() -> None:
    server = Bounded(10_000_000)
    await insert(cast("Collection", server), objects(400, 10))
    assert len(server.messages) == 2


async def test_st_01_one_object_that_is_too_large_is_named_and_the_others_are_stored() -> None:
    server = Bounded(50_000)
    with pytest.raises(Refused, match="1 objects were not stored"):
        await insert(cast("Collection", server), [*objects(3, 100), *objects(1, 60_000)])
    assert len(server.stored) == 3


@pytest.mark.parametrize("limit", [10**9, 10_000_000, 400_000])
async def test_st_01_a_listing_that_is_too_large_comes_in_parts(limit: int) -> None:
    server = Bounded(limit, objects(PAGE + 500, 30_000))
    found = await everything(cast("Collection", server), None, ("number",))
    assert numbers(found) == list(range(PAGE + 500))


async def test_st_01_an_object_larger_than_an_answer_ends_with_a_word() -> None:
    with pytest.raises(Refused, match="larger than an answer"):
        await everything(cast("Collection", Bounded(50, objects(1, 100))), None, ("number",))


async def test_another_failure_of_a_batch_is_not_tried_in_halves() -> None:
    class Down(Bounded):
        async def insert_many(self, objects: Sequence[Any]) -> Any:
            self.messages.append(len(objects))
            raise WeaviateBatchError("UNAVAILABLE")

    server = Down(1)
    with pytest.raises(WeaviateBatchError):
        await insert(cast("Collection", server), objects(100, 10))
    assert server.messages == [100]
