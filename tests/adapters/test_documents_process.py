"""The process that reads documents: what breaks it costs one document."""

from __future__ import annotations

import os
import signal
import sys
import zlib
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, suppress
from pathlib import Path

import pytest
from document_kit import excel, heavy_word, packed, pdf, sheet, word

from adapters.documents import create_reader
from bot.ingest.reader import Reader, ReadingLimits, Refused


@pytest.fixture
def reader() -> Iterator[Reader]:
    with closing(create_reader()) as made:
        yield made


def test_one_process_reads_every_format(reader: Reader) -> None:
    assert "90 seconds" in reader.read(".pdf", pdf("Drain for 90 seconds.")).markdown
    made = word(lambda document: document.add_heading("Restart", 1))
    assert reader.read(".docx", made).markdown == "# Restart"
    table = excel(lambda book: sheet(book, "S", [["a", "b"], ["x", "y"]]))
    assert "| x | y |" in reader.read(".xlsx", table).markdown
    assert [m.path for m in reader.unpack(packed({"a.md": "# A"}))] == ["a.md"]
    assert "# A" in reader.read(".html", b"<h1>A</h1><p>text</p>").markdown


def test_a_refused_document_is_no_reason_to_start_again(reader: Reader) -> None:
    with pytest.raises(Refused, match="broken"):
        reader.read(".pdf", b"%PDF-1.7\n")
    assert reader.read(".pdf", pdf("Text.")).breaks == (0,)


@pytest.fixture(scope="module")
def heavy() -> bytes:
    return heavy_word()


def test_a_document_that_takes_too_long_is_given_up(heavy: bytes) -> None:
    with closing(create_reader(ReadingLimits(seconds=0.5))) as reader:
        with pytest.raises(Refused, match=r"over a limit \(reading it took over 0.5 s\)"):
            reader.read(".docx", heavy)
        assert reader.read(".pdf", pdf("Text.")).breaks == (0,)


def test_a_document_that_needs_too_much_memory_is_given_up(heavy: bytes) -> None:
    with closing(create_reader(ReadingLimits(megabytes=256))) as reader:
        with pytest.raises(Refused, match=r"over a limit \(reading it needs over 256 MB\)"):
            reader.read(".docx", heavy)
        assert reader.read(".pdf", pdf("Text.")).breaks == (0,)


def test_closing_does_not_wait_for_a_document(heavy: bytes) -> None:
    with ThreadPoolExecutor() as pool, closing(create_reader()) as reader:
        reader.read(".pdf", pdf("Text."))
        ended = pool.submit(reader.read, ".docx", heavy)
        while not ended.done():  # it may not have begun at the first time
            reader.close()
        with pytest.raises(Refused):
            ended.result()


def children() -> list[int]:
    """The processes that this one started and that still run."""
    lists = Path("/proc/self/task").glob("*/children")
    return [int(pid) for file in lists for pid in file.read_text().split()]


@pytest.mark.skipif(sys.platform != "linux", reason="looks for processes in /proc")
def test_a_process_that_dies_is_replaced() -> None:
    others = children()
    with closing(create_reader()) as reader:
        reader.read(".pdf", pdf("Text."))
        (pid,) = set(children()) - set(others)
        os.kill(pid, signal.SIGKILL)
        with suppress(Refused):
            reader.read(".pdf", pdf("Text."))  # unless it was seen to be gone
        assert reader.read(".pdf", pdf("Text.")).breaks == (0,)
        assert pid not in children()
    assert set(children()) <= set(others)


def test_streams_that_unpack_without_end_stay_within_the_memory(reader: Reader) -> None:
    """Four filters, one in another."""
    bomb = b" " * 100_000_000
    for _ in range(3):
        bomb = zlib.compress(bomb, 9)
    plain = pdf("First.", "Second.")
    start = plain.rindex(b"stream\n", 0, plain.rindex(b"endstream")) + 7
    end = plain.index(b"\nendstream", start)
    data = plain[:start] + bomb + plain[end:]
    data = data.replace(
        b"/Filter /FlateDecode", b"/Filter [/FlateDecode /FlateDecode /FlateDecode]"
    )
    data = data.replace(f"/Length {end - start}".encode(), f"/Length {len(bomb)}".encode())
    with suppress(Refused):
        assert len(reader.read(".pdf", data).markdown) < 1000
    assert reader.read(".pdf", pdf("Text.")).breaks == (0,)


@pytest.mark.skipif(sys.platform != "linux", reason="looks for processes in /proc")
def test_the_process_knows_no_secrets_of_this_one() -> None:
    others = children()
    with closing(create_reader()) as reader:
        reader.read(".pdf", pdf("Text."))
        (pid,) = set(children()) - set(others)
        assert Path(f"/proc/{pid}/environ").read_bytes() == b""
