"""PDF, Office documents and archives in a folder: identity, rules and reasons as for Markdown."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest
from ingest_kit import ADMINISTRATOR, Library

from adapters.documents import create, create_reader
from adapters.sqlite import SqliteIndex
from bot.ingest.folder_rules import FolderRule
from bot.ingest.options import SyncOptions
from bot.ingest.reader import Reader, ReadingLimits
from bot.ingest.report import SyncReport
from tests.adapters.document_kit import excel, packed, pdf, sheet, word

OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(600)
LOCKED = OLE + "EncryptedPackage".encode("utf-16-le") + bytes(600)
PAGE = (
    '<html><head><title>OPS : {0}</title></head><body><ol id="breadcrumbs"><li>Ops</li></ol>'
    '<div id="main-content"><p>{1}</p></div></body></html>'
)


@pytest.fixture(scope="module")
def reader() -> Iterator[Reader]:
    with closing(create_reader()) as made:
        yield made


@pytest.fixture
async def library(tmp_path: Path) -> Library:
    return Library(tmp_path / "docs", tmp_path, await SqliteIndex.open(tmp_path / "index.db"))


def reasons(report: SyncReport) -> dict[str, str]:
    return {item.path: f"{item.reason} ({item.detail})" for item in report.skipped}


def options(reader: Reader, **more: object) -> SyncOptions:
    made: Callable[..., SyncOptions] = SyncOptions
    return made(converters=create(), reader=reader, **more)


async def test_links_name_the_page_the_sheet_and_the_row(library: Library, reader: Reader) -> None:
    library.put("a.pdf", pdf("First page says alpha.", "Second page says beta."))
    library.put("b.xlsx", excel(lambda book: sheet(book, "My ports", [["a", "b"], ["x", "gamma"]])))
    library.put("c.csv", "a,b\nx,delta\n")
    library.put("d.docx", word(lambda document: document.add_paragraph("It says epsilon.")))
    inner = {"ops/e.pdf": pdf("Nothing.", "It says zeta."), "f.md": "# F\n\nIt says theta."}
    library.put("g.zip", packed(inner))
    await library.sync(options(reader))
    words = ("beta", "gamma", "delta", "epsilon", "zeta", "theta")
    found = {word: (await library.find(word))[0].uri for word in words}
    assert found == {
        "zeta": "g.zip#ops/e.pdf&page=2",
        "theta": "g.zip#f.md",
        "beta": "a.pdf#page=2",
        "gamma": "b.xlsx#'My%20ports'!A2",
        "delta": "c.csv#L2",
        "epsilon": "d.docx",
    }


async def test_each_file_that_is_not_read_has_a_reason_and_a_remedy(
    library: Library, reader: Reader
) -> None:
    files = {
        "scan.pdf": pdf(lambda paper: paper.picture()), "fake.docx": pdf("Text."),
        "fake.pdf": b"just text", "note.md": pdf("Text."), "locked.docx": LOCKED,
        "older.xlsx": OLE, "old.doc": OLE, "slides.pptx": packed({"a": "b"}),
        "broken.docx": b"PK\x03\x04" + bytes(50), "other.docx": packed({"a.md": "# A"}),
        "fake.zip": b"text", "empty.zip": packed({}), "good.md": "# Good\n\nText.",
    }  # fmt: skip
    for name, data in files.items():
        library.put(name, data)
    assert reasons(await library.sync(options(reader))) == {
        "scan.pdf": "no text found (page 1: no text layer (a scan or a picture?))",
        "fake.docx": "content does not fit the name (it is a PDF)",
        "fake.pdf": "content does not fit the name (it is no PDF file)",
        "note.md": "content does not fit the name (it is a PDF)",
        "locked.docx": "encrypted (save it without a password)",
        "older.xlsx": "content does not fit the name (it is an old Office document)",
        "old.doc": "format not supported (.doc, an old Word document; save it as .docx)",
        "slides.pptx": "format not supported (.pptx, a presentation; export it as PDF)",
        "broken.docx": "broken (not readable as a ZIP archive; save or export it again)",
        "other.docx": "content does not fit the name (a ZIP archive, but no Office document)",
        "fake.zip": "content does not fit the name (it is no ZIP file)",
        "empty.zip": "no text found (an empty archive)",
    }


async def test_skipped_parts_are_told_and_kept_with_the_file(
    library: Library, reader: Reader
) -> None:
    library.put("a.pdf", pdf("First.", lambda paper: paper.picture(), "Third."))
    report = await library.sync(options(reader))
    words = "page 2: no text layer (a scan or a picture?)"
    assert [str(problem) for problem in report.problems] == [f"a.pdf: {words}"]
    assert (await library.index.records("docs"))["a.pdf"].detail == words


async def test_secrets_are_masked_and_told_with_their_page(
    library: Library, reader: Reader
) -> None:
    secret = "password = hunter2-Zq81xYk0"
    library.put("a.pdf", pdf("First.", f"The {secret} opens it."))
    library.put("b.docx", word(lambda document: document.add_paragraph(secret)))
    library.put("c.csv", f"what,value\nlogin,{secret}\n")
    report = await library.sync(options(reader))
    assert "hunter2" not in await library.text()
    assert {str(item).partition(":")[0] for item in report.masked} == {"a.pdf", "b.docx", "c.csv"}
    assert any("page=2" in str(item) for item in report.masked)


async def test_access_rules_of_folders_hold(library: Library, reader: Reader) -> None:
    library.put("board/a.pdf", pdf("The alpha plan."))
    library.put("board/b.zip", packed({"plan.md": "# Plan\n\nThe beta plan."}))
    rule = FolderRule("board", audience="administrator")
    await library.sync(options(reader, folders=(rule,)))
    for words in ("alpha", "beta"):
        assert await library.find(words) == []
        assert len(await library.find(words, ADMINISTRATOR)) == 1


async def test_nothing_is_read_again_that_did_not_change(library: Library, reader: Reader) -> None:
    library.put("a.pdf", pdf("Alpha."))
    library.put("b.zip", packed({"one.md": "# One\n\nText.", "two.md": "# Two\n\nText."}))
    await library.sync(options(reader))
    embedded = len(library.embedder.texts)
    report = await library.sync(options(reader))
    assert (report.unchanged, report.indexed) == (3, 0)
    assert len(library.embedder.texts) == embedded


async def test_a_page_of_an_export_is_a_file_of_its_own(library: Library, reader: Reader) -> None:
    """IN-29 for archives: what left the export leaves the index."""
    first = {"a_1.html": PAGE.format("Alpha", "Says one."), "b_2.html": PAGE.format("Beta", "Two.")}
    library.put("export.zip", packed(first))
    await library.sync(options(reader))
    assert [p.uri for p in await library.passages()] == [
        "export.zip#Ops/Alpha",
        "export.zip#Ops/Beta",
    ]
    library.put("export.zip", packed({"a_1.html": PAGE.format("Alpha", "Says three.")}))
    report = await library.sync(options(reader))
    assert (report.indexed, report.removed) == (1, 1)
    assert [(p.document, p.text) for p in await library.passages()] == [
        ("export.zip/Ops/Alpha", "Says three.")
    ]


async def test_more_pages_are_read_when_the_limit_is_raised(library: Library) -> None:
    library.put("a.pdf", pdf("Alpha.", "Beta.", "Gamma."))
    for pages in (1, 3):
        limits = ReadingLimits(pages=pages)
        with closing(create_reader(limits)) as bounded:
            await library.sync(options(bounded, reading=limits))
        assert len(await library.passages()) == pages


async def test_a_large_web_page_is_read_by_the_process(library: Library, reader: Reader) -> None:
    library.put("a.html", "<h1>Alpha</h1>" + "<p>Some words of the page.</p>" * 30)
    await library.sync(options(reader, in_process=100))
    assert (await library.passages())[0].heading == ("Alpha",)


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.html", "<table><tr><td>password</td><td>hunter2-S3cretPass</td></tr></table>"),
        ("a.html", "<p>DB_PASSWORD=<b>hunter2-S3cretPass</b></p>"),
        ("a.html", "<p>password: <code>hunter2-S3cretPass</code></p>"),
        ("a.rst", "X\n=\n\n+----------+--------------------+\n| password | hunter2-S3cretPass |\n"
                  "+----------+--------------------+\n"),
        ("a.md", "    os.environ['DB_PASSWORD'] = 'hunter2-S3cretPass'\n"),
        ("a.csv", "key,value\npassword,hunter2-S3cretPass\n"),
        ("a.docx", word(lambda d: d.add_paragraph("password: hunter2-S3cretPass"))),
    ],
    ids=lambda value: str(value)[:30] if isinstance(value, str) else "docx",
)  # fmt: skip
async def test_sc_11_secrets_are_masked_in_every_format(
    library: Library, reader: Reader, name: str, content: str | bytes
) -> None:
    library.put(name, content)
    report = await library.sync(options(reader))
    assert report.masked
    texts = [passage.text for passage in await library.passages()]
    assert texts
    assert "password" in " ".join(texts).lower()
    assert "hunter2" not in " ".join(texts)
