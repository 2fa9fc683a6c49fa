"""A large index in a Weaviate server, beside the same one in a file. Only when a server is named.

BELAY_WEAVIATE_URL=http://127.0.0.1:8080 python -m benchmarks --only weaviate --sizes 100000
"""

from __future__ import annotations

import time
import uuid
from functools import partial
from pathlib import Path

import numpy as np

from adapters.sqlite import SqliteIndex
from adapters.weaviate import WeaviateIndex, create
from benchmarks.searching import DIMENSION, PER_FILE, QUERIES, question, store
from benchmarks.table import Figure, median, ratio, span, timed
from bot.ports import KnowledgeIndex
from bot.settings import load
from bot.weaviate_settings import tenant_of_weaviate
from graph.model import Scope

_UNCOUNTED = 5  # first searches, which load the vectors


async def costs(folder: Path, size: int) -> list[Figure]:
    """The rate of an import of `size` chunks, and searches of both stores in turns.

    No figures without BELAY_WEAVIATE_URL. The collections are deleted at the end.
    """
    settings = load()
    if not settings.weaviate_url:
        return []
    far = await create(
        settings.weaviate_url,
        grpc=settings.weaviate_grpc,
        key=settings.weaviate_key.get_secret_value(),
        shelf=f"Bench{uuid.uuid4().hex}",
        tenant=tenant_of_weaviate(settings.weaviate, settings.access.tenant),
        **settings.weaviate.model_dump(exclude={"multi_tenancy"}),
    )
    near = await SqliteIndex.open(folder / "search.db")
    try:
        return await _compared(far, near, size)
    finally:
        await near.close()
        await far.drop()
        await far.close()


async def _compared(far: WeaviateIndex, near: SqliteIndex, size: int) -> list[Figure]:
    taken = {"Weaviate": await _filled(far, size), "SQLite": await _filled(near, size)}
    figures = [
        Figure(f"import into {name}, {size:,} chunks", f"{size / seconds:,.0f} chunks/s",
               f"{seconds:.0f} s, files of {PER_FILE}")
        for name, seconds in taken.items()
    ]  # fmt: skip
    rng = np.random.default_rng(11)
    times: dict[str, list[float]] = {"Weaviate": [], "SQLite": []}
    for _ in range(QUERIES + _UNCOUNTED):
        asked = question(rng)
        for name, index in (("Weaviate", far), ("SQLite", near)):
            times[name].append(await timed(partial(index.search, asked, Scope())))
    counted = {name: values[_UNCOUNTED:] for name, values in times.items()}
    figures += [
        Figure(f"search p50 / p99 in {name}, {size:,} chunks", span(values))
        for name, values in counted.items()
    ]
    above, below = median(counted["Weaviate"]), median(counted["SQLite"])
    figures.append(ratio("search, Weaviate ÷ SQLite", above, below, "ms"))
    return figures


async def _filled(index: KnowledgeIndex, size: int) -> float:
    """Seconds."""
    rng = np.random.default_rng(7)
    await index.begin("bench", DIMENSION, "1")
    started = time.perf_counter()
    for start in range(0, size, PER_FILE):
        await store(index, start, rng)
    return time.perf_counter() - started
