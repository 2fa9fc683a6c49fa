"""After an upgrade: the anchors that another version fitted are fitted again by the first start."""

from __future__ import annotations

import logging
import sqlite3
from collections.abc import Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest
from cli_kit import CUT_OFF, Belay
from ingest_kit import CountingEmbedder
from ingest_kit import Library as Documents

from adapters.memory.embedder import HashEmbedder
from adapters.memory.index import MemoryIndex
from bot.app import Library, ensure_profile
from bot.errors import StorageError
from bot.ingest.lock import held
from bot.ingest.refresh import refresh
from bot.settings import Settings
from graph.errors import EmbedderError, StoreError
from graph.ports import Matrix
from graph.profile import Profile


class Full(MemoryIndex):
    """A store on a disk that fills up."""

    full = False
    away = False

    async def profile(self) -> Profile:
        if self.away:
            raise StoreError("the server is away")
        return await super().profile()

    async def save_profile(self, profile: Profile) -> None:
        if self.full:
            raise StorageError("the disk is full")
        await super().save_profile(profile)


class Away(CountingEmbedder):
    async def embed_questions(self, texts: Sequence[str]) -> Matrix:
        raise EmbedderError("nobody is there")


def of_before(profile: Profile) -> Profile:
    return replace(profile, calibration=replace(profile.calibration, coverage=0.0))


@pytest.fixture
async def outdated(tmp_path: Path) -> Library:
    index = Full()
    documents = Documents(tmp_path / "docs", tmp_path, index)
    for number in range(3):
        documents.put(f"{number}.md", f"# Page {number}\n\nService {number} restarts at night.\n")
    await documents.sync()
    await refresh(index, documents.embedder, HashEmbedder())
    await index.save_profile(of_before(await index.profile()))
    settings = Settings(home=tmp_path, web=False)
    return Library(settings, index, documents.embedder, HashEmbedder())


async def is_outdated(library: Library) -> bool:
    return (await library.index.profile()).calibration.outdated


async def test_a_start_fits_them_once(outdated: Library) -> None:
    await ensure_profile(outdated, await outdated.index.info())
    assert not await is_outdated(outdated)
    fitted = (await outdated.index.profile()).calibration.fitted_at
    await ensure_profile(outdated, await outdated.index.info())
    assert (await outdated.index.profile()).calibration.fitted_at == fitted


async def test_where_they_cannot_be_fitted_the_old_ones_answer(
    outdated: Library, caplog: pytest.LogCaptureFixture
) -> None:
    info = await outdated.index.info()
    with caplog.at_level(logging.WARNING):
        await ensure_profile(replace(outdated, embedder=Away()), info)
        assert isinstance(outdated.index, Full)
        outdated.index.full = True
        await ensure_profile(outdated, info)
    assert await is_outdated(outdated)
    assert [record.message for record in caplog.records] == [
        "the scores of another version are used: nobody is there",
        "the scores of another version are used: the disk is full",
    ]


async def test_a_store_that_is_away_keeps_nobody_from_starting(outdated: Library) -> None:
    assert isinstance(outdated.index, Full)
    info = await outdated.index.info()
    outdated.index.away = True
    await ensure_profile(outdated, info)
    outdated.index.away = False
    assert await is_outdated(outdated)


def test_the_first_question_after_an_upgrade(indexed: Belay, tmp_path: Path) -> None:
    belay = indexed.copy(tmp_path / "home")
    with closing(sqlite3.connect(belay.home / "index.db")) as connection, connection:
        (data,) = connection.execute("SELECT data FROM profile").fetchone()
        older = of_before(Profile.from_bytes(data)).to_bytes()
        connection.execute("UPDATE profile SET data = ?, serial = serial + 1", (older,))
    with held(belay.home / "sync.lock"):
        asked = belay("ask", CUT_OFF)
    assert "06:15" in asked.out, asked.err
    with closing(sqlite3.connect(belay.home / "index.db")) as connection:
        (data,) = connection.execute("SELECT data FROM profile").fetchone()
    assert not Profile.from_bytes(data).calibration.outdated
