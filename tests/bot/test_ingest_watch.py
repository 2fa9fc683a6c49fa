"""Watching a folder: a change is synced, and a folder that is not there is an error."""

import asyncio
from contextlib import suppress
from pathlib import Path

import pytest
from ingest_kit import Library

from adapters.memory.index import MemoryIndex
from bot.errors import SourceError
from bot.ingest.watch import watch


async def test_a_new_file_is_found_without_a_command(tmp_path: Path) -> None:
    library = Library(tmp_path / "docs", tmp_path / "home", MemoryIndex())
    library.put("a.md", "# First\n\nold words\n")
    await library.sync()
    stop = asyncio.Event()

    async def resync() -> None:
        await library.sync()
        if await library.find("fresh"):
            stop.set()

    async with asyncio.timeout(30), asyncio.TaskGroup() as group:
        group.create_task(watch(library.root, resync, stop=stop, debounce=50))
        number = 0
        while not stop.is_set():  # the watch may not have begun when the first file is written
            number += 1
            library.put(f"b{number}.md", f"# Second {number}\n\nfresh words\n")
            with suppress(TimeoutError):
                await asyncio.wait_for(stop.wait(), 0.5)
    assert await library.find("fresh")


async def test_a_missing_folder(tmp_path: Path) -> None:
    async def resync() -> None:
        raise AssertionError

    with pytest.raises(SourceError):
        await watch(tmp_path / "missing", resync)
