"""Syncs in processes of their own: two at once, and one that is killed (IN-27)."""

import os
import re
import subprocess
import sys
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path

import pytest
from ingest_kit import Library

from adapters.sqlite import SqliteIndex
from bot.errors import StorageError, SyncBusy
from bot.ingest.lock import as_seen, held, is_held
from bot.ingest.options import SyncOptions
from bot.ports import SyncState

HERE = Path(__file__).parent
FILES = 20
Started = Callable[[int], "subprocess.Popen[str]"]


@pytest.fixture
async def library(tmp_path: Path) -> AsyncIterator[Library]:
    (tmp_path / "home").mkdir()
    index = await SqliteIndex.open(tmp_path / "home" / "index.db")
    library = Library(tmp_path / "docs", tmp_path / "home", index)
    for number in range(FILES):
        library.put(f"f{number:03}.md", f"# Runbook {number}\n\nRestart unit{number} at once.\n")
    yield library
    await index.close()


@pytest.fixture
def start(library: Library) -> Iterator[Started]:
    """Starts a sync that waits after so many texts; it is gone when the test is."""
    running: list[subprocess.Popen[str]] = []

    def start(stop: int) -> "subprocess.Popen[str]":
        process = subprocess.Popen(
            [
                sys.executable,
                HERE / "ingest_process.py",
                library.root,
                library.lock.parent,
                str(stop),
            ],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, "PYTHONPATH": f"{HERE.parents[1]}{os.pathsep}{HERE}"},
        )
        running.append(process)
        assert process.stdout is not None
        if stop:
            assert process.stdout.readline() == "waiting\n"
        return process

    yield start
    for process in running:
        process.kill()
        process.communicate()


async def test_the_second_of_two_syncs_names_the_first(library: Library, start: Started) -> None:
    first = start(8)
    with pytest.raises(SyncBusy) as error:
        await library.sync()
    assert re.search(rf"process {first.pid}, since \d{{4}}-", str(error.value))
    assert error.value.remedy
    (record,) = await library.index.sources()
    assert as_seen(record, library.lock).state is SyncState.RUNNING
    first.communicate("go on\n")
    assert first.returncode == 0
    assert len(await library.passages()) == FILES
    assert await library.embedded() == 0


async def test_a_killed_sync_is_seen_as_interrupted_and_resumed(
    library: Library, start: Started
) -> None:
    """IN-27: what was stored is usable, the lock is taken over, nothing is stored twice."""
    process = start(8)
    process.kill()
    process.communicate()
    (record,) = await library.index.sources()
    assert record.state is SyncState.RUNNING
    assert as_seen(record, library.lock).state is SyncState.INTERRUPTED
    stored = len(await library.passages())
    assert 0 < stored < FILES
    report = await library.sync(SyncOptions(gather=4))
    assert report.embedded == FILES - stored
    assert (await library.find("unit19"))[0].document == "f019.md"
    assert set(Counter(p.id for p in await library.passages()).values()) == {1}
    (record,) = await library.index.sources()
    assert as_seen(record, library.lock).state is SyncState.COMPLETE


async def test_a_killed_sync_leaves_the_old_version_in_place(
    library: Library, start: Started
) -> None:
    """IN-27"""
    await library.sync(SyncOptions(gather=4))
    for number in range(FILES):
        library.put(f"f{number:03}.md", f"# Runbook {number}\n\nDrain unit{number} first.\n")
    process = start(8)
    process.kill()
    process.communicate()
    texts = {p.document: p.text for p in await library.passages()}
    assert len(texts) == FILES
    assert "Drain" in texts["f000.md"]
    assert "Restart" in texts["f019.md"]


async def test_two_syncs_in_one_process(library: Library) -> None:
    with held(library.lock):
        assert is_held(library.lock)
        with pytest.raises(SyncBusy):
            await library.sync()
    assert not is_held(library.lock)
    await library.sync()


def test_a_data_folder_that_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(StorageError) as error, held(tmp_path / "file" / "sync.lock"):
        pass
    assert error.value.remedy
