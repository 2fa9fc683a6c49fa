"""What indexing costs beyond embedding, and what a sync costs when nothing changed."""

from __future__ import annotations

import gc
import hashlib
import time
from pathlib import Path

from benchmarks.table import Figure, median, ratio, timed
from bot.app import opened
from bot.cli import OBJECTS
from bot.ingest.embed import passage_text
from bot.library import Shelf, sync_shelf
from bot.progress import Silent
from bot.settings import Settings

RUNS = 5


async def costs(docs: Path, home: Path) -> list[Figure]:
    gc.set_threshold(OBJECTS)  # as in every process of Belay
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
        second, hashing = [], []
        for _ in range(RUNS):  # in turns, so that a busy moment falls on both
            second.append(await timed(sync))
            hashing.append(_hash(docs))
    return [
        ratio(f"first sync ÷ bare embedding of its {len(texts)} chunks", first, embedding, "ms"),
        ratio("second sync of an unchanged folder ÷ hashing its files",
              median(second), median(hashing), "ms"),
    ]  # fmt: skip


def _hash(docs: Path) -> float:
    started = time.perf_counter()
    for path in sorted(docs.rglob("*")):
        if path.is_file():
            hashlib.blake2b(path.read_bytes()).digest()
    return (time.perf_counter() - started) * 1000
