"""Long answers as several messages: nothing lost, nothing twice, each part whole Markdown."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from bot.split import split


def at_most(size: int) -> Callable[[str], bool]:
    return lambda text: len(text) <= size


def words(markdown: str) -> list[str]:
    """What a reader reads, without Markdown's marks, in order."""
    parser = MarkdownIt("commonmark", {"html": False}).enable(["table", "strikethrough"])
    found: list[str] = []
    for token in parser.parse(markdown):
        if token.children:
            found += "".join(child.content or " " for child in token.children).split()
        else:
            found += token.content.split()
    return found


def test_tg_01_a_long_script_is_cut_between_lines_with_its_fence_reopened() -> None:
    script = [f'systemctl restart "node-{at:03}" && sleep {at % 7}  # step' for at in range(120)]
    markdown = (
        "Run this on the bastion. It takes ten minutes.\n\n```bash\n"
        + "\n".join(script)
        + "\n```\n\nSource: [1]"
    )
    parts = split(markdown, at_most(4096))
    assert len(parts) == 2
    assert all(len(part) <= 4096 and part.count("```") == 2 for part in parts)
    assert parts[0].startswith("Run this on the bastion.")
    assert parts[-1].endswith("\n```\n\nSource: [1]")
    code = [re.findall(r"```bash\n(.*?)\n```", part, re.DOTALL) for part in parts]
    assert "\n".join(text for found in code for text in found).split("\n") == script


@pytest.mark.parametrize("fence", ["~~~", "````", "``` "])
def test_tg_01_other_fences_are_closed_by_their_own_marks(fence: str) -> None:
    inside = ["```", "x"] * 10 if fence == "````" else ["echo hello"] * 10
    markdown = f"{fence}sh\n" + "\n".join(inside) + f"\n{fence.strip()}"
    parts = split(markdown, at_most(60))
    assert all(part.startswith(fence + "sh\n") for part in parts)
    assert all(part.endswith(fence.strip()) for part in parts)
    lines = [line for part in parts for line in part.split("\n")[1:-1]]
    assert lines == inside


def test_a_fence_that_was_never_closed_keeps_every_line() -> None:
    parts = split("```\n" + "\n".join(f"line {at}" for at in range(30)), at_most(80))
    assert [word for part in parts for word in words(part)] == [
        word for at in range(30) for word in ("line", str(at))
    ]


def test_what_fits_is_left_as_it_is() -> None:
    text = "# Head\n\n- a\n- b\n\n\ntext  \nmore"
    assert split(text, at_most(100)) == [text]
    assert split(" \n\n ", at_most(100)) == []


def test_cuts_are_between_blocks_where_possible() -> None:
    blocks = [
        "First paragraph, short.",
        "- one\n- two",
        "```\ncode\n```",
        "The very last one here.",
    ]
    assert split("\n\n".join(blocks), at_most(24)) == blocks


def test_a_title_stays_with_what_it_is_the_title_of() -> None:
    parts = split("text " * 4 + "\n\n## Steps\n\n" + "- do it now\n" * 4, at_most(60))
    assert parts[0].strip() == ("text " * 4).strip()
    assert parts[1].startswith("## Steps\n\n- do it now")


def test_the_list_of_sources_goes_last_and_together() -> None:
    sources = "**Sources**\n\n- [1] Runbook — a.md:1\n- [2] Guide — b.md:7"
    parts = split("word " * 30 + "\n\n" + sources, at_most(100))
    assert parts[-1].endswith(sources)


def test_tables_repeat_their_header() -> None:
    head = "| service | owner |\n|---|---|"
    rows = [f"| svc-{at} | team {at} |" for at in range(20)]
    parts = split("\n".join([head, *rows]), at_most(120))
    assert len(parts) > 1
    assert all(part.startswith(head + "\n") for part in parts)
    assert [row for part in parts for row in part.split("\n")[2:]] == rows


def test_numbering_goes_on_even_if_the_source_counts_one_one_one() -> None:
    parts = split("\n".join(f"1. step {at}" for at in range(1, 13)), at_most(40))
    firsts = [part.split("\n")[0] for part in parts]
    assert all(re.fullmatch(r"(\d+)\. step \1", first) for first in firsts)
    assert sum(len(part.split("\n")) for part in parts) == 12


def test_bold_text_is_closed_and_opened_again() -> None:
    parts = split("**" + "very important " * 6 + "end**", at_most(40))
    assert all(part.startswith("**") and part.endswith("**") for part in parts)
    assert all(part.count("**") == 2 for part in parts)


def test_a_cut_does_not_make_a_list_or_heading_of_prose() -> None:
    text = "take the value and subtract - 3 from it # then 1. go on with it + more of it"
    for size in range(12, 60):
        parts = split(text, at_most(size))
        assert " ".join(" ".join(words(part)) for part in parts) == text


def test_emoji_and_flags_stay_whole() -> None:
    signs = ["👩‍👩‍👧‍👦", "🇩🇪", "👍🏽", "é", "❤️"]
    for size in range(11, 16):
        parts = split("".join(signs * 8), at_most(size))
        assert "".join(parts) == "".join(signs * 8)
        for part in parts:
            rest = part
            for sign in sorted(signs, key=len, reverse=True):
                rest = rest.replace(sign, "")
            assert rest == ""


def test_nothing_fits_and_it_still_ends() -> None:
    assert split("abc", lambda _: False) == ["a", "b", "c"]


def test_a_letter_under_a_heap_of_accents_does_not_burst_a_part() -> None:
    heap = "e" + "\u0301" * 200
    parts = split(f"one {heap} two", at_most(50))
    assert all(len(part) <= 50 for part in parts)
    assert "".join(parts).replace(" ", "") == f"one{heap}two"


@pytest.mark.parametrize("deep", ["> " * 500 + "end", "- " * 400 + "end"])
def test_absurd_nesting_is_text(deep: str) -> None:
    parts = split(deep, at_most(100))
    assert re.sub(r"[^a-z]", "", "".join(parts)) == "end"
    assert all(len(part) <= 100 for part in parts)


WORD = st.text("abcdeжзи😀🇫", min_size=1, max_size=9)
PROSE = st.lists(WORD, min_size=1, max_size=25).map(" ".join)
ITEMS = st.lists(PROSE, min_size=1, max_size=6)
BLOCK = st.one_of(
    PROSE,
    st.lists(PROSE, min_size=1, max_size=3).map("\n".join),
    ITEMS.map(lambda items: "\n".join(f"- {item}" for item in items)),
    ITEMS.map(lambda items: "\n".join(f"{at}. {item}" for at, item in enumerate(items, 3))),
    ITEMS.map(lambda items: "\n".join(["- outer", *(f"  - {item}" for item in items)])),
    ITEMS.map(lambda lines: "\n".join(["```sh", *lines, "```"])),
    ITEMS.map(lambda lines: "\n".join(f"> {line}" for line in lines)),
    PROSE.map(lambda text: f"## {text}"),
    PROSE.map(lambda text: f"**{text}**"),
)


@settings(max_examples=150, deadline=None)
@given(st.lists(BLOCK, min_size=1, max_size=6).map("\n\n".join), st.integers(30, 200))
def test_nothing_is_lost_or_repeated(markdown: str, size: int) -> None:
    parts = split(markdown, at_most(size))
    assert "".join("".join(words(part)) for part in parts) == "".join(words(markdown))
    assert all(len(part) <= size and part.strip() for part in parts)


@settings(max_examples=200, deadline=None)
@given(st.text("ab \n*_`#->|1.[]()~\\😀", max_size=300), st.integers(8, 120))
def test_any_text_comes_out_in_parts_that_fit(markdown: str, size: int) -> None:
    parts = split(markdown, at_most(size))
    assert all(part.strip() and len(part) <= size for part in parts)
    letters = re.sub(r"[^ab😀]", "", markdown)
    assert len(re.sub(r"[^ab😀]", "", "".join(parts))) >= len(letters)
