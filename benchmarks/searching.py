"""Search in a large index: synthetic chunks with the word frequencies of natural text."""

from __future__ import annotations

import asyncio
import time
import uuid
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from adapters.sqlite import SqliteIndex
from benchmarks.table import Figure
from bot.evals.metrics import quantile
from bot.ports import Chunk, FileRecord, FileState, KnowledgeIndex
from graph.model import Access, Passage, Scope, SourceType
from graph.ports import Search
from graph.terms import Fields, TermCounts

DIMENSION, WORDS, LENGTH = 512, 30_000, 80  # of a vector; of the vocabulary; of a chunk
PER_FILE, QUERIES, TERMS = 50, 60, 12


async def costs(folder: Path, sizes: Sequence[int]) -> list[Figure]:
    """One index that grows from size to size."""
    rng = np.random.default_rng(7)
    index = await SqliteIndex.open(folder / "search.db")
    figures: list[Figure] = []
    stored = 0
    try:
        await index.begin("bench", DIMENSION, "1")
        for size in sizes:
            started = time.perf_counter()
            while stored < size:
                await store(index, stored, rng)
                stored += PER_FILE
            seconds = time.perf_counter() - started
            figures += await _search(index, size, rng, seconds)
    finally:
        await index.close()
    return figures


async def store(index: KnowledgeIndex, start: int, rng: np.random.Generator) -> None:
    """A file of `PER_FILE` chunks, the first of them number `start`."""
    path = f"{start // PER_FILE:06}.md"
    chunks = await asyncio.to_thread(lambda: [_chunk(path, i, rng) for i in range(PER_FILE)])
    await index.replace("bench", FileRecord(path, path, FileState.INDEXED), chunks)


def question(rng: np.random.Generator) -> Search:
    return Search(_words(rng, TERMS), _vector(rng))


def _words(rng: np.random.Generator, count: int) -> tuple[str, ...]:
    """Zipf's law: the n-th commonest word occurs 1/n as often as the first."""
    return tuple(f"w{number % WORDS}" for number in rng.zipf(1.3, count))


def _vector(rng: np.random.Generator) -> np.ndarray[tuple[int, ...], np.dtype[np.float32]]:
    vector = rng.standard_normal(DIMENSION).astype(np.float32)
    return vector / np.float32(np.linalg.norm(vector))


def _chunk(path: str, number: int, rng: np.random.Generator) -> Chunk:
    body = _words(rng, LENGTH)
    fields = Fields(body)
    name = f"{path}#{number}"
    passage = Passage(
        str(uuid.uuid5(uuid.NAMESPACE_URL, name)), "bench", SourceType.FOLDER, path, path, (),
        " ".join(body), name, (number, number),
    )  # fmt: skip
    return Chunk(passage, Access(), fields, TermCounts.of(fields), _vector(rng), name)


async def _search(
    index: SqliteIndex, size: int, rng: np.random.Generator, stored_in: float
) -> list[Figure]:
    times: list[float] = []
    for _ in range(QUERIES + 3):  # the first ones load the vectors
        search = question(rng)
        started = time.perf_counter()
        await index.search(search, Scope())
        times.append((time.perf_counter() - started) * 1000)
    value = f"{quantile(times[3:], 0.5):.0f} / {quantile(times[3:], 0.99):.0f} ms"
    return [Figure(f"search p50 / p99, {size:,} chunks", value, f"stored in {stored_in:.0f} s")]
