"""PDF: the text of each page under the page's number, and what could not be read."""

from __future__ import annotations

import io
import zlib
from contextlib import closing

import pytest
from document_kit import Paper, cut, pdf, told
from pypdf import PdfReader, PdfWriter

from adapters.documents import create_reader
from adapters.documents.pdf import convert
from adapters.documents.pdf_lines import Line, Sheet
from adapters.documents.pdf_lines import joined as join_words
from bot.ingest.reader import ReadingLimits, Refused

LIMITS = ReadingLimits()


def read(data: bytes) -> str:
    return convert(data, LIMITS).markdown


def test_pages_without_headings_are_the_sections() -> None:
    found = cut(convert(pdf("Drain for 90 seconds.", "Call the desk at 4455."), LIMITS))
    assert [(chunk.heading, chunk.anchor) for chunk in found] == [
        (("Page 1",), "page=1"),
        (("Page 2",), "page=2"),
    ]
    assert "4455" in found[1].text


def test_larger_lines_are_headings_and_each_chunk_stays_on_its_page() -> None:
    def first(paper: Paper) -> None:
        paper.title_line("Restart")
        paper.text_block("Stop the queue and wait until it is empty. " * 12)

    def second(paper: Paper) -> None:
        paper.text_block("Then start the gateway again. " * 12)
        paper.title_line("Contacts")
        paper.text_block("The desk answers at 4455. " * 12)

    found = cut(convert(pdf(first, second), LIMITS))
    assert [(chunk.heading[:1], chunk.anchor) for chunk in found] == [
        (("Restart",), "page=1"),
        (("Restart",), "page=2"),
        (("Contacts",), "page=2"),
    ]


def test_a_heading_at_the_foot_of_a_page_belongs_to_the_next_one() -> None:
    def first(paper: Paper) -> None:
        paper.title_line("Overview")
        paper.text_block("What the gateway is for. " * 20)
        paper.title_line("Contacts")

    found = cut(convert(pdf(first, "The desk answers at 4455. " * 20), LIMITS))
    assert [chunk.anchor for chunk in found if "4455" in chunk.text] == ["page=2"]
    assert "# Contacts" in next(chunk.text for chunk in found if "4455" in chunk.text)


def test_bookmarks_are_headings_where_the_sizes_say_nothing() -> None:
    paper = Paper()
    for title, text in (("Restart", "Drain first."), ("Contacts", "Call 4455.")):
        paper.add_page()
        paper.start_section(title)
        paper.text_block(f"{title}\n{text}")
    found = cut(convert(paper.bytes(), LIMITS))
    assert [chunk.heading for chunk in found] == [("Restart",), ("Contacts",)]


def test_a_page_full_of_large_text_has_no_headings() -> None:
    def slide(paper: Paper) -> None:
        for size in (12, 20, 12, 21):
            paper.set_font("Helvetica", size=size)
            paper.cell(0, 12, f"Line set in {size}")
            paper.ln(14)

    assert [chunk.heading for chunk in cut(convert(pdf(slide, slide), LIMITS))] == [
        ("Page 1",),
        ("Page 2",),
    ]


def test_in_10_scanned_pages_are_named_one_by_one() -> None:
    """IN-10: a page that is a picture is told, and the others are read."""
    paper = pdf("One.", Paper.picture, "Three.", Paper.picture, Paper.picture, "Six.")
    converted = convert(paper, LIMITS)
    assert told(converted) == ["pages 2, 4-5: no text layer (a scan or a picture?)"]
    assert [chunk.anchor for chunk in cut(converted)] == ["page=1", "page=3", "page=6"]


@pytest.mark.parametrize(
    ("above", "below", "joined"),
    [
        ("the fail-", "ing gateway", "the failing gateway"),
        ("Переза-", "пуск шлюза", "Перезапуск шлюза"),
        ("use --dry-", "run first", "use --dry- run first"),
        ("host db-", "02 is the replica", "host db- 02 is the replica"),
        ("a fail-", "over. The fail-over is manual", "a fail-over. The fail-over is manual"),
    ],
)
def test_words_cut_at_a_line_end_are_joined(above: str, below: str, joined: str) -> None:
    sheet = Sheet(1, (Line(above, 11.0), Line(below, 11.0)))
    text = " ".join(line.text for line in join_words([sheet])[0].lines)
    assert text == joined


def test_a_sentence_over_two_pages_stays_whole_on_the_first() -> None:
    first = "Before the restart you must drain the gateway for"
    found = cut(convert(pdf(first, "ninety seconds at least. Then restart it."), LIMITS))
    assert "ninety seconds" in found[0].text
    assert found[0].anchor == "page=1"


def test_running_headers_and_page_numbers_go_and_numbered_headings_stay() -> None:
    paper = Paper()
    for number in range(1, 6):
        paper.add_page()
        paper.set_font("Helvetica", size=9)
        paper.cell(0, 6, "ACME confidential")
        paper.ln(8)
        paper.title_line(f"Step {number}")
        paper.text_block(f"Do thing {'abcdef'[number]} of the plan.")
        paper.set_font("Helvetica", size=9)
        paper.cell(0, 6, f"Page {number} of 5")
    text = read(paper.bytes())
    assert "ACME" not in text
    assert "of 5" not in text
    assert [f"# Step {number}" in text for number in range(1, 6)] == [True] * 5
    assert "Do thing f" in text


def test_what_is_set_as_code_is_a_fence_and_text_is_never_markup() -> None:
    def page(paper: Paper) -> None:
        paper.text_block("Run this:")
        paper.listing("# drain first\ngwctl drain --for 90s\ngwctl restart")
        paper.text_block("# not a heading\n----\n> not a quote\n| no | table |")

    text = read(pdf(page))
    assert "```\n# drain first\ngwctl drain --for 90s\ngwctl restart\n```" in text
    for line in ("\\# not a heading", "\\> not a quote", "\\| no | table |"):
        assert line in text
    assert "----" not in text


def test_an_encrypted_file_is_told_and_one_without_a_password_is_read() -> None:
    def encrypted(password: str) -> bytes:
        paper = Paper()
        paper.set_encryption(owner_password="owner", user_password=password)
        paper.add_page()
        paper.text_block("Drain for 90 seconds.")
        return paper.bytes()

    assert "90 seconds" in read(encrypted(""))
    with pytest.raises(Refused, match=r"encrypted.*without a password"):
        read(encrypted("secret"))


def test_more_pages_than_allowed_are_told() -> None:
    few = ReadingLimits(pages=3)
    converted = convert(pdf(*[f"Text of page {n}." for n in range(1, 11)]), few)
    assert told(converted) == ["pages 4 to 10 were not read, limit 3"]
    assert converted.anchors[-1][1] == "page=3"


def test_a_stream_that_unpacks_without_end_costs_its_page() -> None:
    """A content stream of 300 MB of blanks."""
    plain = pdf("First page.", "Second page.")
    start = plain.rindex(b"stream\n", 0, plain.rindex(b"endstream")) + 7
    end = plain.index(b"\nendstream", start)
    bomb = zlib.compress(b" " * 300_000_000, 9)
    data = plain[:start] + bomb + plain[end:]
    data = data.replace(f"/Length {end - start}".encode(), f"/Length {len(bomb)}".encode())
    try:
        converted = convert(data, LIMITS)
    except Refused:
        return
    assert len(converted.markdown) < 1000


@pytest.mark.parametrize(
    "data", [b"%PDF-1.7\n", b"%PDF-1.4\n1 0 obj\n<<>>\nendobj\n%%EOF", b"%PDF-" + bytes(4000)]
)
def test_a_broken_file_is_refused(data: bytes) -> None:
    with pytest.raises(Refused):
        convert(data, LIMITS)


def test_ten_thousand_pages_cost_their_limit_and_no_more() -> None:
    """Read by the process with its limits: the first pages are kept, the others are told."""
    page = PdfReader(io.BytesIO(pdf("The alarm of this page."))).pages[0]
    writer, stream = PdfWriter(), io.BytesIO()
    for _ in range(10_000):
        writer.add_page(page)
    writer.write(stream)
    with closing(create_reader(ReadingLimits(pages=200, megabytes=512))) as reader:
        converted = reader.read(".pdf", stream.getvalue())
    assert len(converted.anchors) == 200
    assert told(converted) == ["pages 201 to 10000 were not read, limit 200"]
