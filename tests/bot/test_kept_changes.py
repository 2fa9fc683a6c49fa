"""Changes of what was handed in whose sync fails on its way: the index follows the data folder."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path

import pytest
from ingest_kit import CountingEmbedder

from adapters.memory.embedder import HashEmbedder
from adapters.memory.index import MemoryIndex
from bot.app import Library
from bot.errors import StorageError
from bot.kept import Kept, KeptDocuments
from bot.kept_changes import KeptChanges
from bot.ports import SyncState
from bot.settings import Settings
from graph.errors import EmbedderError
from graph.model import SourceType
from graph.ports import Matrix

UPLOAD, MANUAL = SourceType.UPLOAD, SourceType.MANUAL
VAULT = ("vault.md", b"# Vault\n\nRotate the vault token with `vaultctl rotate`.\n")
LEDGER = ("ledger.md", b"# Ledger\n\nThe ledger closes at 17:40 in Tallinn.\n")


class Away(CountingEmbedder):
    """Fails, once, with a text that holds `word`."""

    word = ""

    async def embed_passages(self, texts: Sequence[str]) -> Matrix:
        if self.word and any(self.word in text for text in texts):
            self.word = ""
            raise EmbedderError("away")
        return await super().embed_passages(texts)


class Unfitted(MemoryIndex):
    """Has no room for a profile while `full`, or waits with it: all else is stored by then."""

    full = False

    def __init__(self) -> None:
        super().__init__()
        self.asked, self.go = asyncio.Event(), asyncio.Event()
        self.go.set()

    async def save_profile(self, profile: object) -> None:
        if self.full:
            raise StorageError("the disk is full")
        self.asked.set()
        await self.go.wait()


class Team:
    def __init__(self, home: Path) -> None:
        self.store, self.index, self.embedder = KeptDocuments(home), Unfitted(), Away()
        settings = Settings.model_validate({"home": home})
        library = Library(settings, self.index, self.embedder, HashEmbedder())
        self.home, self.changes = home, KeptChanges(library, self.store)

    async def adds(self, *files: tuple[str, bytes]) -> list[Kept]:
        return await self.changes.add(UPLOAD, files, "ann")

    async def text(self) -> str:
        """All that is in the index."""
        return "\n".join([passage.text async for passage, _, _ in self.index.chunks()])

    @property
    def kept(self) -> list[str]:
        return [item.name for item in self.store.all() if not item.draft]

    @property
    def contents(self) -> int:
        return len([*self.home.glob("uploads/contents/*")])


@pytest.fixture
def team(tmp_path: Path) -> Team:
    return Team(tmp_path)


async def test_of_several_files_all_are_findable_or_none_is_kept(team: Team) -> None:
    """Both were stored when there was no room left for the profile."""
    await team.adds(("first.md", b"# First\n\nAlways there.\n"))
    team.index.full = True
    with pytest.raises(StorageError):
        await team.adds(VAULT, LEDGER)
    assert team.kept == ["first.md"]
    assert team.contents == 1
    assert "Always there" in await team.text()
    assert "vaultctl" not in await team.text()
    team.index.full = False
    await team.adds(VAULT, LEDGER)
    assert "17:40" in await team.text()


async def test_what_is_cut_off_after_it_was_stored_is_taken_out_again(team: Team) -> None:
    """As with Ctrl-C while "calibrating" is shown."""
    team.index.go.clear()
    adding = asyncio.ensure_future(team.adds(VAULT))
    await team.index.asked.wait()
    assert "vaultctl" in await team.text()
    adding.cancel()
    team.index.go.set()
    with pytest.raises(asyncio.CancelledError):
        await adding
    assert await team.text() == ""
    assert not [*team.home.glob("uploads/*/*")]


async def test_a_source_is_not_called_failed_for_what_is_not_kept(team: Team) -> None:
    await team.adds(LEDGER)
    team.embedder.word = "vaultctl"
    with pytest.raises(EmbedderError):
        await team.adds(VAULT)
    assert team.kept == ["ledger.md"]
    assert "17:40" in await team.text()
    [record] = await team.index.sources()
    assert (record.state, record.files) == (SyncState.COMPLETE, 1)


async def test_the_first_documents_of_all_leave_no_source_behind(team: Team) -> None:
    team.embedder.word = "vaultctl"
    with pytest.raises(EmbedderError):
        await team.adds(VAULT)
    assert await team.index.sources() == []
    assert not [*team.home.glob("uploads/*/*")]


async def test_a_draft_whose_sync_fails_late_is_a_draft_in_the_index_too(team: Team) -> None:
    draft = team.store.add(MANUAL, *VAULT, "ann", draft=True)
    team.index.full = True
    with pytest.raises(StorageError):
        await team.changes.publish([draft])
    assert not await team.changes.findable(draft)
    assert await team.text() == ""
    assert team.store.all() == [draft]


async def test_a_document_that_could_not_be_replaced_answers_as_before(team: Team) -> None:
    [kept] = await team.adds(VAULT)
    team.index.full = True
    with pytest.raises(StorageError):
        await team.changes.replace(kept, *LEDGER)
    assert "vaultctl" in await team.text()
    assert "17:40" not in await team.text()
    assert team.store.all() == [kept]
    assert team.contents == 1


async def test_a_record_that_cannot_be_written_leaves_no_content(team: Team) -> None:
    (team.home / "uploads").mkdir()
    (team.home / "uploads" / "documents").write_text("a file where a folder should be")
    with pytest.raises(StorageError, match="cannot be read or written"):
        await team.adds(VAULT)
    assert await team.index.sources() == []


async def test_added_again_it_is_brought_into_the_index_that_lacks_it(team: Team) -> None:
    """As after a process that was killed between the two."""
    team.store.add(UPLOAD, *VAULT, "ann")
    assert await team.adds() == []
    assert "vaultctl" in await team.text()
