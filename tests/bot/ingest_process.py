"""A sync in a process of its own, for the tests that kill it or run two at once."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Sequence
from pathlib import Path

from ingest_kit import CountingEmbedder

from adapters.folder import Folder
from adapters.sqlite import SqliteIndex
from bot.ingest.options import SyncOptions
from bot.ingest.sync import sync
from graph.ports import Matrix


class Announcing(CountingEmbedder):
    """Once it has embedded `stop` texts it says so on standard output and waits for a line."""

    def __init__(self, stop: int) -> None:
        super().__init__()
        self._stop = stop

    async def embed_passages(self, texts: Sequence[str]) -> Matrix:
        if self._stop and len(self.texts) >= self._stop:
            sys.stdout.write("waiting\n")
            sys.stdout.flush()
            self._stop = 0
            await asyncio.to_thread(sys.stdin.readline)
        return await super().embed_passages(texts)


async def main(root: str, home: str, stop: int) -> None:
    index = await SqliteIndex.open(Path(home) / "index.db")
    await sync(
        Folder(Path(root), "docs"),
        index,
        Announcing(stop),
        lock=Path(home) / "sync.lock",
        options=SyncOptions(gather=4),
    )
    await index.close()


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], sys.argv[2], int(sys.argv[3])))
