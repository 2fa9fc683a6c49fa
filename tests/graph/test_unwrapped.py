"""Line breaks that only kept a file narrow are not shown by messengers; the others are kept."""

from __future__ import annotations

import pytest
from answering import passage, ranked, view_of

from graph.blocks import blocks, join, unwrapped
from graph.extract import extract
from graph.model import QueryType

LONG = "PgBouncer follows the leader by itself, and waybill-api reconnects within 30 seconds;"


@pytest.mark.parametrize(
    ("written", "shown"),
    [
        (f"{LONG}\nerrors must stop.", f"{LONG} errors must stop."),
        (f"4. {LONG}\n   errors must stop.", f"4. {LONG} errors must stop."),
        (f"- {LONG}\n{LONG}\nthen stop.", f"- {LONG} {LONG} then stop."),
        (f"- один\n- {'слово ' * 12}\n  два", f"- один\n- {'слово ' * 11}слово два"),
    ],
)
def test_wrapped_prose_is_one_line(written: str, shown: str) -> None:
    assert join(unwrapped(blocks(written))) == shown


@pytest.mark.parametrize(
    "text",
    [
        "Host: db-1\nPort: 5432",
        f"{LONG}  \nthe next line",
        f"{LONG}\\\nthe next line",
        f"> {LONG}\n> and more",
        f"```\n{LONG}\nsecond line\n```",
        f"- run:\n\n  ```\n  {LONG}\n  second\n  ```",
        f"    {LONG}\n    indented code",
        f"| {LONG} | b |\n|---|---|\n| 1 | 2 |",
        f"# {LONG}\nbelow a heading",
        f"{LONG}\n\n{LONG}",
        f"{LONG}\n- an item\n- another",
        "",
    ],
)
def test_line_breaks_that_mean_something_stay(text: str) -> None:
    assert join(unwrapped(blocks(text))) == text


def test_a_quotation_of_a_wrapped_page_is_not_wrapped() -> None:
    page = f"To fail over:\n\n1. Choose a replica.\n2. {LONG}\n   errors must stop after that.\n"
    given = ranked(passage(page))
    text = extract(view_of("how do I fail over?"), given, QueryType.FACTUAL)
    assert f"2. {LONG} errors must stop after that." in text


def test_a_sentence_that_begins_in_the_middle_of_a_line_is_not_wrapped() -> None:
    page = "One person of the team is on call at a time. A shift lasts one week and changes\n"
    page += "on Monday at 10:00 Tallinn time.\n"
    text = extract(view_of("when does a shift change?"), ranked(passage(page)), QueryType.FACTUAL)
    assert "A shift lasts one week and changes on Monday at 10:00 Tallinn time. [1]" in text
