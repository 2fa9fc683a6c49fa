"""When the disk, the file or another process is in the way: a clear message, and nothing lost."""

from __future__ import annotations

import asyncio
import multiprocessing
import os
import resource
import shutil
import sqlite3
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from contract.index_chunks import EMBEDDER, by_meaning, by_words, put

from adapters.sqlite import SqliteIndex
from bot.errors import StorageError
from graph.errors import StoreError
from graph.model import Scope
from graph.ports import Search

KIB = 1024


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "index.db"


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of 3 MiB."""
    folder = tmp_path / "small"
    folder.mkdir()
    mount = shutil.which("mount")
    if mount is None or os.geteuid() != 0:
        pytest.skip("only root can mount a small disk; the limit on file size is tested instead")
    command = [mount, "-t", "tmpfs", "-o", "size=3m", "tmpfs", str(folder)]
    if subprocess.run(command, check=False, capture_output=True).returncode:
        pytest.skip("mounting is not allowed here; the limit on file size is tested instead")
    yield folder
    subprocess.run(["umount", "--lazy", str(folder)], check=True)


async def open_index(path: Path) -> SqliteIndex:
    index = await SqliteIndex.open(path)
    await index.begin(*EMBEDDER)
    return index


async def fill(index: SqliteIndex, files: int) -> None:
    for number in range(files):
        await put(index, f"{number}.md", *(f"Text {number} {n} " * 400 for n in range(8)))


def fill_up(ballast: Path) -> None:
    with ballast.open("wb", buffering=0) as file:
        while True:
            file.write(bytes(KIB))


async def check_full(path: Path) -> None:
    """Fills the disk, and checks that all files but the one that failed are whole."""
    index = await open_index(path)
    await put(index, "first.md", "Drain the node.")
    with pytest.raises(StorageError) as failure:
        await fill(index, 1000)
    assert str(path) in str(failure.value)
    assert "space" in failure.value.remedy

    records = await index.records("runbooks")
    assert await by_words(index, "drain") == {"Drain the node."}
    assert await by_meaning(index, "x") >= {"Drain the node."}
    hits = [passage async for passage, _, _ in index.chunks()]
    assert {passage.document for passage in hits} == set(records)
    assert len(hits) == 1 + 8 * (len(records) - 1)
    await index.close()


async def check_recovered(path: Path) -> None:
    index = await open_index(path)
    assert await by_words(index, "drain") == {"Drain the node."}
    await put(index, "last.md", "Call the vendor.")
    assert await by_words(index, "vendor") == {"Call the vendor."}
    await index.close()


async def test_a_full_disk(small_disk: Path) -> None:
    ballast = small_disk / "ballast"
    ballast.write_bytes(bytes(KIB * KIB))
    await check_full(small_disk / "index.db")
    ballast.unlink()
    await check_recovered(small_disk / "index.db")


async def test_a_disk_without_a_single_free_byte(small_disk: Path) -> None:
    index = await open_index(small_disk / "index.db")
    await put(index, "first.md", "Drain the node.")
    ballast = small_disk / "ballast"
    with pytest.raises(OSError, match="space"):
        fill_up(ballast)
    with pytest.raises(StorageError, match=r"index\.db"):
        await fill(index, 100)
    assert await by_words(index, "drain") == {"Drain the node."}
    assert await by_meaning(index, "x") >= {"Drain the node."}
    await index.close()
    ballast.unlink()
    await check_recovered(small_disk / "index.db")


def fill_with_limit(path: Path) -> None:
    resource.setrlimit(resource.RLIMIT_FSIZE, (2 * KIB * KIB, 2 * KIB * KIB))
    asyncio.run(check_full(path))


async def test_a_limit_on_the_size_of_files(path: Path) -> None:
    process = multiprocessing.get_context("spawn").Process(target=fill_with_limit, args=(path,))
    process.start()
    await asyncio.to_thread(process.join)
    assert process.exitcode == 0
    await check_recovered(path)


async def test_a_file_that_is_no_index(path: Path) -> None:
    path.write_bytes(b"Dear diary, " * 1000)
    with pytest.raises(StorageError, match="not an index") as failure:
        await SqliteIndex.open(path)
    assert str(path) in str(failure.value)
    assert "belay sync" in failure.value.remedy
    assert path.read_bytes().startswith(b"Dear diary")


async def open_and_search(path: Path) -> None:
    index = await SqliteIndex.open(path)
    try:
        await index.search(Search(("text",), None), Scope())
    finally:
        await index.close()


async def test_a_damaged_index(path: Path) -> None:
    index = await open_index(path)
    await fill(index, 20)
    await index.close()
    size = path.stat().st_size
    with path.open("r+b") as file:
        file.seek(8 * KIB)
        file.write(b"\xa5" * (size - 8 * KIB))
    with pytest.raises((StoreError, StorageError)) as failure:
        await open_and_search(path)
    told = f"{failure.value} {getattr(failure.value, 'remedy', '')}"
    assert str(path) in told
    assert "belay sync" in told


async def test_an_index_of_a_newer_version(path: Path) -> None:
    await (await open_index(path)).close()
    with sqlite3.connect(path) as connection:
        connection.execute("PRAGMA user_version = 999")
    connection.close()
    with pytest.raises(StorageError, match="newer version") as failure:
        await SqliteIndex.open(path)
    assert str(path) in str(failure.value)
    assert "Update Belay" in failure.value.remedy


async def test_a_folder_that_cannot_be_made(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(StorageError, match="folder") as failure:
        await SqliteIndex.open(tmp_path / "file" / "index.db")
    assert "BELAY_HOME" in failure.value.remedy


async def test_a_folder_in_the_place_of_the_file(path: Path) -> None:
    path.mkdir()
    with pytest.raises(StorageError, match="cannot be opened"):
        await SqliteIndex.open(path)


async def test_a_writer_that_holds_on_too_long(path: Path) -> None:
    """Questions are answered meanwhile; the second writer says what it waited for."""
    index = await SqliteIndex.open(path, busy_timeout=0.01)
    await index.begin(*EMBEDDER)
    await put(index, "a.md", "Drain the node.")
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    other.execute("DELETE FROM chunks")
    with pytest.raises(StorageError, match="Another process is writing"):
        await put(index, "b.md", "Call the vendor.")
    assert await by_words(index, "drain") == await by_meaning(index, "x") == {"Drain the node."}
    other.execute("ROLLBACK")
    other.close()
    assert await put(index, "b.md", "Call the vendor.") == 1
    await index.close()


async def test_a_closed_index_says_so_instead_of_hanging(path: Path) -> None:
    index = await open_index(path)
    await index.close()
    await index.close()
    with pytest.raises(StorageError):
        await put(index, "a.md", "Drain the node.")
    with pytest.raises(StoreError):
        await index.search(Search(("drain",), None), Scope())
