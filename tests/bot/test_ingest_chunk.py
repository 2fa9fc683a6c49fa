"""Chunks of Markdown: whole fences, whole rows, right lines, nothing lost."""

import json
import re
from itertools import pairwise

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.ingest.chunk import ChunkLimits, ChunkText, chunks
from bot.ingest.frontmatter import read
from bot.ingest.markdown import without_comments
from bot.ingest.parse import parse
from bot.ingest.sections import outline
from graph.text import has_words

LIMITS = ChunkLimits()
WORDS = "restart the gateway and then check that queues drain before the node is taken back "


def cut(text: str, path: str = "runbook.md") -> list[ChunkText]:
    about = read(text)
    return chunks(parse(path, text, {}, about.first_line).outline, LIMITS)


def paragraph(size: int) -> str:
    return (WORDS * (size // len(WORDS) + 1))[:size]


def test_a_comment_in_a_fence_is_no_heading() -> None:
    """IN-01"""
    text = (
        "# Restart\nPre-check first.\n```bash\n# stop workers\nsystemctl stop w\n~~~\n"
        "# still code\n```\n# Next\nEnd."
    )
    first, second = cut(text)
    assert first.heading == ("Restart",)
    assert first.text == "\n".join(text.split("\n")[:8])
    assert second.heading == ("Next",)


@pytest.mark.parametrize(
    "fence",
    [
        "~~~\n# not a heading\n```\n# nor this\n~~~",
        "````md\n```\n# inner\n```\n````",
        "- step:\n\n  ```\n  # in a list\n  ```",
        "> ```\n> # in a quotation\n> ```",
        "    # indented code",
        "```\n# never closed",
    ],
)
def test_headings_inside_code_are_no_headings(fence: str) -> None:
    """IN-01: other fences of the same kind."""
    (chunk,) = cut(f"## Steps\n\n{fence}\n")
    assert chunk.heading == ("Steps",)
    assert fence in chunk.text


def test_setext_headings_and_nested_paths() -> None:
    body = paragraph(900)
    text = f"Guide\n=====\n{body}\n\nStop\n----\n{body}\n\n### Now\n{body}"
    assert [chunk.heading for chunk in cut(text)] == [
        ("Guide",),
        ("Guide", "Stop"),
        ("Guide", "Stop", "Now"),
    ]


def test_markup_in_headings_is_not_shown() -> None:
    (chunk,) = cut("## **Stop** `pay_gw` [now](x.md) {#stop}\ntext")
    assert chunk.heading == ("Stop pay_gw now",)


def test_short_sections_share_a_chunk_that_names_them() -> None:
    (chunk,) = cut("# Gateway\n\n## Meaning\nDown.\n\n## Impact\nNo payments.\n")
    assert chunk.head == ("Gateway",)
    assert chunk.heading == ("Gateway", "Meaning · Impact")


def table(rows: int) -> str:
    head = "| service | prod port | staging port | owner |\n|---|---|---|---|\n"
    return head + "\n".join(
        f"| service-{n} | {8000 + n} | {9000 + n} | team {n} of the platform |" for n in range(rows)
    )


def test_each_piece_of_a_long_table_has_its_header() -> None:
    """IN-02"""
    pieces = cut(f"# Ports\n\nPorts of all services:\n\n{table(90)}\n\nAfter.")
    rows = [chunk for chunk in pieces if "| service-" in chunk.text]
    assert len(rows) > 2
    for chunk in rows:
        assert "| service | prod port | staging port | owner |\n|---|---|---|---|" in chunk.text
        assert "Ports of all services:" in chunk.text
        assert chunk.heading == ("Ports",)
        assert all(line.startswith("|") == line.endswith("|") for line in chunk.text.split("\n"))
    (hit,) = [chunk for chunk in rows if "| service-83 |" in chunk.text]
    assert "| service-83 | 8083 | 9083 |" in hit.text


def test_a_table_of_usual_size_is_not_cut() -> None:
    """IN-02"""
    whole = table(40)
    assert LIMITS.target < len(whole) < LIMITS.hard
    assert any(whole in chunk.text for chunk in cut(f"# Ports\n\n{paragraph(900)}\n\n{whole}\n"))


def test_each_piece_of_a_long_fence_is_a_fence() -> None:
    body = "\n".join(f"kubectl delete pod worker-{n} --namespace payments" for n in range(120))
    pieces = cut(f"# Clean\n\n```bash\n{body}\n```\n")
    assert len(pieces) > 2
    for chunk in pieces:
        code = chunk.text.removeprefix("# Clean\n\n")
        assert code.startswith("```bash\n")
        assert code.endswith("\n```")


def test_a_fence_in_a_long_list_is_not_cut() -> None:
    code = "  ```\n" + "\n".join(f"  step {n} of the plan" for n in range(60)) + "\n  ```"
    items = "\n".join(f"- {paragraph(300)}\n\n{code}" for _ in range(4))
    assert sum(chunk.text.count(code) for chunk in cut(f"# Plan\n\n{items}\n")) == 4


def test_list_items_are_not_cut() -> None:
    items = [f"- item {n}: {paragraph(250)}" for n in range(30)]
    pieces = cut("# List\n\n" + "\n".join(items))
    assert all(sum(item in chunk.text for chunk in pieces) == 1 for item in items)


def test_overlap_is_prose_only() -> None:
    lines = [f"Line {n} of the story about the outage in the hall of the north." for n in range(80)]
    text = "# Story\n\n" + "\n\n".join("\n".join(lines[n : n + 4]) for n in range(0, 80, 4))
    pieces = cut(text)
    for before, after in pairwise(pieces):
        assert after.text.split("\n")[0] in before.text
    fences = "# Code\n\n" + "\n\n".join(f"```\n{paragraph(600)} {n}\n```" for n in range(8))
    joined = "\n".join(chunk.text for chunk in cut(fences))
    assert all(joined.count(f" {n}\n```") == 1 for n in range(8))


def test_line_numbers_are_those_on_disk() -> None:
    """IN-08: front matter and comments count too."""
    text = f"---\ntitle: x\n---\n<!-- a\ncomment -->\n\n# One\n{paragraph(900)}\n\n# Two\nshort\n"
    lines = text.split("\n")
    for chunk in cut(text):
        first, last = chunk.lines
        assert "\n".join(lines[first - 1 : last]) == chunk.text


def test_comments_and_shortcodes_go_but_not_inside_code() -> None:
    text = (
        'Before <!-- hidden\nwords --> after {{< alert level="info" >}}\n\n'
        '[disk]({{< ref "./Disk.md" >}}) `<!-- kept -->` `{{< kept >}}`\n\n'
        "```\n<!-- kept too -->\n{{< and this >}}\n```\n"
    )
    stripped = without_comments(text)
    assert "hidden" not in stripped
    assert "alert" not in stripped
    assert "[disk](./Disk.md) `<!-- kept -->` `{{< kept >}}`" in stripped
    assert "```\n<!-- kept too -->\n{{< and this >}}\n```" in stripped
    assert stripped.count("\n") == text.count("\n")


def test_an_unclosed_comment_is_text() -> None:
    assert "words" in without_comments("a <!-- words\n\n# H\n")


@pytest.mark.parametrize(
    "text", ["# A\n\n\n# B\ntext", "# A\n\n# B\n\n# C\ntext", "\u200b\n\n***\n\n# A\ntext\n\n---\n"]
)
def test_blank_chunks_are_dropped_and_empty_headings_stay(text: str) -> None:
    """IN-19"""
    found = cut(text)
    assert all(has_words(chunk.text) for chunk in found)
    assert "# A" in found[0].text
    assert "text" in found[0].text


def test_nothing_but_marks_gives_no_chunk() -> None:
    """IN-19"""
    assert cut("\u200b\n") == cut("***\n\n---\n") == cut("") == []


@pytest.mark.parametrize(
    ("text", "stub"),
    [
        ("# Disk full\n\n## Mitigation\nTODO\n", True),
        ("# Disk full\n\nTBD", True),
        ("# Disk full\n\n## Meaning\n" + paragraph(400) + "\n\n## Mitigation\n\n", True),
        ("# Disk full\n\nSee wiki.", True),
        ("# Диск\n\n## Что делать\nДописать позже.\n\n## Смысл\n" + paragraph(400), True),
        ("# Disk full\n\n## Meaning\n" + paragraph(400), False),
        ("# Disk full\n\n" + paragraph(600) + " Grep the log for TODO.", False),
    ],
)
def test_stub_sections_are_flagged(text: str, stub: bool) -> None:
    assert any(chunk.stub for chunk in cut(text)) == stub


def test_language_by_prose_not_by_code() -> None:
    (chunk,) = cut("# Перезапуск\n\n```\nkubectl rollout restart deployment gateway\n```\nготово")
    assert chunk.language == "ru"


@pytest.mark.parametrize("path", ["dump.json", "log.txt", "page.md", "README"])
def test_one_endless_line_is_cut_by_characters(path: str) -> None:
    """IN-17: no blank to cut at, and still every character is in a chunk of bounded size."""
    line = "0123456789abcdef" * 25_000
    found = cut(line, path)
    assert max(len(chunk.text) for chunk in found) <= LIMITS.hard
    assert sum(chunk.text.count("0123456789abcdef") for chunk in found) > 24_000
    assert {chunk.lines for chunk in found} == {(1, 1)}


def test_a_long_paragraph_on_one_line_is_cut_between_sentences() -> None:
    said = [
        f"Never restart node {n} by hand, e.g. at night, without a word to team {n}."
        for n in range(200)
    ]
    found = cut("# Rules\n\n" + " ".join(said), "rules.md")
    assert len(found) > 3
    assert all(sum(sentence in chunk.text for chunk in found) == 1 for sentence in said)


@pytest.mark.parametrize("blank", ["", " "])
def test_no_record_of_one_line_is_cut(blank: str) -> None:
    """A port under the name of another host would be a wrong answer."""
    pairs = [
        f'"host-{n}":{blank}{{"port":{blank}{8000 + n},{blank}"rack":{blank}{n}}}'
        for n in range(300)
    ]
    found = cut("{" + f",{blank}".join(pairs) + "}", "hosts.json")
    assert len(found) > 3
    assert all(sum(pair in chunk.text for chunk in found) == 1 for pair in pairs)


def test_deep_nesting_is_cut_in_time() -> None:
    text = "\n".join(" " * (n % 900) + f"key{n}:" for n in range(2000))
    found = cut(text, "deep.yaml")
    assert max(len(chunk.text) for chunk in found) <= LIMITS.hard
    assert all(any(f"key{n}:" in chunk.text for chunk in found) for n in range(0, 2000, 100))


def nested(language: str) -> str:
    """Three environments with the same services and other ports."""
    places = {
        place: [{"name": f"svc-{n}", "port": first + n} for n in range(60)]
        for place, first in (("prod", 8000), ("staging", 9000), ("test", 7000))
    }
    data = {"environments": {place: {"services": rows} for place, rows in places.items()}}
    if language == "json":
        return json.dumps(data, indent=2)
    return yaml.safe_dump(data, sort_keys=False)


@pytest.mark.parametrize("language", ["yaml", "json"])
@pytest.mark.parametrize("path", ["ports", "page.md"])
def test_rt_16_each_piece_of_nested_data_has_the_keys_above_it(language: str, path: str) -> None:
    """RT-16: a port without its environment answers for any."""
    text = nested(language)
    found = (
        cut(f"```{language}\n{text}\n```", path) if "." in path else cut(text, f"{path}.{language}")
    )
    assert len(found) > 3
    for chunk in found:
        places = [line.strip(' ":{') for line in chunk.text.split("\n")]
        ports = [int(port) for port in re.findall(r"port\W+(\d+)", chunk.text)]
        assert len({port // 1000 for port in ports}) <= 1
        for place, first in (("prod", 8000), ("staging", 9000), ("test", 7000)):
            assert (place in places) == any(first <= port < first + 60 for port in ports)
        assert max(len(chunk.text) for chunk in found) <= LIMITS.hard


def test_hostile_markdown_is_read_in_time() -> None:
    """IN-17: nesting, unclosed marks and endless tables."""
    for text in (
        "> " * 20_000 + "x",
        "<!--" * 50_000,
        "[" * 50_000,
        "|" * 100_000 + "\n|-|",
        "`" * 99_999,
    ):
        cut(text + "\nwords")


def script(lines: int) -> str:
    return "```sh\n" + "\n".join(f"# run {n} {WORDS}" for n in range(lines)) + "\n```"


def bullets(items: int) -> str:
    return "\n".join(f"- item {n} {WORDS * (n % 5)}" for n in range(items))


def steps(items: int) -> str:
    return "\n".join(f"{n}. step\n\n   ```\n   # code {n}\n   ```" for n in range(items))


HEADINGS = ["# One", "## Two", "### Three", "Setext\n===", "Setext\n---", "***", "<b>x</b>"]
BLOCKS = st.one_of(
    st.sampled_from(HEADINGS),
    st.integers(1, 3200).map(paragraph),
    st.integers(1, 60).map(script),
    st.integers(1, 20).map(lambda n: "~~~\n# a\n```\n" + paragraph(n * 50) + "\n~~~"),
    st.integers(1, 70).map(table),
    st.integers(1, 25).map(bullets),
    st.integers(1, 9).map(steps),
    st.text("ab`#|->*~\n \t.1[]<", max_size=200),
)


@settings(max_examples=150, deadline=None)
@given(st.lists(BLOCKS, max_size=12).map("\n\n".join))
def test_no_line_is_lost(text: str) -> None:
    """IN-01: whatever the document, each line with words is in a chunk, and cut only when long."""
    found = chunks(outline(text), LIMITS)
    joined = "\n".join(chunk.text for chunk in found)
    for line in text.split("\n"):
        if has_words(line) and len(line) <= LIMITS.target:
            assert line.strip() in joined
    assert all(len(chunk.text) <= LIMITS.hard + LIMITS.target for chunk in found)


@settings(max_examples=80, deadline=None)
@given(
    st.lists(
        st.one_of(st.integers(1, 900).map(paragraph), st.integers(1, 28).map(script)), max_size=12
    )
)
def test_no_fence_below_the_limit_is_cut(parts: list[str]) -> None:
    """IN-01"""
    found = chunks(outline("\n\n".join(parts)), LIMITS)
    for part in parts:
        if part.startswith("```"):
            assert any(part in chunk.text for chunk in found)
