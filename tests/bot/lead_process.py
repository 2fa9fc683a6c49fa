"""A sync in a process of its own, as one of two machines: their index is one, their folders two.

Where the settings name a Redis, the index is not asked who writes it, as Weaviate cannot be, and a
lead keeps it to one; else the index itself tells its writers apart.
"""

from __future__ import annotations

from pathlib import Path

import typer
from ingest_process import Announcing

from adapters.folder import Folder
from adapters.sqlite import SqliteIndex
from bot.cli.running import run
from bot.ingest.options import SyncOptions
from bot.ingest.sync import sync
from bot.settings import Settings
from bot.sync_lead import TASK, sole_writer
from bot.terminal import Terminal


async def synced(
    settings: Settings, terminal: Terminal, root: str, lease: float, stop: int
) -> None:
    """Stands still for a word on standard input once `stop` texts were embedded."""
    index = await SqliteIndex.open(settings.home.parent / "index.db")
    try:
        async with sole_writer(settings, TASK, index, seconds=lease) as written:
            await sync(
                Folder(Path(root), "docs"),
                written,
                Announcing(stop),
                lock=settings.home / "sync.lock",
                options=SyncOptions(gather=4),
            )
    finally:
        await index.close()
    terminal.plain("done")


def main(root: str, lease: float, stop: int) -> None:
    run(synced, root, lease, stop)


if __name__ == "__main__":
    typer.run(main)
