"""`belay migrate` as it is typed."""

from __future__ import annotations

import asyncio
import signal
from pathlib import Path

import pytest
from cli_kit import Belay
from contract.index_chunks import NEEDS_WEAVIATE, WEAVIATE_GRPC, WEAVIATE_KEY, WEAVIATE_URL

from adapters.weaviate import create
from bot.ingest.lock import held

AWAY = {"WEAVIATE_URL": "http://127.0.0.1:9", "WEAVIATE__START_TIMEOUT": "0.1"}
TO_WEAVIATE = ("migrate", "--from", "sqlite", "--to", "weaviate")
TO_SQLITE = ("migrate", "--from", "weaviate", "--to", "sqlite")
QUESTION = "Which port does service number 7 listen on?"
FILES = 60


@pytest.fixture(scope="module")
def synced(tmp_path_factory: pytest.TempPathFactory) -> Belay:
    """A home with an index in a file."""
    folder = tmp_path_factory.mktemp("synced")
    docs = folder / "docs"
    docs.mkdir()
    for number in range(FILES):
        text = f"# Service {number}\n\nService number {number} listens on port {4700 + number}.\n"
        (docs / f"service-{number}.md").write_text(text)
    (docs / "copy.md").write_text((docs / "service-7.md").read_text())
    belay = Belay(folder / "home")
    assert "61 indexed" in belay("sync", docs).out
    return belay


@pytest.fixture
def belay(synced: Belay, tmp_path: Path) -> Belay:
    return synced.copy(tmp_path / "home")


def test_an_engine_that_is_not_known(belay: Belay) -> None:
    belay("migrate", "--from", "mysql", "--to", "weaviate").failed(2, "mysql", "sqlite", "weaviate")


def test_one_engine_twice(belay: Belay) -> None:
    belay("migrate", "--from", "sqlite", "--to", "sqlite").failed(2, "both sqlite")


@pytest.mark.parametrize("words", [TO_WEAVIATE, TO_SQLITE])
def test_no_server_is_named(belay: Belay, words: tuple[str, ...]) -> None:
    belay(*words).failed(2, "BELAY_WEAVIATE_URL")


@pytest.mark.parametrize("words", [TO_WEAVIATE, TO_SQLITE])
def test_a_server_that_is_away(belay: Belay, words: tuple[str, ...]) -> None:
    belay.with_(**AWAY)(*words).failed(6, "does not answer: http://127.0.0.1:9", "BELAY_WEAVIATE")


def test_a_home_without_an_index(tmp_path: Path) -> None:
    """And none is made for it."""
    home = tmp_path / "home"
    Belay(home).with_(**AWAY)(*TO_WEAVIATE).failed(3, "nothing to copy", str(home))
    assert not home.exists()


@pytest.mark.parametrize("lock", ["sync.lock", "sessions.lock"])
def test_not_beside_a_sync(belay: Belay, lock: str) -> None:
    with held(belay.home / lock):
        belay.with_(**AWAY)(*TO_WEAVIATE).failed(4, "Another process is syncing")


@NEEDS_WEAVIATE
def test_there_and_back_without_embedding(belay: Belay, weaviate: dict[str, str]) -> None:
    far = belay.with_(**weaviate)
    there = far(*TO_WEAVIATE)
    assert there.code == 0, there.err
    assert "61 files" in there.out
    assert "61 copied" in there.out
    assert "sampled searches find the same in both" in there.out
    assert " 0 embedded" in far("sync").out
    assert "4707" in far("ask", QUESTION).out
    (belay.home / "index.db").unlink()
    back = far(*TO_SQLITE)
    assert back.code == 0, back.err
    assert " 0 embedded" in belay("sync").out
    assert "4707" in belay("ask", QUESTION).out
    assert ", 61 were there" in far(*TO_WEAVIATE).out


@NEEDS_WEAVIATE
def test_a_killed_migration_goes_on(belay: Belay, weaviate: dict[str, str]) -> None:
    """SIGKILL as soon as the server has a file of it; the sources say so until it is whole."""
    far = belay.with_(**weaviate)
    process = far.start(*TO_WEAVIATE)
    while not _arrived(weaviate):
        assert process.poll() is None
    process.send_signal(signal.SIGKILL)
    process.communicate()
    assert "run the same command again" in far("sources").out
    again = far(*TO_WEAVIATE)
    assert again.code == 0, again.err
    assert "61 files with 60 chunks" in again.out
    assert "were there" in again.out
    assert " 0 embedded" in far("sync").out


def _arrived(weaviate: dict[str, str]) -> bool:
    async def look() -> bool:
        index = await create(
            WEAVIATE_URL,
            grpc=WEAVIATE_GRPC,
            key=WEAVIATE_KEY,
            prefix=weaviate["WEAVIATE__PREFIX"],
        )
        try:
            return bool(await index.records("docs"))
        finally:
            await index.close()

    return asyncio.run(look())


@NEEDS_WEAVIATE
def test_what_others_synced_there_is_kept(
    belay: Belay, weaviate: dict[str, str], tmp_path: Path
) -> None:
    (tmp_path / "wiki").mkdir()
    (tmp_path / "wiki" / "page.md").write_text("# Zebra\n\nThe zebra service is gone.\n")
    far = belay.with_(**weaviate)
    assert "1 indexed" in far("sync", tmp_path / "wiki").out
    far(*TO_WEAVIATE).failed(5, "wiki/page.md", "--overwrite")
    assert "wiki" in far("sources").out
    assert "61 copied" in far(*TO_WEAVIATE, "--overwrite").out
    assert "wiki" not in far("sources").out
