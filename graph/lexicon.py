"""Word vectors of the builtin embedder, remembered: they carry words across languages."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence

import numpy as np

from graph.ports import Embedder, Matrix, Vector


class Lexicon:
    """Vectors of single words, cached; the least recently used go first."""

    def __init__(self, embedder: Embedder, capacity: int = 20_000) -> None:
        self._embedder = embedder
        self._capacity = capacity
        self._vectors: OrderedDict[str, Vector] = OrderedDict()

    async def vectors(self, words: Sequence[str]) -> Matrix:
        """Raw unit vectors, one row a word. Raises EmbedderError."""
        found = {word: self._vectors[word] for word in words if word in self._vectors}
        missing = [word for word in dict.fromkeys(words) if word not in found]
        if missing:
            fresh = await self._embedder.embed_questions(missing)
            found.update(zip(missing, fresh, strict=True))
        for word in dict.fromkeys(words):
            self._vectors[word] = found[word]
            self._vectors.move_to_end(word)
        self._trim()
        rows = [found[word] for word in words]
        return np.stack(rows) if rows else np.zeros((0, self._embedder.dimension), np.float32)

    def _trim(self) -> None:
        while len(self._vectors) > self._capacity:
            self._vectors.popitem(last=False)
