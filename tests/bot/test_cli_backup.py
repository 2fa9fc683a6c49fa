"""A backup of a data folder in use, and a bot that goes on from it."""

from __future__ import annotations

import asyncio
import io
import sqlite3
import stat
import tarfile
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

import pytest
from cli_kit import CUT_OFF, Belay
from contract.inbox_events import event

from adapters.sqlite.copies import copy
from adapters.sqlite.roll import SqliteRoll
from bot.access import Grant
from bot.errors import StorageError
from bot.kept import KeptDocuments
from bot.roll import ROLL_FILE
from bot.settings import Settings
from bot.stores import INBOX_FILE, stores
from graph.model import SourceType


async def waiting(home: Path) -> int:
    async with stores(Settings(home=home), ["telegram"]) as kept:
        return await kept.inbox.waiting()


@pytest.fixture
async def home(tmp_path: Path) -> Path:
    """Somebody is let in, and a question waits."""
    home = tmp_path / "home"
    await SqliteRoll(home / ROLL_FILE).save(Grant("telegram:42", at=datetime.now(UTC)))
    async with stores(Settings(home=home), ["telegram"]) as kept:
        await kept.inbox.put(event("1"))
    return home


async def test_what_was_backed_up_while_the_bot_ran_is_all_there_again(
    home: Path, tmp_path: Path
) -> None:
    """The newest transactions stand beside the file that `cp` would copy."""
    archive = tmp_path / "b.tar.gz"
    async with stores(Settings(home=home), ["telegram"]) as kept:
        await kept.inbox.put(event("2"))
        made = await asyncio.to_thread(Belay(home), "backup", archive)
    assert made.code == 0, made.err
    assert stat.S_IMODE(archive.stat().st_mode) == 0o600
    other = tmp_path / "other"
    done = await asyncio.to_thread(Belay(other), "restore", archive)
    assert done.code == 0, done.err
    assert "belay sync" in done.err
    assert await waiting(other) == 2
    assert "telegram:42" in (await asyncio.to_thread(Belay(other), "access")).out
    assert sorted(path.name for path in other.glob(".*")) == []


async def test_questions_of_an_old_backup_can_stay_out(home: Path, tmp_path: Path) -> None:
    archive, other = tmp_path / "b.tar.gz", tmp_path / "other"
    await asyncio.to_thread(Belay(home), "backup", archive)
    done = await asyncio.to_thread(Belay(other), "restore", "--without-inbox", archive)
    assert done.code == 0
    assert not (other / INBOX_FILE).exists()
    assert (other / ROLL_FILE).exists()


def test_an_index_that_was_backed_up_answers(indexed: Belay, tmp_path: Path) -> None:
    archive = tmp_path / "b.tar.gz"
    assert indexed("backup", "--index", archive).code == 0
    other = Belay(tmp_path / "other", indexed.settings)
    assert other("restore", archive).code == 0
    assert "06:15" in other("ask", CUT_OFF).out


def test_notes_and_handed_in_files_are_there_again(tmp_path: Path) -> None:
    """No source has them: what is not in the backup is lost."""
    home, archive, other = tmp_path / "home", tmp_path / "b.tar.gz", tmp_path / "other"
    belay, restored = Belay(home), Belay(other)
    (tmp_path / "codes.md").write_text("# Codes\n\nThe code of the generator room is 4711.\n")
    assert belay("add", "codes.md", "--level", "manager").code == 0
    assert belay("note", "The spare pager lies in drawer seven.").code == 0  # a draft
    before = KeptDocuments(home).all()
    made = belay("backup", archive)
    assert (made.code, "uploads" in made.out) == (0, True), made.err
    assert restored("restore", archive).code == 0
    assert KeptDocuments(other).all() == before
    assert restored("sync").code == 0
    assert "4711" in restored("ask", "what is the code of the generator room").out
    restored("restore", archive).failed(6, "uploads", "empty folder")


@pytest.mark.parametrize("damage", ["content", "record"])
def test_a_damaged_upload_in_an_archive_is_named(tmp_path: Path, damage: str) -> None:
    home, archive, other = tmp_path / "home", tmp_path / "b.tar.gz", tmp_path / "other"
    kept = KeptDocuments(home).add(SourceType.MANUAL, "a.md", b"hello", "console:terminal")
    record = (home / "uploads" / "documents" / f"{kept.id}.json").read_bytes()
    files = {
        f"uploads/documents/{kept.id}.json": b"{" if damage == "record" else record,
        f"uploads/contents/{kept.content}": b"hullo" if damage == "content" else b"hello",
        "uploads/../../evil": b"x",
    }
    packed(archive, files)
    named = kept.content if damage == "content" else kept.id
    Belay(other)("restore", archive).failed(6, named, "damaged")
    assert not [path for path in other.glob("**/*") if path.is_file()]


def test_a_damaged_record_is_named(tmp_path: Path) -> None:
    belay = Belay(tmp_path / "home")
    kept = KeptDocuments(belay.home)
    first = kept.add(SourceType.MANUAL, "a.md", b"hello", "console:terminal")
    (belay.home / "uploads" / "documents" / f"{first.id}.json").write_bytes(b"\xff{")
    belay("documents").failed(6, f"{first.id}.json", "Move it away")


def test_nothing_is_overwritten(home: Path, tmp_path: Path) -> None:
    archive, belay = tmp_path / "b.tar.gz", Belay(home)
    assert belay("backup", archive).code == 0
    before = archive.read_bytes()
    belay("backup", archive).failed(6, str(archive), "Name a new file")
    assert archive.read_bytes() == before
    belay("restore", archive).failed(6, ROLL_FILE, "empty folder")


def test_a_folder_without_a_bot_is_no_backup(tmp_path: Path) -> None:
    Belay(tmp_path / "none")("backup", tmp_path / "b.tar.gz").failed(6, "nothing", "BELAY_HOME")
    assert not (tmp_path / "b.tar.gz").exists()


def test_a_folder_that_is_not_there_is_named(home: Path, tmp_path: Path) -> None:
    Belay(home)("backup", tmp_path / "no" / "b.tar.gz").failed(6, "b.tar.gz", "exists")


@pytest.mark.parametrize("damage", ["cut", "noise", "other", "missing"])
def test_a_damaged_archive_restores_nothing(home: Path, tmp_path: Path, damage: str) -> None:
    archive, other = tmp_path / "b.tar.gz", tmp_path / "other"
    assert Belay(home)("backup", archive).code == 0
    whole = archive.read_bytes()
    if damage == "missing":
        archive.unlink()
    elif damage == "other":
        packed(archive, {"../evil.db": b"x", "readme.txt": b"y"})
    else:
        archive.write_bytes(whole[: len(whole) // 2] if damage == "cut" else b"noise" * 99)
    Belay(other)("restore", archive).failed(6, "b.tar.gz")
    assert not [path for path in other.glob("**/*") if path.suffix == ".db"]
    assert not (tmp_path / "evil.db").exists()


def test_a_damaged_database_in_an_archive_is_found(tmp_path: Path) -> None:
    archive, other = tmp_path / "b.tar.gz", tmp_path / "other"
    packed(archive, {ROLL_FILE: b"SQLite format 3\0" + bytes(5000)})
    Belay(other)("restore", archive).failed(6, ROLL_FILE)
    assert not (other / ROLL_FILE).exists()


def packed(archive: Path, files: dict[str, bytes]) -> None:
    with tarfile.open(archive, "w:gz") as made:
        for name, data in files.items():
            item = tarfile.TarInfo(name)
            item.size = len(data)
            made.addfile(item, io.BytesIO(data))


def test_a_copy_has_what_is_not_yet_in_the_main_file(tmp_path: Path) -> None:
    with closing(sqlite3.connect(tmp_path / "a.db")) as db:
        db.execute("PRAGMA journal_mode = WAL")
        db.execute("CREATE TABLE t (x)")
        db.execute("INSERT INTO t VALUES (7)")
        db.commit()
        copy(tmp_path / "a.db", tmp_path / "b.db")
    with closing(sqlite3.connect(tmp_path / "b.db")) as made:
        assert made.execute("SELECT x FROM t").fetchall() == [(7,)]


def test_what_is_no_database_is_named(tmp_path: Path) -> None:
    (tmp_path / "a.db").write_bytes(b"no database" * 100)
    with pytest.raises(StorageError, match=r"a\.db"):
        copy(tmp_path / "a.db", tmp_path / "b.db")
