"""An embedding model behind any OpenAI-compatible server."""

from __future__ import annotations

import asyncio
import base64
import binascii
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from adapters.embedding_text import embedding_text
from adapters.openai.attempts import Attempts, QuotaBreaker
from adapters.openai.client import Client
from adapters.openai.endpoint import Endpoint, Persistence, Timeouts
from adapters.openai.faults import Failure, model_error
from graph.errors import ContextOverflow, EmbedderError, ModelError
from graph.ports import Embedder, Matrix, Vector

_PROBE = "probe"


@dataclass(frozen=True, slots=True)
class Batches:
    """How many passages, and characters in all, go into one request, and how long it may take."""

    texts: int = 32
    characters: int = 32_000
    timeout: float = 120.0  # seconds for one; a server without a GPU computes long

    def split(self, texts: Sequence[str]) -> Iterator[list[str]]:
        """Consecutive batches; a text longer than the limit is a batch of its own."""
        batch: list[str] = []
        size = 0
        for text in texts:
            if batch and (len(batch) == self.texts or size + len(text) > self.characters):
                yield batch
                batch, size = [], 0
            batch.append(text)
            size += len(text)
        if batch:
            yield batch


class OpenAIEmbedder(Embedder):
    """Unit vectors from the embeddings API. Questions and passages are treated alike.

    A text without a visible character is never sent; its row is zero, which is near to nothing.
    `timeouts.total` bounds a request for questions, `batches.timeout` one for passages.
    """

    def __init__(
        self,
        endpoint: Endpoint,
        timeouts: Timeouts,
        persistence: Persistence,
        batches: Batches,
        *,
        dimension: int | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._endpoint = endpoint
        self._timeouts = timeouts
        self._persistence = persistence
        self._batches = batches
        self._dimension = dimension
        self._client = Client(endpoint, timeouts)
        self._breaker = QuotaBreaker(persistence.quota_pause, clock)

    @property
    def name(self) -> str:
        return f"openai:{self._endpoint.model}"

    @property
    def dimension(self) -> int:
        """Raises EmbedderError before the first reply: only the server knows; see `probe`."""
        if self._dimension is None:
            raise EmbedderError(f"the dimension of {self.name} is not known before a first call")
        return self._dimension

    async def probe(self) -> int:
        """Asks the server for the dimension once. Raises EmbedderError."""
        if self._dimension is None:
            await self._embed([_PROBE], self._timeouts.total)
        return self.dimension

    async def close(self) -> None:
        """Closes the connections; the embedder cannot be used afterwards."""
        await self._client.close()

    async def embed_questions(self, texts: Sequence[str]) -> Matrix:
        return await self._embed(texts, self._timeouts.total)

    async def embed_passages(self, texts: Sequence[str]) -> Matrix:
        return await self._embed(texts, self._batches.timeout)

    async def _embed(self, texts: Sequence[str], seconds: float) -> Matrix:
        texts = [embedding_text(text) for text in texts]
        places = [place for place, text in enumerate(texts) if text.strip()]
        rows: list[Vector] = []
        for batch in self._batches.split([texts[place] for place in places]):
            rows.extend(await self._request(batch, seconds))
        if self._dimension is None and texts:
            await self.probe()
        matrix = np.zeros((len(texts), self._dimension or 0), dtype=np.float32)
        for place, row in zip(places, rows, strict=True):
            matrix[place] = row
        return matrix

    async def _request(self, texts: list[str], seconds: float) -> list[Vector]:
        try:
            payload = await self._reply(texts, seconds)
        except ContextOverflow as error:
            longest = max(map(len, texts))
            raise EmbedderError(f"a text of {longest} characters is too long: {error}") from error
        except ModelError as error:
            raise EmbedderError(str(error)) from error
        except TimeoutError as error:
            where = self._endpoint.url_shown
            raise EmbedderError(f"no vectors from {where} in {seconds:g} s") from error
        rows = _rows(payload, len(texts))
        for row in rows:
            self._check(row)
        return [row / np.linalg.norm(row) for row in rows]

    async def _reply(self, texts: list[str], seconds: float) -> Mapping[str, Any]:
        if problem := self._endpoint.problem():
            raise EmbedderError(problem)
        self._breaker.check()
        deadline = asyncio.get_running_loop().time() + seconds
        attempts = Attempts(self._persistence, deadline, room=0)
        async with asyncio.timeout_at(deadline):
            while True:
                try:
                    return await self._client.embed(texts, seconds)
                except Failure as failure:
                    error = model_error(failure.fault, self._endpoint)
                    self._breaker.note(error)
                    await attempts.repeat_after(error, failure.fault)

    def _check(self, row: Vector) -> None:
        if row.ndim != 1 or not np.isfinite(row).all() or not np.any(row):
            raise EmbedderError(f"{self.name} gave something that is not one vector for a text")
        if self._dimension is None:
            self._dimension = len(row)
        if len(row) != self._dimension:
            raise EmbedderError(
                f"{self.name} gave {len(row)} numbers for a text, not {self._dimension}:"
                f" is {self._endpoint.model_setting} another model than before?"
            )


def _rows(payload: Mapping[str, Any], count: int) -> list[Vector]:
    """The raw vectors in the order of the texts, which servers may change. Raises EmbedderError."""
    data = payload.get("data")
    rows = [item for item in data if isinstance(item, Mapping)] if isinstance(data, list) else []
    if len(rows) != count:
        raise EmbedderError(f"the server did not give one vector for each of {count} texts")
    by_index = {item.get("index", place): item for place, item in enumerate(rows)}
    if set(by_index) != set(range(count)):
        raise EmbedderError("the server's vectors do not say which text they belong to")
    return [_vector(by_index[place].get("embedding")) for place in range(count)]


def _vector(embedding: Any) -> Vector:
    try:
        if isinstance(embedding, str):
            packed = base64.b64decode(embedding, validate=True)
            return np.frombuffer(packed, dtype="<f4").astype(np.float32)
        return np.asarray(embedding, dtype=np.float32)
    except (ValueError, TypeError, binascii.Error) as error:
        raise EmbedderError("the server gave something that is not a vector") from error
