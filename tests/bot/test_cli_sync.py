"""Syncing from the command line: what it reports, what it refuses, and what survives."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from cli_kit import CUT_OFF, EXAMPLES, PATIENCE, Belay, lines_until, terminate

from tests.servers.openai_server import Hang, OpenAIServer, Vectors

LAUGHS = 'a: &a ["ha","ha","ha","ha","ha","ha","ha","ha","ha"]\n' + "".join(
    f"{name}: &{name} [{','.join([f'*{before}'] * 9)}]\n"
    for before, name in zip("abcdefg", "bcdefgh", strict=True)
)
POINTER = f"version https://git-lfs.github.com/spec/v1\noid sha256:{'a' * 64}\nsize 12345\n"


@pytest.fixture
def belay(indexed: Belay, tmp_path: Path) -> Belay:
    """The examples are indexed; a test may change the index."""
    return indexed.copy(tmp_path / "home")


def write(folder: Path, **files: str | bytes) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in files.items():
        data = text.encode() if isinstance(text, str) else text
        (folder / name.replace("__", ".")).write_bytes(data)
    return folder


def a_zoo(folder: Path) -> Path:
    """A file of every kind that Belay must not fail on."""
    write(
        folder,
        good__md="# Zebra\n\nThe zebra service listens on port 4711.\n",
        binary__md=bytes(range(256)) * 50,
        huge__txt=b"word " * 2_200_000,
        line__json='{"a": "' + "x" * 20_000_000 + '"}',
        utf16__md="# Жираф\n\nСервис жираф слушает порт 1616.\n".encode("utf-16"),
        windows__txt="Сервис бегемот слушает порт 1251, и так каждый день.\n".encode("cp1251"),
        large__md=POINTER,
        matter__md="---\ntitle: [broken\nowner: x: y\n---\n# Otter\n\nOtter restarts at noon.\n",
        laughs__yaml=LAUGHS,
        matters__md=f"---\n{LAUGHS}---\n# Hippo\n\nHippo restarts at dusk.\n",
        empty__md="",
        picture__png=b"\x89PNG\r\n\x1a\n\x00",
    )
    (folder / "out.md").symlink_to("/etc/passwd")
    (folder / "gone.md").symlink_to(folder / "nowhere.md")
    return folder


SKIPPED = {
    "binary.md": "binary",
    "huge.txt": "too large",
    "line.json": "too large",
    "large.md": "LFS",
    "empty.md": "no text",
    "picture.png": "format not supported",
    "out.md": "out of the folder",
    "gone.md": "broken link",
}


def test_every_file_is_read_or_listed_with_its_reason(belay: Belay, tmp_path: Path) -> None:
    zoo = a_zoo(tmp_path / "zoo")
    ended = belay("sync", zoo, "--verbose")
    assert ended.code == 0, ended.err
    ended.without_frames()
    assert "zoo: 6 indexed, 0 unchanged, 8 skipped" in ended.out
    for path in SKIPPED:
        assert path in ended.out
    for words in ("matter.md:3: ", "windows.txt: read as windows-1251", "utf16.md: read as utf-16"):
        assert words in ended.out

    listed = {row["name"]: row for row in belay("sources", "--json").json}
    for path, reason in SKIPPED.items():
        assert reason in listed["zoo"]["skipped_files"][path]
    assert "windows-1251" in listed["zoo"]["problems"]["windows.txt"]
    shown = belay("sources").out
    assert "zoo/large.md: skipped, LFS content not fetched" in shown
    assert "zoo/matter.md: line 3" in shown

    answers = belay("chat", typed="which port does zebra use\nкакой порт слушает жираф\n")
    assert "4711" in answers.out
    assert "1616" in answers.out


def test_a_folder_that_cannot_be_read_is_named_and_not_remembered(
    belay: Belay, tmp_path: Path
) -> None:
    empty = write(tmp_path / "empty")
    file = write(tmp_path, page__md="# Page") / "page.md"
    belay("sync", "missing").failed(3, f"{tmp_path}/missing", "does not exist", "Check the path")
    belay("sync", empty).failed(3, str(empty), "holds no files")
    belay("sync", file).failed(3, str(file), "not a folder")
    both = belay("sync", EXAMPLES, "missing")
    assert both.code == 3
    assert "26 unchanged" in both.out
    assert "1 of 2 sources" in both.err
    assert [row["name"] for row in belay("sources", "--json").json] == ["docs"]


def test_a_folder_that_is_gone_keeps_what_was_read(belay: Belay, tmp_path: Path) -> None:
    folder = write(tmp_path / "team", a__md="# Zebra\n\nThe zebra service listens on 4711.\n")
    assert belay("sync", folder).code == 0
    (folder / "a.md").unlink()
    belay("sync", folder).failed(3, str(folder), "holds no files")
    folder.rmdir()
    belay("sync", folder).failed(3, "does not exist")
    assert "team    folder  failed: " in belay("sources").out
    assert "4711" in belay("ask", "which port does zebra use").out


def test_one_folder_by_two_ways_and_two_folders_of_one_name(belay: Belay, tmp_path: Path) -> None:
    first = write(tmp_path / "one" / "docs", a__md="# Ant\n\nAnt listens on 4001.\n")
    write(first / "more", b__md="# Bee\n\nBee listens on 4002.\n")
    (tmp_path / "way").symlink_to(first)
    assert belay("sync", first).out.startswith("docs-2: 2 indexed")  # `docs` are the examples
    again = belay("sync", tmp_path / "way", "one/../one/docs")
    assert again.out.startswith("docs-2: 0 indexed, 2 unchanged")
    assert again.out.count("unchanged") == 1
    inner = belay("sync", first / "more")
    assert "more: 1 indexed" in inner.out
    assert "0 chunks stored" in inner.out, "a text is stored once"


def test_watch_sees_a_change_and_ends_on_sigterm(belay: Belay, tmp_path: Path) -> None:
    folder = write(tmp_path / "team", a__md="# Zebra\n\nThe zebra service listens on 4711.\n")
    process = belay.start("sync", "--watch", folder)
    lines_until(process, "team: 1 indexed")
    write(folder, b__md="# Lion\n\nThe lion service listens on 4712.\n")
    lines_until(process, "team: 1 indexed, 1 unchanged")
    (folder / "a.md").unlink()
    lines_until(process, "1 removed")
    ended = terminate(process)
    assert ended.code == 143
    ended.without_frames()
    assert "4712" in belay("ask", "which port does lion use").out


@pytest.fixture
async def remote() -> AsyncIterator[OpenAIServer]:
    async with OpenAIServer(default=Vectors()) as server:
        yield server


async def run(belay: Belay, *words: str | Path) -> str:
    """Runs to the end; returns everything that was printed."""
    ended = await asyncio.to_thread(belay, *words)
    ended.without_frames()
    return f"{ended.code}\n{ended.out}{ended.err}"


async def test_a_second_sync_waits_its_turn_and_a_dead_one_is_taken_up(
    remote: OpenAIServer, tmp_path: Path
) -> None:
    belay = Belay(tmp_path / "home").with_(EMBEDDER="openai:e", MODEL_URL=remote.url)
    old = write(tmp_path / "old", a__md="# Zebra\n\nThe zebra service listens on 4711.\n")
    new = write(tmp_path / "new", b__md="# Lion\n\nThe lion service listens on 4712.\n")
    assert "1 indexed" in await run(belay, "sync", old)

    process = await hanging(remote, belay, new)
    second = await run(belay, "sync", old)
    assert second.startswith("4\n")
    assert f"process {process.pid}" in second
    assert "new     folder  running" in await run(belay, "sources")
    process.send_signal(signal.SIGTERM)
    await asyncio.to_thread(process.communicate)
    assert process.returncode == 143
    assert "new     folder  interrupted" in await run(belay, "sources")

    process = await hanging(remote, belay, new)
    process.kill()
    await asyncio.to_thread(process.communicate)
    listed = await run(belay, "sources")
    assert "new     folder  interrupted" in listed
    assert "old     folder  complete" in listed
    assert "new (interrupted)" in await run(belay, "doctor")
    resumed = await run(belay, "sync")
    assert "new: 1 indexed" in resumed
    assert "old: 0 indexed, 1 unchanged" in resumed


async def hanging(remote: OpenAIServer, belay: Belay, folder: Path) -> subprocess.Popen[bytes]:
    """A sync that waits for its embeddings."""
    asked = len(remote.requests)
    remote.then(Hang())
    process = belay.start("sync", folder)
    async with asyncio.timeout(PATIENCE):
        while len(remote.requests) == asked:
            await asyncio.sleep(0)  # hands the loop to the server
    return process


async def test_another_embedder_is_refused_until_the_index_is_rebuilt(
    remote: OpenAIServer, belay: Belay
) -> None:
    other = belay.with_(EMBEDDER="openai:e", MODEL_URL=remote.url)
    refused = await run(other, "sync")
    assert refused.startswith("5\n")
    assert "belay sync --rebuild" in refused
    assert "openai:e" in refused
    dead = other.with_(MODEL_URL="http://127.0.0.1:9/v1")
    assert "BELAY_MODEL_URL" in await run(dead, "sync", "--rebuild")
    assert "does not exist" in await run(other, "sync", "--rebuild", "missing")
    assert "06:15" in await run(belay, "ask", CUT_OFF), "nothing was touched"

    assert "26 indexed" in await run(other, "sync", "--rebuild")
    remote.then(Hang(), Hang(), Hang())
    down = await run(other.with_(LIMITS__EMBED_TIMEOUT="0.5"), "ask", CUT_OFF)
    assert "06:15" in down
    assert "keywords only" in down
    assert "belay sync --rebuild" in await run(belay, "ask", CUT_OFF)


def test_a_file_that_nobody_may_read(belay: Belay, tmp_path: Path) -> None:
    if os.geteuid() == 0:
        pytest.skip("root reads everything")
    folder = write(tmp_path / "team", a__md="# Zebra", b__md="# Lion\n\nLion listens on 4712.\n")
    (folder / "a.md").chmod(0)
    assert "unreadable" in belay("sync", folder).out
