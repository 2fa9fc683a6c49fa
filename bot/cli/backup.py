"""`belay backup` and `belay restore`: one archive of what cannot be made again."""

from __future__ import annotations

import asyncio
import re
import shutil
import tarfile
import tempfile
from collections.abc import Sequence
from pathlib import Path

from bot.auditor import AUDIT_FILE
from bot.engines import FILES as INDEXES
from bot.engines import Content
from bot.errors import StorageError
from bot.feedback import FEEDBACK_FILE
from bot.kept import FOLDER as UPLOADS
from bot.kept import KeptDocuments
from bot.registry import factory
from bot.roll import ROLL_FILE
from bot.session_runs import TURNS_FILE
from bot.settings import Settings
from bot.stores import INBOX_FILE, THREADS_FILE
from bot.terminal import Terminal

FILES = (ROLL_FILE, AUDIT_FILE, TURNS_FILE, FEEDBACK_FILE, THREADS_FILE, INBOX_FILE)
INDEX_FILE = INDEXES[Content.DOCUMENTS]
_DATABASES = frozenset((*FILES, INDEX_FILE))
_UPLOADED = re.compile(rf"{UPLOADS}/(documents/[0-9a-f]+\.json|contents/[0-9a-f]{{64}})", re.ASCII)


async def backup(settings: Settings, terminal: Terminal, file: Path, index: bool) -> None:
    """Raises StorageError; then there is no archive."""
    names = await asyncio.to_thread(_packed, settings.home, file, index)
    terminal.plain(f"{file}: {', '.join(names)}")
    if settings.redis_url or settings.weaviate_url:
        terminal.note("not in it: what Redis and Weaviate hold; docs/operations.md says how")


async def restore(settings: Settings, terminal: Terminal, file: Path, inbox: bool) -> None:
    """Raises StorageError; then nothing was put into the data folder."""
    names = await asyncio.to_thread(_unpacked, file, settings.home, inbox)
    terminal.plain(f"{settings.home}: {', '.join(names)}")
    if INDEX_FILE not in names:
        terminal.note("run `belay sync` to index the documents again")


def _packed(home: Path, file: Path, index: bool) -> list[str]:
    if file.exists():
        raise StorageError(f"{file} exists already.", "Name a new file; nothing was changed.")
    wanted = (*FILES, INDEX_FILE) if index else FILES
    names = [name for name in wanted if (home / name).is_file()]
    handed_in = KeptDocuments(home)
    if not names and not handed_in.all():
        raise StorageError(f"There is nothing to back up in {home}.", "Is BELAY_HOME right?")
    copy = factory("copy.sqlite")
    try:
        with tempfile.TemporaryDirectory(dir=file.parent, prefix=".belay-") as folder:
            made = Path(folder, "made")
            made.touch(mode=0o600)  # it holds what people said
            with tarfile.open(made, "w:gz") as archive:
                for name in names:
                    copy(home / name, Path(folder, name))
                    archive.add(Path(folder, name), name)
                if handed_in.copy(Path(folder)):
                    archive.add(Path(folder, UPLOADS), UPLOADS)
                    names.append(UPLOADS)
            made.replace(file)
    except OSError as error:
        raise StorageError(
            f"{file} cannot be written: {error.strerror or error}",
            "Name a file in a folder that exists, with space left.",
        ) from error
    return names


def _unpacked(file: Path, home: Path, inbox: bool) -> list[str]:
    there = sorted(name for name in (*_DATABASES, UPLOADS) if (home / name).exists())
    if there:
        raise StorageError(
            f"{home} is not empty: {', '.join(there)}",
            "Move them away, or name an empty folder in BELAY_HOME.",
        )
    copy = factory("copy.sqlite")
    try:
        home.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=home, prefix=".restore-") as folder:
            found = _extracted(file, Path(folder))
            names = [name for name in found if name in _DATABASES and (inbox or name != INBOX_FILE)]
            checked = Path(folder, "checked")
            checked.mkdir()
            for name in names:
                copy(Path(folder, name), checked / name)
            if KeptDocuments(Path(folder)).copy(checked):
                names.append(UPLOADS)
            for name in names:
                (checked / name).replace(home / name)
    except (tarfile.TarError, EOFError) as error:
        raise StorageError(f"{file} is no whole backup: {error}", "Take another one.") from error
    except OSError as error:
        raise StorageError(
            f"{file} cannot be restored to {home}: {error.strerror or error}",
            "Check that the file is there, and that the folder can be written to.",
        ) from error
    return names


def _extracted(file: Path, folder: Path) -> Sequence[str]:
    """The files of a backup, and nothing else that an archive may hold."""
    names = []
    with tarfile.open(file, "r:gz") as archive:
        for member in archive:
            known = member.name in _DATABASES or _UPLOADED.fullmatch(member.name)
            content = archive.extractfile(member) if known else None
            if content is not None:
                place = Path(folder, member.name)
                place.parent.mkdir(parents=True, exist_ok=True)
                with place.open("xb") as target:
                    shutil.copyfileobj(content, target)
                names.append(member.name)
    if not names:
        raise tarfile.ReadError("it holds no file of Belay's")
    return names
