"""Documents as others write them: PDF by fpdf2, Word by python-docx, Excel by xlsxwriter."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import docx
import xlsxwriter
from fpdf import FPDF

from bot.ingest.chunk import ChunkLimits, ChunkText, chunks
from bot.ingest.parse import Converted, parse_converted


class Paper(FPDF):
    """A PDF with the helpers that a report writer has."""

    def title_line(self, text: str) -> None:
        self.set_font("Helvetica", "B", 16)
        self.cell(0, 10, text)
        self.ln(12)

    def text_block(self, text: str) -> None:
        self.set_font("Helvetica", size=11)
        self.multi_cell(0, 6, text)
        self.ln(4)

    def listing(self, text: str) -> None:
        self.set_font("Courier", size=10)
        self.multi_cell(0, 6, text)
        self.ln(4)

    def picture(self) -> None:
        self.rect(20, 20, 120, 160)

    def bytes(self) -> bytes:
        return bytes(self.output())


def pdf(*pages: Callable[[Paper], None] | str) -> bytes:
    """One page for each text or drawing."""
    paper = Paper()
    for page in pages:
        paper.add_page()
        if isinstance(page, str):
            paper.text_block(page)
        else:
            page(paper)
    return paper.bytes()


def word(write: Callable[[Any], None]) -> bytes:
    document = docx.Document()
    write(document)
    stream = io.BytesIO()
    document.save(stream)
    return stream.getvalue()


def excel(write: Callable[[Any], None]) -> bytes:
    stream = io.BytesIO()
    book = xlsxwriter.Workbook(stream)
    write(book)
    book.close()
    return stream.getvalue()


def sheet(book: Any, name: str, rows: Sequence[Sequence[Any]]) -> Any:
    made = book.add_worksheet(name)
    for number, row in enumerate(rows):
        made.write_row(number, 0, row)
    return made


def packed(files: Mapping[str, str | bytes]) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return stream.getvalue()


def repacked(package: bytes, **parts: bytes) -> bytes:
    """A document with some of its parts replaced; `word__document__xml` is word/document.xml."""
    named = {name.replace("__", "/").replace("/xml", ".xml"): part for name, part in parts.items()}
    return added(package, named)


def added(package: bytes, named: Mapping[str, bytes]) -> bytes:
    with zipfile.ZipFile(io.BytesIO(package)) as archive:
        files = {name: archive.read(name) for name in archive.namelist()}
    return packed({**files, **named})


def part(package: bytes, name: str) -> bytes:
    with zipfile.ZipFile(io.BytesIO(package)) as archive:
        return archive.read(name)


def heavy_word() -> bytes:
    """A Word document of 100,000 paragraphs: seconds and hundreds of megabytes for its parser."""
    data = word(lambda document: document.add_paragraph("Text."))
    paragraphs = "".join(f"<w:p><w:r><w:t>{n}</w:t></w:r></w:p>" for n in range(100_000))
    body = part(data, "word/document.xml")
    full = body.replace(b"<w:sectPr", paragraphs.encode() + b"<w:sectPr", 1)
    return repacked(data, word__document__xml=full)


def cut(converted: Converted) -> list[ChunkText]:
    return chunks(parse_converted(converted, converted.markdown).outline, ChunkLimits())


def told(converted: Converted) -> list[str]:
    return [issue.message for issue in converted.issues]
