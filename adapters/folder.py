"""A folder on this machine as a source of documents.

Paths are relative to the root, "/" separated and NFC, so the same folder is the same source
wherever it is mounted and from wherever it is read. Links to a place are `path#L12`: relative to
the root, which is what editors and code hosts understand.
"""

from __future__ import annotations

import asyncio
import os
import re
import stat
import unicodedata
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path

from bot.errors import SourceError
from bot.ingest.choice import GIT, Choice, refused_name
from bot.ingest.links import in_a_link
from bot.ingest.options import MAX_FILE_BYTES, SyncOptions
from bot.ingest.refusal import POINTER_BYTES, is_pointer, refusal
from bot.ingest.report import Reason
from bot.ingest.secrets import is_secret_file
from bot.ports import Skipped, Source, SourceFile
from graph.model import SourceType

_AT_ONCE, _FILES_AT_ONCE = 1_000_000, 64  # bytes and files that are read ahead
_SUBMODULE = re.compile(r"^\s*path\s*=\s*(.+?)\s*$", re.MULTILINE)
_REMEDY = "Check the path and the permissions, or that the folder is mounted."


class Folder(Source):
    """Reads a folder in sorted order.

    `include` and `exclude` are patterns over relative paths and names, where `*` also matches
    "/"; what they leave out is not part of the source. `max_bytes`: larger files are not read.
    """

    def __init__(
        self,
        path: Path,
        name: str,
        include: Sequence[str] = (),
        exclude: Sequence[str] = (),
        *,
        max_bytes: int = MAX_FILE_BYTES,
        kind: SourceType = SourceType.FOLDER,
    ) -> None:
        self._root = path
        self._name = name
        self._wanted = Choice(include, exclude)
        self._kind = kind
        self._options = SyncOptions(max_file_bytes=max_bytes)

    @property
    def name(self) -> str:
        return self._name

    @property
    def kind(self) -> SourceType:
        return self._kind

    def uri(self, path: str, line: int) -> str:
        """`path#L12`, with the characters escaped that end a link in Markdown."""
        return f"{in_a_link(path)}#L{line}"

    async def files(self) -> AsyncIterator[SourceFile | Skipped]:
        """Every file below the root. Raises SourceError when there is no folder or it is empty."""
        root = await asyncio.to_thread(self._resolved)
        walk = _Walk(root, self._wanted)
        found = await asyncio.to_thread(walk.entries)
        if not found:
            raise SourceError(f"The folder {self._root} holds no files.", _REMEDY)
        entries = _once(found)
        while read := await asyncio.to_thread(self._some, entries):
            for item in read:
                yield item

    def _some(self, entries: Iterator[Entry]) -> list[SourceFile | Skipped]:
        """The next few files: waking a thread for each takes longer than reading it."""
        read: list[SourceFile | Skipped] = []
        size = 0
        for entry in entries:
            item = entry if isinstance(entry, Skipped) else self._read(*entry)
            read.append(item)
            size += len(item.data) if isinstance(item, SourceFile) else 0
            if size >= _AT_ONCE or len(read) == _FILES_AT_ONCE:
                break
        return read

    def _resolved(self) -> Path:
        try:
            root = self._root.expanduser().resolve(strict=True)
            with os.scandir(root):
                return root
        except FileNotFoundError as error:
            raise SourceError(f"The folder {self._root} does not exist.", _REMEDY) from error
        except NotADirectoryError as error:
            raise SourceError(f"{self._root} is not a folder.", _REMEDY) from error
        except OSError as error:
            raise SourceError(f"The folder {self._root} cannot be read.", _REMEDY) from error

    def _read(self, path: str, place: str) -> SourceFile | Skipped:
        file = Path(place)
        try:
            status = file.stat()
            if not stat.S_ISREG(status.st_mode):
                return Skipped(path, Reason.UNSUPPORTED, "not a regular file")
            skipped = refusal(path, status.st_size, self._options)
            if skipped and not _may_be_pointer(skipped, status.st_size):
                return skipped
            data = _content(file)
        except OSError as error:
            return Skipped(path, Reason.UNREADABLE, error.strerror or "")
        if skipped and not is_pointer(data):
            return skipped
        return SourceFile(path, data, datetime.fromtimestamp(status.st_mtime, UTC))


def _content(file: Path) -> bytes:
    with file.open("rb", buffering=0) as raw:  # read whole, so a buffer would be one more copy
        return raw.readall()


def _may_be_pointer(skipped: Skipped, size: int) -> bool:
    return skipped.reason == Reason.UNSUPPORTED and size < POINTER_BYTES


Entry = tuple[str, str] | Skipped  # its identity, and where it is on this machine


def _once(found: Sequence[Entry]) -> Iterator[Entry]:
    """Each path once: names that differ only in how they are written are one."""
    names: set[str] = set()
    for entry in found:
        if isinstance(entry, Skipped):
            yield entry
        elif entry[0] in names:
            yield Skipped(entry[0], Reason.SAME_NAME)
        else:
            names.add(entry[0])
            yield entry


class _Walk:
    """One pass over a tree: which files there are, and which are not looked at and why."""

    def __init__(self, root: Path, wanted: Callable[[str], bool]) -> None:
        self._root = str(root)
        self._wanted = wanted
        self._found: list[tuple[str, Entry]] = []
        self._links: list[str] = []
        self._real: set[str] = set()  # files and folders that were reached, links resolved
        self._submodules = _submodules(root)

    def entries(self) -> list[Entry]:
        """Files and refusals, sorted by path."""
        self._folder(self._root, self._root)
        while self._links:  # last: a link to what was found anyway adds nothing
            self._link(self._links.pop(0))
        return [entry for _, entry in sorted(self._found, key=lambda item: item[0])]

    def _folder(self, folder: str, real: str) -> None:
        self._real.add(real)
        try:
            with os.scandir(folder) as scan:
                entries = sorted(scan, key=lambda entry: entry.name)
        except OSError as error:
            self._skip(folder, Reason.UNREADABLE, error.strerror or "")
            return
        if self._path(folder) in self._submodules and all(e.name == GIT for e in entries):
            self._skip(folder, Reason.SUBMODULE, "run `git submodule update --init`")
        for entry in entries:
            place = entry.path
            self._entry(entry, place, place if real is folder else str(Path(real, entry.name)))

    def _entry(self, entry: os.DirEntry[str], place: str, real: str) -> None:
        reason = refused_name(entry.name, folder=entry.is_dir())
        if reason is not None:
            self._skip(place, reason)
        elif entry.is_symlink():
            self._links.append(place)
        elif entry.is_dir():
            self._folder(place, real)
        else:
            self._file(place, real)

    def _link(self, place: str) -> None:
        file = Path(os.path.realpath(place))
        target = str(file)
        inside = self._path(target) if file.is_relative_to(self._root) else None
        if inside is None:
            self._skip(place, Reason.OUTSIDE)
        elif is_secret_file(inside):
            self._skip(place, Reason.SECRET_FILE)
        elif target in self._real:
            self._skip(place, Reason.LINK, inside)
        elif file.is_dir():
            self._folder(place, target)
        elif file.exists():
            self._file(place, target)
        else:
            self._skip(place, Reason.UNREADABLE, "broken link")

    def _file(self, place: str, real: str) -> None:
        path = self._path(place)
        if self._wanted(path):
            self._real.add(real)
            self._found.append((path, (path, place)))

    def _skip(self, place: str, reason: Reason, detail: str = "") -> None:
        path = self._path(place)
        if self._wanted(path):
            self._found.append((path, Skipped(path, reason, detail)))

    def _path(self, place: str) -> str:
        """The identity of a file: names that are no UTF-8 keep their bytes as escapes."""
        name = place[len(self._root) :].lstrip(os.sep).replace(os.sep, "/") or "."
        if name.isascii():
            return name
        readable = os.fsencode(name).decode("utf-8", "backslashreplace")
        return unicodedata.normalize("NFC", readable)


def _submodules(root: Path) -> frozenset[str]:
    """The folders that git fills from other repositories."""
    try:
        text = (root / ".gitmodules").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return frozenset()
    return frozenset(_SUBMODULE.findall(text))


def create(
    path: Path,
    name: str,
    include: Sequence[str] = (),
    exclude: Sequence[str] = (),
    *,
    max_bytes: int = MAX_FILE_BYTES,
    kind: SourceType = SourceType.FOLDER,
) -> Source:
    """The factory that bot/registry.py names."""
    return Folder(path, name, include, exclude, max_bytes=max_bytes, kind=kind)
