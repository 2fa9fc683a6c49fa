"""What indexing costs beyond embedding, and what a sync costs when nothing changed."""

from __future__ import annotations

import hashlib
import time
from pathlib import Path

from benchmarks.table import Figure, ratio, timed
from bot.app import opened
from bot.ingest.embed import passage_text
from bot.library import Shelf, sync_shelf
from bot.progress import Silent
from bot.settings import Settings


async def costs(docs: Path, home: Path) -> list[Figure]:
    settings = Settings(home=home, web=False)
    shelf = Shelf("bench", docs)
    async with opened(settings, check=False) as app:
        await app.embedder.embed_questions(["warm"])

        async def sync() -> None:
            await sync_shelf(app, shelf, home=home, progress=Silent())

        first = await timed(sync)
        texts = [
            passage_text(passage.title, passage.heading, passage.text)
            async for passage, _, _ in app.index.chunks()
        ]
        embedding = await timed(lambda: app.embedder.embed_passages(texts))
        second = min([await timed(sync) for _ in range(3)])
    hashing = min(_hash(docs) for _ in range(3))
    return [
        ratio(f"first sync ÷ bare embedding of its {len(texts)} chunks", first, embedding, "ms"),
        ratio("second sync of an unchanged folder ÷ hashing its files", second, hashing, "ms"),
    ]


def _hash(docs: Path) -> float:
    started = time.perf_counter()
    for path in sorted(docs.rglob("*")):
        if path.is_file():
            hashlib.blake2b(path.read_bytes()).digest()
    return (time.perf_counter() - started) * 1000
