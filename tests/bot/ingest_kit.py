"""What the tests of ingestion share: an embedder that counts, and a folder of documents."""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import blake2b
from pathlib import Path

import numpy as np

from adapters.documents import create
from adapters.folder import Folder
from bot.ingest.options import SyncOptions
from bot.ingest.report import SyncReport
from bot.ingest.sync import sync
from bot.ports import KnowledgeIndex, Source
from graph.errors import EmbedderError
from graph.model import LEVELS, Passage, Scope
from graph.ports import Embedder, Matrix, Search
from graph.text import tokens

EVERYBODY_S = Scope()
ADMINISTRATOR = Scope(levels=frozenset(LEVELS))


class CountingEmbedder(Embedder):
    """Deterministic vectors. Refuses blank texts, as real servers do (IN-19)."""

    name = "counting"
    dimension = 16

    def __init__(self) -> None:
        self.texts: list[str] = []

    async def embed_passages(self, texts: Sequence[str]) -> Matrix:
        if not all(text.strip() for text in texts):
            raise EmbedderError("a text is blank")
        self.texts += texts
        rows = [
            np.frombuffer(blake2b(t.encode(), digest_size=16).digest(), np.uint8) for t in texts
        ]
        matrix = np.stack(rows).astype(np.float32) - 127.5
        return np.asarray(matrix / np.linalg.norm(matrix, axis=1, keepdims=True), np.float32)

    async def embed_questions(self, texts: Sequence[str]) -> Matrix:
        return await self.embed_passages(texts)


class Library:
    """A folder, an index over it, and what a person finds there."""

    def __init__(self, root: Path, home: Path, index: KnowledgeIndex) -> None:
        self.root = root
        self.index = index
        self.embedder = CountingEmbedder()
        self.lock = home / "sync.lock"
        root.mkdir(parents=True, exist_ok=True)

    def put(self, path: str, text: str | bytes) -> Path:
        place = self.root / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(text.encode() if isinstance(text, str) else text)
        return place

    async def sync(
        self, options: SyncOptions | None = None, source: Source | None = None
    ) -> SyncReport:
        return await sync(
            source or Folder(self.root, "docs"),
            self.index,
            self.embedder,
            lock=self.lock,
            options=options or SyncOptions(converters=create()),
        )

    async def embedded(self) -> int:
        """How many texts one more sync embeds."""
        before = len(self.embedder.texts)
        await self.sync()
        return len(self.embedder.texts) - before

    async def find(self, words: str, scope: Scope = EVERYBODY_S) -> list[Passage]:
        """The passages that hold at least one of the words."""
        search = Search(terms=tuple(tokens(words)), vector=None)
        return [c.passage for c in await self.index.search(search, scope)]

    async def passages(self) -> list[Passage]:
        return [passage async for passage, _, _ in self.index.chunks()]

    async def text(self) -> str:
        return "\n".join(passage.text for passage in await self.passages())
