"""Vectors of questions that another process has asked for."""

from __future__ import annotations

from collections.abc import Collection, Sequence

import numpy as np

from adapters.memory.cache import MemoryCache
from adapters.memory.embedder import HashEmbedder
from bot.cache import Cache
from bot.errors import StorageError
from bot.vector_cache import CachedEmbedder
from graph.ports import Matrix

QUESTIONS = ["how do I drain a node?", "как осушить узел?", "how do I drain a node?"]


class Counting(HashEmbedder):
    """Remembers what it was asked for."""

    def __init__(self, dimension: int = 64) -> None:
        super().__init__(dimension)
        self.asked: list[str] = []

    async def embed_questions(self, texts: Sequence[str]) -> Matrix:
        self.asked += texts
        return await super().embed_questions(texts)


class Down(Cache):
    """A server that is not there."""

    async def get(self, key: str) -> str | None:
        raise StorageError("down")

    async def put(self, key: str, value: str, seconds: float) -> None:
        raise StorageError("down")

    async def drop(self, keys: Collection[str]) -> None:
        raise StorageError("down")


async def test_another_process_gets_the_same_vectors_without_asking() -> None:
    cache, first, second = MemoryCache(), Counting(), Counting()
    plain = await HashEmbedder(64).embed_questions(QUESTIONS)
    made = await CachedEmbedder(first, cache, 60).embed_questions(QUESTIONS)
    kept = await CachedEmbedder(second, cache, 60).embed_questions(QUESTIONS)
    assert np.array_equal(made, plain)
    assert np.array_equal(kept, plain)
    assert second.asked == []


async def test_only_what_is_missing_is_asked_for() -> None:
    cache, embedder = MemoryCache(), Counting()
    cached = CachedEmbedder(embedder, cache, 60)
    await cached.embed_questions(["one question"])
    rows = await cached.embed_questions(["another", "one question", "a third"])
    assert embedder.asked == ["one question", "another", "a third"]
    plain = await HashEmbedder(64).embed_questions(["another", "one question", "a third"])
    assert np.array_equal(rows, plain)


async def test_another_space_is_another_vector() -> None:
    cache, wide = MemoryCache(), Counting(128)
    await CachedEmbedder(Counting(64), cache, 60).embed_questions(["one question"])
    rows = await CachedEmbedder(wide, cache, 60).embed_questions(["one question"])
    assert rows.shape == (1, 128)
    assert wide.asked == ["one question"]


async def test_without_the_cache_it_embeds() -> None:
    rows = await CachedEmbedder(Counting(), Down(), 60).embed_questions(QUESTIONS)
    assert np.array_equal(rows, await HashEmbedder(64).embed_questions(QUESTIONS))
