"""A large index in a Weaviate server, beside the same one in a file. Only when a server is named.

BELAY_WEAVIATE_URL=http://127.0.0.1:8080 python -m benchmarks --only weaviate --sizes 10000,100000
"""

from __future__ import annotations

import time
import uuid
from collections.abc import Mapping, Sequence
from functools import partial
from itertools import pairwise
from pathlib import Path

import numpy as np

from adapters.sqlite import SqliteIndex
from adapters.weaviate import create
from benchmarks.searching import DIMENSION, PER_FILE, QUERIES, question, store
from benchmarks.table import Figure, median, ratio, span, timed
from bot.ports import KnowledgeIndex
from bot.settings import load
from bot.weaviate_settings import tenant_of_weaviate
from graph.model import Scope

_UNCOUNTED = 5  # first searches, which load the vectors


async def costs(folder: Path, sizes: Sequence[int]) -> list[Figure]:
    """Both stores grow from size to size: the rates of the import, and searches in turns.

    No figures without BELAY_WEAVIATE_URL. The collections are deleted at the end; with tenants
    they stay for the next time, empty.
    """
    settings = load()
    if not settings.weaviate_url:
        return []
    tenant = tenant_of_weaviate(settings.weaviate, settings.access.tenant)
    far = await create(
        settings.weaviate_url,
        grpc=settings.weaviate_grpc,
        key=settings.weaviate_key.get_secret_value(),
        shelf="Bench" if tenant else f"Bench{uuid.uuid4().hex}",
        tenant=tenant,
        **settings.weaviate.model_dump(exclude={"multi_tenancy"}),
    )
    near = await SqliteIndex.open(folder / "search.db")
    stores = {"Weaviate": far, "SQLite": near}
    figures: list[Figure] = []
    try:
        for index in stores.values():
            await index.begin("bench", DIMENSION, "1")
        for start, size in pairwise([0, *sorted(set(sizes))]):
            figures += [await _filled(name, index, start, size) for name, index in stores.items()]
            figures += await _searched(stores, size)
    finally:
        await near.close()
        await far.drop()
        await far.close()
    return figures


async def _filled(name: str, index: KnowledgeIndex, stored: int, size: int) -> Figure:
    """The rate at which an index of `stored` chunks grows to `size`."""
    rng = np.random.default_rng(7 + stored)
    started = time.perf_counter()
    for start in range(stored, size, PER_FILE):
        await store(index, start, rng)
    seconds = time.perf_counter() - started
    return Figure(
        f"import into {name}, {stored:,} to {size:,} chunks",
        f"{(size - stored) / seconds:,.0f} chunks/s",
        f"{seconds:.0f} s, files of {PER_FILE}",
    )


async def _searched(stores: Mapping[str, KnowledgeIndex], size: int) -> list[Figure]:
    """Both are asked the same, in turns."""
    rng = np.random.default_rng(11)
    times: dict[str, list[float]] = {name: [] for name in stores}
    for _ in range(QUERIES + _UNCOUNTED):
        asked = question(rng)
        for name, index in stores.items():
            times[name].append(await timed(partial(index.search, asked, Scope())))
    counted = {name: values[_UNCOUNTED:] for name, values in times.items()}
    figures = [
        Figure(f"search p50 / p99 in {name}, {size:,} chunks", span(values))
        for name, values in counted.items()
    ]
    above, below = median(counted["Weaviate"]), median(counted["SQLite"])
    return [*figures, ratio(f"search, Weaviate ÷ SQLite, {size:,} chunks", above, below, "ms")]
