"""The builtin embedder for frameworks that embed without await."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from threading import Thread

from adapters.use import UseEmbedder
from graph.ports import Embedder, Matrix


class BlockingEmbedder:
    """Waits for an Embedder that runs on a loop in a thread of its own, about 0.1 ms a call."""

    def __init__(self, embedder: Embedder, loop: asyncio.AbstractEventLoop) -> None:
        self._embedder, self._loop = embedder, loop

    def question(self, text: str) -> list[float]:
        rows = asyncio.run_coroutine_threadsafe(self._embedder.embed_questions([text]), self._loop)
        return self._lists(rows.result())[0]

    def passages(self, texts: Sequence[str]) -> list[list[float]]:
        rows = asyncio.run_coroutine_threadsafe(self._embedder.embed_passages(texts), self._loop)
        return self._lists(rows.result())

    @staticmethod
    def _lists(rows: Matrix) -> list[list[float]]:
        lists: list[list[float]] = rows.tolist()
        return lists


@contextmanager
def blocking() -> Iterator[BlockingEmbedder]:
    """The builtin embedder, with its thread stopped at the end."""
    loop = asyncio.new_event_loop()
    thread = Thread(target=loop.run_forever, name="embedder")
    thread.start()
    try:
        yield BlockingEmbedder(UseEmbedder(), loop)
    finally:
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()
