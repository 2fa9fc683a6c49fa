"""Archives over several syncs: opened when they changed, and whole whatever happened before."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import pytest
from ingest_kit import CountingEmbedder

from adapters.documents import create, create_reader
from adapters.folder import create as folder
from adapters.memory.index import MemoryIndex
from bot.ingest.options import SyncOptions
from bot.ingest.parse import Converted
from bot.ingest.reader import Member, Reader
from bot.ingest.report import SyncReport
from bot.ingest.sync import sync
from graph.errors import EmbedderError
from graph.model import Access
from graph.ports import Matrix

PAGES = {f"page-{n}.md": f"# Page {n}\n\nWhat to do about alarm {n}.\n" for n in range(6)}


class Counting(Reader):
    """Counts the archives that are opened and the documents that are parsed."""

    def __init__(self) -> None:
        self._reader = create_reader()
        self.opened = self.parsed = 0

    def read(self, suffix: str, data: bytes) -> Converted:
        self.parsed += 1
        return self._reader.read(suffix, data)

    def unpack(self, data: bytes) -> Iterator[Member]:
        self.opened += 1
        return self._reader.unpack(data)

    def close(self) -> None:
        self._reader.close()


class Failing(CountingEmbedder):
    """Goes away after some texts."""

    left = 10**6

    async def embed_passages(self, texts: Sequence[str]) -> Matrix:
        self.left -= len(texts)
        if self.left < 0:
            raise EmbedderError("away")
        return await super().embed_passages(texts)


class Shelf:
    def __init__(self, root: Path, reader: Counting) -> None:
        self.docs, self._lock, self.reader = root / "docs", root / "lock", reader
        self.docs.mkdir()
        self.index, self.embedder = MemoryIndex(), Failing()

    def pack(self, files: Mapping[str, str | bytes], name: str = "export.zip") -> None:
        buffer = io.BytesIO()
        with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
            for path, text in files.items():
                archive.writestr(zipfile.ZipInfo(path), text)
        (self.docs / name).write_bytes(buffer.getvalue())

    async def sync(self, access: Access | None = None, gather: int = 512) -> SyncReport:
        options = SyncOptions(
            access=access or Access(), reader=self.reader, converters=create(), allow_loss=True,
            gather=gather, batch=1, parallel=1,
        )  # fmt: skip
        source = folder(self.docs, "docs")
        return await sync(source, self.index, self.embedder, lock=self._lock, options=options)

    async def documents(self) -> set[str]:
        return {passage.document async for passage, _, _ in self.index.chunks()}


@pytest.fixture
def shelf(tmp_path: Path) -> Iterator[Shelf]:
    reader = Counting()
    yield Shelf(tmp_path, reader)
    reader.close()


async def test_an_archive_that_did_not_change_is_not_opened(shelf: Shelf) -> None:
    shelf.pack({**PAGES, "logo.png": b"\x89PNG", "empty.md": "", "scan.exe": b"MZ"})
    first = await shelf.sync()
    second = await shelf.sync()
    assert shelf.reader.opened == 1
    assert (second.unchanged, second.removed, second.embedded) == (6, 0, 0)
    assert {item.path: item.reason for item in second.skipped} == {
        item.path: item.reason for item in first.skipped
    }


async def test_one_page_that_changed_is_read_alone(shelf: Shelf) -> None:
    shelf.pack(PAGES)
    await shelf.sync()
    shelf.pack({**PAGES, "page-3.md": "# Page 3\n\nAnother thing.\n"})
    report = await shelf.sync()
    assert (shelf.reader.opened, report.indexed, report.unchanged) == (2, 1, 5)
    await shelf.sync()
    assert shelf.reader.opened == 2


async def test_in_27_an_archive_that_was_read_in_part_is_opened_again(shelf: Shelf) -> None:
    shelf.pack(PAGES)
    shelf.embedder.left = 3
    with pytest.raises(EmbedderError):
        await shelf.sync(gather=1)
    assert 0 < len(await shelf.documents()) < len(PAGES)
    shelf.embedder.left = 10**6
    await shelf.sync()
    assert await shelf.documents() == {f"export.zip/{name}" for name in PAGES}


async def test_an_archive_that_is_gone_takes_its_pages_along(shelf: Shelf) -> None:
    shelf.pack(PAGES)
    shelf.pack({"other.md": "# Other\n\nStays.\n"}, "b.zip")
    await shelf.sync()
    (shelf.docs / "export.zip").unlink()
    assert (await shelf.sync()).removed == 6
    assert await shelf.documents() == {"b.zip/other.md"}


async def test_other_readers_are_given_to_pages_of_an_old_archive(shelf: Shelf) -> None:
    """SC-16: rights come from the settings as well, and those may change alone."""
    shelf.pack(PAGES)
    await shelf.sync()
    await shelf.sync(Access(audience="manager"))
    for name in PAGES:
        for stored in await shelf.index.stored("docs", f"export.zip/{name}"):
            assert stored.chunk.access.audience == "manager"


async def test_rt_09_a_page_that_replaces_another_keeps_doing_so(shelf: Shelf) -> None:
    old = "# Retention\n\nOrders are kept for 180 days.\n"
    new = "---\nsupersedes: old.md\n---\n# Retention\n\nOrders are kept for 270 days.\n"
    shelf.pack({"old.md": old, "new.md": new, **PAGES})
    for _ in range(3):
        await shelf.sync()
        [stored] = await shelf.index.stored("docs", "export.zip/old.md")
        assert stored.chunk.access.status == "superseded"
    shelf.pack({"old.md": old, **PAGES})
    for _ in range(2):
        await shelf.sync()
        [stored] = await shelf.index.stored("docs", "export.zip/old.md")
        assert stored.chunk.access.status == "published"
