"""Vectors of questions, kept so that a remote embedder is asked once for the same words."""

from __future__ import annotations

import logging
from base64 import b64decode, b64encode
from collections.abc import Sequence
from hashlib import sha256

import numpy as np

from bot.cache import Cache
from bot.errors import StorageError
from graph.ports import Embedder, Matrix

_log = logging.getLogger(__name__)


class CachedEmbedder(Embedder):
    """The same vectors as `embedder`'s, bit for bit. Passages are embedded once anyway, and are
    not kept; of a question only a digest is the key."""

    def __init__(self, embedder: Embedder, cache: Cache, seconds: float) -> None:
        self._embedder, self._cache, self._seconds = embedder, cache, seconds

    @property
    def name(self) -> str:
        return self._embedder.name

    @property
    def dimension(self) -> int:
        return self._embedder.dimension

    async def embed_questions(self, texts: Sequence[str]) -> Matrix:
        """Raises EmbedderError."""
        rows = [await self._kept(text) for text in texts]
        missing = [text for text, row in zip(texts, rows, strict=True) if row is None]
        if missing:
            made = iter(await self._embedder.embed_questions(missing))
            rows = [await self._made(text, next(made)) if row is None else row
                    for text, row in zip(texts, rows, strict=True)]  # fmt: skip
        return np.stack([row for row in rows if row is not None]).astype(np.float32)

    async def embed_passages(self, texts: Sequence[str]) -> Matrix:
        """Raises EmbedderError."""
        return await self._embedder.embed_passages(texts)

    async def _kept(self, text: str) -> Matrix | None:
        try:
            found = await self._cache.get(self._key(text))
        except StorageError as error:
            _log.warning("questions are embedded anew: %s", error)
            return None
        if found is None:
            return None
        row = np.frombuffer(b64decode(found), dtype=np.float32)
        return row if row.size == self.dimension else None

    async def _made(self, text: str, row: Matrix) -> Matrix:
        value = b64encode(np.ascontiguousarray(row, dtype=np.float32).tobytes()).decode()
        try:
            await self._cache.put(self._key(text), value, self._seconds)
        except StorageError as error:
            _log.warning("a vector was not kept: %s", error)
        return row

    def _key(self, text: str) -> str:
        words = f"{self.name}\n{self.dimension}\n{text}".encode("utf-8", "surrogatepass")
        return f"vector:{sha256(words).hexdigest()}"
