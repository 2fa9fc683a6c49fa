"""A sync brings the index to what the folder holds, and loses nothing on the way."""

import asyncio
import os
import shutil
import unicodedata
from collections import Counter
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest
from ingest_kit import ADMINISTRATOR, CountingEmbedder, Library

from adapters.documents import create
from adapters.folder import Folder
from adapters.memory.index import MemoryIndex
from adapters.sqlite import SqliteIndex
from bot.errors import IndexIncompatible, SourceError
from bot.ingest.options import SyncOptions
from bot.ingest.parse import Converted
from bot.ingest.report import Reason
from bot.ports import KnowledgeIndex, SyncState
from graph.errors import EmbedderError
from graph.model import Access, Scope
from graph.ports import Matrix

LFS = "version https://git-lfs.github.com/spec/v1\noid sha256:{}\nsize 90405\n".format("4d7a" * 16)


@pytest.fixture(params=["memory", "sqlite"])
async def index(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[KnowledgeIndex]:
    index = MemoryIndex() if request.param == "memory" else await _sqlite(tmp_path)
    yield index
    await index.close()


async def _sqlite(tmp_path: Path) -> KnowledgeIndex:
    (tmp_path / "home").mkdir()
    return await SqliteIndex.open(tmp_path / "home" / "index.db")


@pytest.fixture
def library(tmp_path: Path, index: KnowledgeIndex) -> Library:
    return Library(tmp_path / "docs", tmp_path / "home", index)


def runbooks(library: Library, count: int) -> None:
    for number in range(count):
        library.put(f"f{number:03}.md", f"# Runbook {number}\n\nRestart unit{number} at once.\n")


async def test_a_document_is_found_with_its_place(library: Library) -> None:
    library.put(
        "ops/gateway.md",
        "---\ntitle: Payments gateway\nowner: payments\nversion: 3\nupdated_at: 2026-05-20\n---\n"
        "# Gateway\n\nRestart pay-gw first.\n",
    )
    report = await library.sync()
    (passage,) = await library.find("pay-gw")
    assert (report.indexed, report.chunks, report.embedded) == (1, 1, 1)
    assert (passage.document, passage.title, passage.owner) == (
        "ops/gateway.md", "Payments gateway", "payments",
    )  # fmt: skip
    assert passage.uri == "ops/gateway.md#L7"
    assert passage.lines == (7, 9)
    assert passage.version == "3"
    assert passage.updated_at is not None
    assert passage.updated_at.date().isoformat() == "2026-05-20"
    assert library.embedder.texts == ["Payments gateway > Gateway\nGateway\nRestart pay-gw first."]


async def test_unchanged_files_cost_nothing(library: Library) -> None:
    """IN-09: a new date is no change, and an old date hides none."""
    runbooks(library, 30)
    await library.sync()
    for path in library.root.iterdir():
        os.utime(path, (1, 1))
    revision = (await library.index.info()).revision
    assert await library.embedded() == 0
    assert (await library.index.info()).revision == revision
    changed = library.put("f007.md", "# Runbook 7\n\nDrain unit7 instead.\n")
    os.utime(changed, (1, 1))
    assert await library.embedded() == 1
    assert [p.document for p in await library.find("drain")] == ["f007.md"]


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "cp1251"])
async def test_only_line_breaks_or_encoding_changed(library: Library, encoding: str) -> None:
    """IN-08"""
    text = (
        "---\ntitle: Шлюз\n---\n# Перезапуск\n\n"
        "```\nsystemctl stop pay-gw\n```\n\nПроверьте очередь сообщений.\n"
    )
    library.put("a.md", text)
    await library.sync()
    before = await library.passages()
    library.put("a.md", text.replace("\n", "\r\n").encode(encoding))
    assert await library.embedded() == 0
    assert await library.passages() == before


async def test_carriage_returns_give_the_same_chunks(library: Library) -> None:
    """IN-08: also when the file is new; line numbers are those on disk."""
    text = "---\ntitle: x\n---\n# One\n\n```bash\n# no heading\n```\nEnd.\n"
    library.put("lf.md", text)
    library.put("crlf.md", text.replace("\n", "\r\n").replace("One", "Two"))
    await library.sync()
    one, two = sorted(await library.passages(), key=lambda p: p.heading)
    assert one.lines == two.lines == (4, 9)
    assert two.text == one.text.replace("One", "Two")


async def test_changed_deleted_and_renamed_files(library: Library) -> None:
    """IN-29"""
    library.put("vpn.md", "# VPN\n\nDial concentrator-one.\n")
    library.put("keep.md", "# Keep\n\nOther words.\n")
    await library.sync()
    (library.root / "vpn.md").rename(library.root / "vpn-new.md")
    await library.sync()
    assert [p.document for p in await library.find("concentrator-one")] == ["vpn-new.md"]
    (library.root / "vpn-new.md").unlink()
    report = await library.sync()
    assert report.removed == 1
    assert await library.find("concentrator-one") == []


async def test_a_deleted_subfolder_goes(library: Library) -> None:
    """IN-29"""
    runbooks(library, 12)
    library.put("old/vpn.md", "# VPN\n\nDial concentrator-one.\n")
    await library.sync()
    shutil.rmtree(library.root / "old")
    await library.sync()
    assert await library.find("concentrator-one") == []


async def test_an_unmounted_folder_keeps_the_index(library: Library) -> None:
    """IN-29: empty, missing, or holding only what a mount point holds."""
    runbooks(library, 12)
    await library.sync()
    shutil.rmtree(library.root)
    for remains in ("nothing", "empty", "lost+found"):
        if remains != "nothing":
            (library.root / remains.strip("empty")).mkdir(parents=True, exist_ok=True)
        with pytest.raises(SourceError) as error:
            await library.sync()
        assert error.value.remedy
        assert len(await library.find("unit3")) == 1
    (record,) = await library.index.sources()
    assert record.state is SyncState.FAILED
    assert record.message
    assert (record.files, record.chunks) == (12, 12)


async def test_losing_most_files_is_refused_until_allowed(library: Library) -> None:
    """IN-29"""
    runbooks(library, 30)
    await library.sync()
    for number in range(2, 30):
        (library.root / f"f{number:03}.md").unlink()
    with pytest.raises(SourceError, match="28 of 30") as error:
        await library.sync()
    assert "--allow-loss" in error.value.remedy
    assert len(await library.passages()) == 30
    report = await library.sync(SyncOptions(allow_loss=True))
    assert report.removed == 28
    assert len(await library.passages()) == 2


async def test_files_that_became_empty_count_as_lost(library: Library) -> None:
    """IN-29: a broken checkout leaves all files, without content."""
    runbooks(library, 20)
    await library.sync()
    for path in library.root.iterdir():
        path.write_text("")
    with pytest.raises(SourceError):
        await library.sync()
    assert len(await library.passages()) == 20


async def test_moving_all_files_is_no_loss(library: Library) -> None:
    """IN-29"""
    runbooks(library, 20)
    await library.sync()
    (library.root / "new").mkdir()
    for path in library.root.glob("*.md"):
        path.rename(library.root / "new" / path.name)
    report = await library.sync()
    assert (report.indexed, report.removed) == (20, 20)
    assert {p.document[:4] for p in await library.passages()} == {"new/"}


async def test_the_same_folder_by_another_path_changes_nothing(
    library: Library, monkeypatch: pytest.MonkeyPatch
) -> None:
    """IN-28"""
    runbooks(library, 5)
    await library.sync()
    before = await library.passages()
    monkeypatch.chdir(library.root)
    link = library.root.parent / "link"
    link.symlink_to(library.root)
    for root in (Path(), Path("../docs"), link):
        report = await library.sync(source=Folder(root, "docs"))
        assert (report.unchanged, report.embedded) == (5, 0)
    assert await library.passages() == before


async def test_same_file_names_in_different_folders(library: Library) -> None:
    """IN-25"""
    library.put("billing/README.md", "# Service\n\nBilling listens on port 8081.\n")
    library.put("orders/README.md", "# Service\n\nOrders listens on port 8082.\n")
    await library.sync()
    library.put("orders/README.md", "# Service\n\nOrders listens on port 8083.\n")
    await library.sync()
    places = {p.document: p.text.split()[-1] for p in await library.passages()}
    assert places == {"billing/README.md": "8081.", "orders/README.md": "8083."}
    assert len({p.id for p in await library.passages()}) == 2


async def test_decomposed_names_and_texts_are_one_document(library: Library) -> None:
    """IN-26"""
    name, text = "Резервный план й.md", "# Ёмкость\n\nРезервный узел: й-2.\n"
    nfd = library.put(unicodedata.normalize("NFD", name), unicodedata.normalize("NFD", text))
    await library.sync()
    (passage,) = await library.find("резервный ёмкость")
    assert passage.document == name
    assert passage.text == text.strip()
    nfd.unlink()
    library.put(name, text)
    assert await library.embedded() == 0
    assert len(await library.passages()) == 1


async def test_utf_16_and_windows_1251_are_searchable_and_reported(library: Library) -> None:
    """IN-04, IN-06"""
    base = "Основная база: db-orders-02, резерв db-orders-03\r\n"
    library.put("servers.txt", base.encode("utf-16"))
    library.put("servers-be.txt", ("Второй список. " + base).encode("utf-16-be"))
    library.put("инструкция.txt", "Перезапуск шлюза: сервис pay-gw".encode("cp1251"))
    library.put("quote.md", "The gateway’s “safe” mode".encode("cp1252"))
    report = await library.sync()
    assert len(await library.find("резерв")) == 2
    assert [p.document for p in await library.find("перезапуск")] == ["инструкция.txt"]
    assert "’s “safe” mode" in await library.text()
    assert "\x00" not in await library.text()
    assert sorted(str(place) for place in report.decoded)[1:3] == [
        "servers-be.txt: read as utf-16-be",
        "servers.txt: read as utf-16",
    ]


@pytest.mark.parametrize(
    ("name", "data", "reason"),
    [
        ("empty.md", b"", Reason.NO_TEXT),
        ("blank.md", " \n\u200b\n".encode(), Reason.NO_TEXT),
        ("meta.md", b"---\ntitle: only this\n---\n", Reason.NO_TEXT),
        ("rule.md", b"---\n\n***\n", Reason.NO_TEXT),
        ("runbook.md", LFS.encode(), Reason.LFS_POINTER),
        ("guide.pdf", LFS.encode(), Reason.LFS_POINTER),
        ("guide.pdf", b"%PDF-1.7", Reason.UNSUPPORTED),
        ("guide.txt", LFS.replace("\n", "\r\n").encode(), Reason.LFS_POINTER),
        ("image.md", b"\x89PNG\r\n\x1a\n" + bytes(200), Reason.BINARY),
        ("core", bytes(range(256)) * 4, Reason.BINARY),
        ("japan.md", "設定ファイルの場所".encode("shift_jis"), Reason.ENCODING),
        ("photo.jpg", b"x", Reason.UNSUPPORTED),
        ("dump.json", b"x" * 20_000_000, Reason.TOO_LARGE),
        (".env", b"TOKEN=x", Reason.SECRET_FILE),
    ],
)
async def test_every_skipped_file_has_a_reason(
    library: Library, name: str, data: bytes, reason: str
) -> None:
    """IN-10, IN-21, and the list of bad input."""
    library.put("good.md", "# Good\n\nWords.\n")
    library.put(name, data)
    for _ in range(2):
        report = await library.sync()
        assert [(item.path, item.reason) for item in report.skipped] == [(name, reason)]
        assert reason in "\n".join(report.lines())
    assert {p.document for p in await library.passages()} == {"good.md"}
    (record,) = await library.index.sources()
    assert (record.files, record.skipped) == (1, 1)


async def test_a_skipped_file_is_indexed_once_it_is_readable(library: Library) -> None:
    library.put("a.md", LFS)
    await library.sync()
    library.put("a.md", "# Real\n\nContent fetched.\n")
    await library.sync()
    assert len(await library.find("fetched")) == 1


async def test_the_size_limit_may_change(library: Library) -> None:
    library.put("small.md", "# Small\n\nwords\n")
    library.put("large.md", "# Large\n\n" + "words and more words\n" * 100)
    report = await library.sync(SyncOptions(max_file_bytes=1000))
    assert [item.path for item in report.skipped] == ["large.md"]
    report = await library.sync(SyncOptions(max_file_bytes=5000))
    assert (report.indexed, report.unchanged) == (1, 1)
    report = await library.sync(SyncOptions(max_file_bytes=1000))
    assert [item.path for item in report.skipped] == ["large.md"]
    assert [p.document for p in await library.find("words")] == ["small.md"]


async def test_an_indexed_file_that_became_a_pointer_goes(library: Library) -> None:
    """IN-21"""
    library.put("a.md", "# Real\n\nContent fetched.\n")
    library.put("b.md", "# Other\n")
    await library.sync()
    library.put("a.md", LFS)
    await library.sync()
    assert await library.find("fetched oid sha256") == []


async def test_a_file_that_cannot_be_read_now_keeps_its_old_version(library: Library) -> None:
    library.put("a.md", "# A\n\nDial concentrator-one.\n")
    library.put("b.md", "# B\n")
    await library.sync()
    (library.root / "a.md").unlink()
    (library.root / "a.md").symlink_to("gone.md")
    report = await library.sync()
    assert [(item.path, item.reason) for item in report.skipped] == [("a.md", Reason.UNREADABLE)]
    assert "kept" in str(report.problems[0])
    assert len(await library.find("concentrator-one")) == 1


async def test_unreadable_front_matter_closes_the_document(library: Library) -> None:
    """IN-14"""
    library.put(
        "a.md", "---\ntitle: Part 1: Restart\ntags: [ #ops ]\n---\n# Body text about restart\n"
    )
    report = await library.sync()
    assert await library.find("restart") == []
    assert len(await library.find("restart", ADMINISTRATOR)) == 1
    (problem,) = report.problems
    assert str(problem).startswith("a.md:2: front matter")


async def test_access_of_the_source_and_of_the_document(library: Library) -> None:
    library.put("open.md", "# Open\n\nwords")
    library.put("closed.md", "---\naudience: director\n---\n# Closed\n\nwords")
    options = SyncOptions(access=Access(tenant="harrow", audience="manager"))
    await library.sync(options)

    async def seen(*levels: str) -> set[str]:
        scope = Scope(tenant="harrow", levels=frozenset(levels))
        return {p.document for p in await library.find("words", scope)}

    assert await seen("staff") == set()
    assert await seen("staff", "manager") == {"open.md"}
    assert await seen("staff", "manager", "senior", "director") == {"open.md", "closed.md"}
    await library.sync(replace(options, access=Access(tenant="harrow")))
    assert await seen("staff") == {"open.md"}


@pytest.mark.parametrize(("new", "old"), [("a-new.md", "z-old.md"), ("z-new.md", "a-old.md")])
async def test_a_superseded_document_is_hidden_and_comes_back(
    library: Library, new: str, old: str
) -> None:
    library.put(f"ops/{old}", "# Window\n\nDeploy on friday.\n")
    library.put(f"ops/{new}", f"---\nsupersedes: {old}\n---\n# Window\n\nDeploy on monday.\n")
    for _ in range(2):
        await library.sync()
        assert [p.document for p in await library.find("deploy")] == [f"ops/{new}"]
    assert await library.embedded() == 0
    library.put(f"ops/{new}", "# Window\n\nDeploy on monday.\n")
    await library.sync()
    assert len(await library.find("deploy")) == 2


async def test_secrets_reach_neither_the_index_nor_the_embedder(library: Library) -> None:
    """SC-11"""
    library.put(
        "config.md",
        "# Config\n\nAWS_SECRET_ACCESS_KEY=wJalrXUtnFEMI/EXAMPLE\n\n"
        "-----BEGIN PRIVATE KEY-----\nMIIEvQ\n\npostgres://app:S3cret@db-orders-02/x\n",
    )
    for path in (".env", "id_rsa", ".git/config", "tls/a.key"):
        library.put(path, "S3cret")
    report = await library.sync()
    everything = await library.text() + "\n".join(library.embedder.texts)
    for value in ("wJalr", "MIIE", "S3cret"):
        assert value not in everything
    assert "AWS_SECRET_ACCESS_KEY=" in everything
    assert "db-orders-02" in everything
    assert sorted(place.line for place in report.masked) == [3, 5, 8]
    assert {item.path for item in report.skipped} == {".env", ".git", "id_rsa", "tls/a.key"}


async def test_masking_can_be_switched_off(library: Library) -> None:
    library.put("config.md", "# Config\n\npassword: hunter2\n")
    await library.sync(SyncOptions(mask_secrets=False))
    assert "hunter2" in await library.text()
    await library.sync(SyncOptions(mask_secrets=True))
    assert "hunter2" not in await library.text()


async def test_blank_chunks_never_reach_the_embedder(library: Library) -> None:
    """IN-19: the embedder of this test refuses blank texts."""
    library.put("a.md", "# A\n\n\n# B\ntext\n")
    library.put("b.md", "# C\n\u200b\n\n---\n")
    await library.sync()
    assert len(await library.find("text")) == 1


async def test_html_rst_and_config_are_searchable(library: Library) -> None:
    library.put("a.html", "<main><h1>Orders</h1><p>Port 8081</p></main>")
    library.put("b.rst", "Gateway\n=======\n\nPort 8082\n")
    library.put("c.yaml", "kind: Service\nport: 8083\n")
    library.put("README", "# Read me\n\nPort 8084\n")
    await library.sync()
    assert {p.document for p in await library.find("port")} == {
        "a.html",
        "b.rst",
        "c.yaml",
        "README",
    }


async def test_a_file_that_a_parser_trips_over_costs_itself_only(library: Library) -> None:
    """Text is kept as it stands, a table is named in the report; the rest is indexed."""

    def broken(text: str) -> Converted:
        raise AssertionError(text)

    library.put("a.html", "<p>Port 8081</p>")
    library.put("b.csv", "port\n8082\n")
    library.put("c.md", "# Table\n\n<table><tr><td>Port</td><td>8083</td></tr></table>\n")
    library.put("d.md", "# Gateway\n\nPort 8084\n")
    options = SyncOptions(converters=dict.fromkeys((".html", ".csv"), broken))
    report = await library.sync(options)
    assert {p.document for p in await library.find("port")} == {"a.html", "c.md", "d.md"}
    assert [(item.path, item.reason) for item in report.skipped] == [("b.csv", Reason.BROKEN)]


async def test_the_same_text_at_two_places_is_stored_once(library: Library) -> None:
    for path in ("a/x.md", "b/x.md"):
        library.put(path, "# Same\n\nThe very same words.\n")
    report = await library.sync()
    assert (report.chunks, report.duplicates) == (1, 1)
    (passage,) = await library.find("same words")
    assert len(passage.also_at) == 1


async def test_a_failing_embedder_keeps_what_was_stored(library: Library) -> None:
    runbooks(library, 10)
    await library.sync()

    class Broken(CountingEmbedder):
        async def embed_passages(self, texts: object) -> Matrix:
            raise EmbedderError("the model is gone")

    library.put("new.md", "# New\n\nWords.\n")
    library.embedder = Broken()
    with pytest.raises(EmbedderError):
        await library.sync()
    (record,) = await library.index.sources()
    assert record.state is SyncState.FAILED
    assert record.files == 10
    assert len(await library.passages()) == 10
    library.embedder = CountingEmbedder()
    assert await library.embedded() == 1


async def test_another_embedder_is_refused(library: Library) -> None:
    runbooks(library, 2)
    await library.sync()
    library.embedder = CountingEmbedder()
    library.embedder.name = "another"
    with pytest.raises(IndexIncompatible):
        await library.sync()


async def test_a_cancelled_sync_says_so_and_goes_on_later(library: Library) -> None:
    """IN-27"""
    runbooks(library, 30)
    waiting = asyncio.Event()

    class Stuck(CountingEmbedder):
        async def embed_passages(self, texts: object) -> Matrix:
            if self.texts:
                waiting.set()
                await asyncio.Event().wait()
            return await super().embed_passages(list(texts))  # type: ignore[call-overload]

    library.embedder = Stuck()
    async with asyncio.TaskGroup() as group:
        task = group.create_task(library.sync(SyncOptions(gather=10, converters=create())))
        await waiting.wait()
        task.cancel()
    (record,) = await library.index.sources()
    assert record.state is SyncState.INTERRUPTED
    assert len(await library.passages()) == 10
    library.embedder = CountingEmbedder()
    assert await library.embedded() == 20
    (record,) = await library.index.sources()
    assert record.state is SyncState.COMPLETE
    assert max(Counter(p.document for p in await library.passages()).values()) == 1


async def test_the_loop_stays_free_while_a_huge_line_is_read(library: Library) -> None:
    """IN-17: questions are answered meanwhile."""
    library.put("dump.json", b'{"x": "' + b"0123456789abcdef" * 190_000 + b'"}')
    library.put("app.txt", "z" * 400_000)
    ticks = 0

    async def tick() -> None:
        nonlocal ticks
        while True:
            await asyncio.sleep(0)
            ticks += 1

    async with asyncio.TaskGroup() as group:
        ticking = group.create_task(tick())
        report = await library.sync()
        ticking.cancel()
    assert report.indexed == 2
    assert max(len(passage.text) for passage in await library.passages()) <= 2800
    assert max(len(text) for text in library.embedder.texts) <= 4000
    assert ticks > 200  # a loop that waits for the parser turns a few times a file
