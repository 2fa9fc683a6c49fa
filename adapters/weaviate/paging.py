"""Whole listings and whole deletions, though the server gives and takes a bounded number."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any, TypeVar

from weaviate.classes.query import Filter
from weaviate.exceptions import WeaviateBaseError, WeaviateInsertManyAllFailedError

from adapters.weaviate.faults import Refused
from adapters.weaviate.rows import SPOTS
from adapters.weaviate.schema import Collection
from adapters.weaviate.scopes import Where

T = TypeVar("T")

PAGE = 1000  # objects; ten times less than the server's QUERY_MAXIMUM_RESULTS
VALUES = 500  # in one `contains_any`
BATCH = 200  # objects, about 2 MB with vectors of 512 dimensions
BATCH_BYTES = 4_000_000  # far below any server's GRPC_MAX_MESSAGE_SIZE
_TOO_LARGE = ("resource_exhausted", "resource exhausted", "larger than max")


def groups(items: Sequence[T], size: int = VALUES) -> Iterator[Sequence[T]]:
    for start in range(0, len(items), size):
        yield items[start : start + size]


async def everything(
    collection: Collection, where: Where | None, names: Sequence[str], *, vectors: bool = False
) -> list[Any]:
    """All objects that fit, in no order, with the properties `names`.

    A listing that is longer than a page is read by ranges of `spot`, a hash of the id: the server
    bounds offsets, and its cursor takes no filter.
    """
    page = await _page(collection, where, names, vectors)
    if page is not None:
        return page
    counted = await count(collection, where)
    step = SPOTS // math.ceil(2 * max(counted, PAGE) / PAGE)
    found: list[Any] = []
    for start in range(0, SPOTS, step):
        found += await _range(collection, where, names, vectors, (start, min(start + step, SPOTS)))
    return found


async def _range(
    collection: Collection,
    where: Where | None,
    names: Sequence[str],
    vectors: bool,
    spots: tuple[int, int],
) -> list[Any]:
    start, end = spots
    inside: Where = Filter.by_property("spot").greater_or_equal(start)
    inside &= Filter.by_property("spot").less_than(end)
    page = await _page(collection, inside if where is None else where & inside, names, vectors)
    if page is not None:
        return page
    if end - start <= 1:
        raise Refused("an object is larger than an answer of the server may be")
    middle = (start + end) // 2
    return [
        *await _range(collection, where, names, vectors, (start, middle)),
        *await _range(collection, where, names, vectors, (middle, end)),
    ]


async def _page(
    collection: Collection, where: Where | None, names: Sequence[str], vectors: bool
) -> list[Any] | None:
    """None when they are more, or larger, than one answer takes."""
    try:
        answer = await collection.query.fetch_objects(
            limit=PAGE, filters=where, return_properties=list(names), include_vector=vectors
        )
    except WeaviateBaseError as error:
        if _too_large(error):
            return None
        raise
    return list(answer.objects) if len(answer.objects) < PAGE else None


async def count(collection: Collection, where: Where | None = None) -> int:
    answer = await collection.aggregate.over_all(filters=where, total_count=True)
    return answer.total_count or 0


async def delete_all(collection: Collection, where: Where) -> None:
    """Deletes what fits until nothing does: one call takes a bounded number of objects.

    Raises Refused when objects cannot be deleted.
    """
    while True:
        gone = await collection.data.delete_many(where, verbose=True)
        if gone.failed or (gone.matches and not gone.successful):
            said = next(
                (item.error for item in gone.objects or () if item.error), "no reason given"
            )
            raise Refused(f"{gone.failed} objects were not deleted: {said}")
        if not gone.matches:
            return


async def insert(collection: Collection, objects: Sequence[Any]) -> None:
    """Stores objects under their ids; what fails alone is tried once more.

    Raises Refused, with what the server said of one, when objects still fail.
    """
    failed = await _insert(collection, objects)
    if failed:
        failed = await _insert(collection, [objects[number] for number in failed])
    if failed:
        raise Refused(f"{len(failed)} objects were not stored: {next(iter(failed.values()))}")


async def _insert(collection: Collection, objects: Sequence[Any]) -> dict[int, str]:
    """What the server said of each object that failed, by its place."""
    failed: dict[int, str] = {}
    start = 0
    for batch in _batches(objects):
        faults = await _insert_batch(collection, batch)
        failed.update((start + place, said) for place, said in faults.items())
        start += len(batch)
    return failed


async def _insert_batch(collection: Collection, batch: Sequence[Any]) -> dict[int, str]:
    """In halves, when the server takes no message that large."""
    try:
        answer = await collection.data.insert_many(batch)
    except WeaviateInsertManyAllFailedError as error:
        return dict.fromkeys(range(len(batch)), error.message)
    except WeaviateBaseError as error:
        if not _too_large(error):
            raise
        if len(batch) == 1:
            return {0: error.message}
        middle = len(batch) // 2
        first = await _insert_batch(collection, batch[:middle])
        second = await _insert_batch(collection, batch[middle:])
        return first | {middle + place: said for place, said in second.items()}
    return {place: fault.message for place, fault in answer.errors.items()}


def _batches(objects: Sequence[Any]) -> Iterator[list[Any]]:
    """At most `BATCH` objects, and about `BATCH_BYTES`, at a time."""
    batch: list[Any] = []
    size = 0
    for item in objects:
        weight = _bytes(item)
        if batch and (len(batch) == BATCH or size + weight > BATCH_BYTES):
            yield batch
            batch, size = [], 0
        batch.append(item)
        size += weight
    if batch:
        yield batch


def _bytes(item: Any) -> int:
    """About what an object takes in a message."""
    words = sum(len(v.encode()) for v in item.properties.values() if isinstance(v, str))
    return words + 4 * len(item.vector or ())


def _too_large(error: WeaviateBaseError) -> bool:
    said = str(error).lower()
    return any(phrase in said for phrase in _TOO_LARGE)
