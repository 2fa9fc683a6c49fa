"""What the tests of retrieval share: one loaded embedder, and folders that become indexes."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache
from hashlib import blake2b
from pathlib import Path

import numpy as np

from adapters.documents import create
from adapters.folder import Folder
from adapters.sqlite import SqliteIndex
from adapters.use import UseEmbedder
from bot.ingest.options import SyncOptions
from bot.ingest.refresh import refresh
from bot.ingest.sync import sync
from bot.ports import KnowledgeIndex
from graph.errors import EmbedderError
from graph.lexicon import Lexicon
from graph.model import Scope
from graph.policy import Limits, Policy
from graph.ports import Embedder, Matrix, Ports
from graph.retrieval import Found, find
from graph.state import Context
from graph.text import question_language

FITTED_AT = datetime(2026, 3, 1, tzinfo=UTC)


@cache
def builtin() -> UseEmbedder:
    """The builtin embedder, loaded once for all tests of a run."""
    return UseEmbedder(threads=1)


class RandomEmbedder(Embedder):
    """Unit vectors that depend on the text and mean nothing; keeps what it was given."""

    def __init__(self, name: str = "random", dimension: int = 64) -> None:
        self._name, self._dimension = name, dimension
        self.texts: list[str] = []

    @property
    def name(self) -> str:
        return self._name

    @property
    def dimension(self) -> int:
        return self._dimension

    async def embed_questions(self, texts: Sequence[str]) -> Matrix:
        self.texts += texts
        rows = np.zeros((len(texts), self._dimension), np.float32)
        for row, text in zip(rows, texts, strict=True):
            seed = int.from_bytes(blake2b(text.encode(), digest_size=8).digest(), "little")
            row[:] = np.random.default_rng(seed).standard_normal(self._dimension)
        lengths = np.linalg.norm(rows, axis=1, keepdims=True)
        return np.asarray(rows / np.maximum(lengths, 1e-9), dtype=np.float32)

    async def embed_passages(self, texts: Sequence[str]) -> Matrix:
        return await self.embed_questions(texts)


class BrokenEmbedder(RandomEmbedder):
    """An embedder whose server is down."""

    async def embed_questions(self, texts: Sequence[str]) -> Matrix:
        raise EmbedderError("the server does not answer")


@dataclass(frozen=True)
class Shelf:
    """An index over a folder of documents, and what a question finds in it."""

    index: KnowledgeIndex
    embedder: Embedder
    words: Embedder

    async def find(
        self,
        question: str,
        *,
        scope: Scope | None = None,
        policy: Policy | None = None,
        embedder: Embedder | None = None,
    ) -> Found:
        """Every candidate, scored. `embedder` takes the place of the index's own."""
        context = Context(
            ports=Ports(self.index, embedder or self.embedder, self.words),
            lexicon=Lexicon(self.words),
            policy=policy or Policy(),
            limits=Limits(),
            deadline=asyncio.get_running_loop().time() + 60,
        )
        language = question_language(question)
        return await find(question, language, scope or Scope(), context)

    async def documents(self, question: str) -> list[str]:
        """Paths of the documents, best first, each once."""
        return documents(await self.find(question))

    async def chunks(self) -> int:
        return (await self.index.info()).chunks


class Counted(Embedder):
    """Another embedder that keeps what it was given."""

    def __init__(self, inner: Embedder, name: str = "") -> None:
        self._inner, self._name = inner, name or inner.name
        self.texts: list[str] = []

    @property
    def name(self) -> str:
        return self._name

    @property
    def dimension(self) -> int:
        return self._inner.dimension

    async def embed_questions(self, texts: Sequence[str]) -> Matrix:
        self.texts += texts
        return await self._inner.embed_questions(texts)

    async def embed_passages(self, texts: Sequence[str]) -> Matrix:
        self.texts += texts
        return await self._inner.embed_passages(texts)


def documents(found: Found) -> list[str]:
    return list(dict.fromkeys(item.passage.document for item in found.ranked))


def by_vector_alone(found: Found) -> list[str]:
    """The documents as raw cosines order them."""
    ranked = sorted(found.ranked, key=lambda item: -(item.scores.cosine or 0.0))
    return list(dict.fromkeys(item.passage.document for item in ranked))


def write(folder: Path, files: Mapping[str, str]) -> Path:
    """`folder`, with `files` (path -> Markdown) in it."""
    for path, text in files.items():
        place = folder / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text, encoding="utf-8")
    return folder


async def indexed(
    home: Path,
    files: Mapping[str, str],
    *,
    embedder: Embedder | None = None,
    words: Embedder | None = None,
) -> Shelf:
    """An index of `files` (path -> Markdown), which are written under `home`."""
    folder = write(home / "docs", files)
    return await shelved(home, folder, embedder=embedder, words=words)


async def shelved(
    home: Path, folder: Path, *, embedder: Embedder | None = None, words: Embedder | None = None
) -> Shelf:
    """An index of `folder`, kept under `home`. The caller closes `index`."""
    shelf = Shelf(
        await SqliteIndex.open(home / "index.db"), embedder or builtin(), words or builtin()
    )
    await resync(shelf, home, folder)
    return shelf


async def resync(shelf: Shelf, home: Path, folder: Path) -> bool:
    """Reads `folder` again; True when the profile changed with it."""
    options = SyncOptions(converters=create(), allow_loss=True)
    await sync(
        Folder(folder, "docs"),
        shelf.index,
        shelf.embedder,
        lock=home / "sync.lock",
        options=options,
    )
    return await refresh(shelf.index, shelf.embedder, shelf.words)
