"""HTML and footnotes inside Markdown: what a reader sees on the page can be found and quoted."""

import pytest

from adapters.documents import create
from bot.ingest.chunk import ChunkLimits, ChunkText, chunks
from bot.ingest.footnotes import with_footnotes
from bot.ingest.html_blocks import plain_blocks
from bot.ingest.parse import parse
from graph.units import Shape, units


def cut(text: str) -> list[ChunkText]:
    return chunks(parse("a.md", text, create()).outline, ChunkLimits())


def test_a_row_of_an_html_table_is_quoted_with_its_columns() -> None:
    table = (
        "<table>\n<tr><th>service</th><th>port</th></tr>\n"
        "<tr><td>billing</td><td>8081<br>8443</td></tr>\n</table>"
    )
    (chunk,) = cut(f"# Ports\n\n{table}\n\nAsk `net-team`.")
    rows = [unit for unit in units(chunk.text) if unit.shape is Shape.ROW]
    assert [(row.columns, row.cells) for row in rows] == [
        (("service", "port"), ("billing", "8081 8443"))
    ]


def test_sections_behind_an_html_table_know_their_line_on_disk() -> None:
    table = "<table><tr><th>a</th><th>b</th></tr><tr><td>1</td><td>2</td></tr></table>"
    text = f"# Top\n{table}\n\n# Next\nWords."
    assert [chunk.lines for chunk in cut(text)] == [(1, 2), (4, 5)]


def test_a_table_in_a_list_stays_in_its_item() -> None:
    text = "- Hosts:\n  <table>\n  <tr><td>db</td><td>7</td></tr>\n  </table>\n- Then stop."
    (chunk,) = cut(text)
    assert "\n  | db | 7 |\n" in chunk.text
    assert chunk.text.endswith("- Then stop.")


def test_a_listing_keeps_its_lines_and_what_a_reader_fills_in() -> None:
    (chunk,) = cut("<pre>\nkubectl drain <node>\n  # wait\n</pre>\n")
    assert chunk.text == "```\nkubectl drain <node>\n  # wait\n```"


@pytest.mark.parametrize(
    "text",
    [
        "```html\n<table><tr><td>code</td></tr></table>\n```",
        "<table>\n<tr><td>\n\n```sh\nls\n```\n\n</td></tr>\n</table>",
        "<table> is the tag of a table.",
        "<table><tr><td>a</td></tr></table> and words behind it",
        "```html\n<h2>Head</h2>\n```",
        "<h2></h2>",
    ],
)
def test_code_and_what_is_no_block_of_html_stay(text: str) -> None:
    assert plain_blocks(text, lambda _: "converted") == (text, ())


def test_an_html_heading_opens_a_section() -> None:
    found = cut('# Top\nWords.\n\n<h2 align="center"><b>Restart</b> it</h2>\n\n' + "Go on. " * 200)
    assert found[-1].heading == ("Top", "Restart it")


def test_html_that_is_never_closed_is_read_in_time() -> None:
    text = "<table>\n" * 60_000
    assert plain_blocks(text, lambda _: "converted") == (text, ())


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("Limit: 40 GB.[^1]\n\n[^1]: 60 GB since June.", "Limit: 40 GB (60 GB since June).\n\n"),
        ("a[^n] b\n\n[^n]: One. Two\n  three.", "a (One; Two three) b\n\n\n"),
        ("| a[^x] |\n|---|\n| b |\n\n[^x]: c", "| a (c) |\n|---|\n| b |\n\n"),
        ("`a[^1]` b\n\n[^1]: c", "`a[^1]` b\n\n[^1]: c"),
        ("```\na[^1]\n```\n\n[^1]: c", "```\na[^1]\n```\n\n[^1]: c"),
        ("a[^1]", "a[^1]"),
        ("a[^1]\n\n[^1]: b\n\n    more", "a[^1]\n\n[^1]: b\n\n    more"),
        ("a[^1]\n\n[^1]: b\n[^1]: c", "a[^1]\n\n[^1]: b\n[^1]: c"),
        ("a[^1]\n\n[^1]: see[^1]", "a[^1]\n\n[^1]: see[^1]"),
        (f"a[^1]\n\n[^1]: {'b' * 301}", f"a[^1]\n\n[^1]: {'b' * 301}"),
    ],
)
def test_a_footnote_is_read_where_it_belongs(written: str, read: str) -> None:
    assert with_footnotes(written) == read
