"""What people see in Telegram, judged by TDLib's parser inside the loopback server."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adapters.markdown.tables import columns
from adapters.telegram.entities import FormattedText
from adapters.telegram.render import (
    Limits,
    plain_parts,
    rich_parts,
    safe_partial,
    suits_rich,
    text_parts,
    to_plain,
    to_text,
)
from adapters.telegram.rich import count_blocks, to_rich
from tests.servers.telegram_methods import rich_markdown
from tests.servers.telegram_text import Entity, detected, message_text, piece, units

FORMATTING = {
    "bold", "italic", "strikethrough", "code", "pre", "text_link", "blockquote",
}  # fmt: skip
HARMLESS = {"url", "email", "phone_number", "bank_card"}


def shown(markdown: str) -> tuple[str, list[Entity]]:
    """The message as the server keeps it; fails when Telegram would refuse it."""
    return accepted(to_text(markdown))


def accepted(rendered: FormattedText) -> tuple[str, list[Entity]]:
    return message_text(rendered.text, None, [entity.as_dict() for entity in rendered.entities])


def marked(markdown: str, kind: str) -> list[str]:
    text, entities = shown(markdown)
    return [piece(text, entity) for entity in entities if entity["type"] == kind]


def assert_nothing_else_is_live(text: str, entities: list[Entity]) -> None:
    for entity in entities:
        covered = piece(text, entity)
        assert entity["type"] in FORMATTING | HARMLESS, covered
        if entity["type"] == "url":
            assert re.match(r"https?://", covered, re.IGNORECASE), covered


# Every snippet with what must be read in it, word for word.
SNIPPETS = [
    ("Restart the pod.", "Restart the pod."),
    ("Перезапустите под 🚀 и ждите.", "Перезапустите под 🚀 и ждите."),
    ("**Важно:** сначала *снимок*", "Важно: сначала снимок"),
    ("Fixed in v1.2.3! Run `make fix-db` (see step 4) - it takes ~5 min. a_b_c = 2*3",
     "Fixed in v1.2.3! Run make fix-db (see step 4) - it takes ~5 min. a_b_c = 2*3"),
    ("2 * 3 * 4 and 5 > 3 < 7 & more", "2 * 3 * 4 and 5 > 3 < 7 & more"),
    ("Set Map<String, List<Pod>> then<br/>restart",) * 2,
    ("<details><summary>x</summary>logs</details>",) * 2,
    ("kubectl logs <pod-name> -n <NAMESPACE>",) * 2,
    ("<b>not bold</b> &amp; &lt;i&gt;", "<b>not bold</b> & <i>"),
    ("<script>alert(1)</script>",) * 2,
    ("# Заголовок **с** `кодом`", "Заголовок с кодом"),
    ("Head\n====\n\ntext", "Head\n\ntext"),
    ("- один\n- два\n  - вложенный\n- три", "• один\n• два\n  ◦ вложенный\n• три"),
    ("3. three\n4. four", "3. three\n4. four"),
    ("1. a\n   1. b\n      1. c", "1. a\n  1. b\n    1. c"),
    ("- [ ] check disks\n- [x] done", "• [ ] check disks\n• [x] done"),
    ("- a\n\n- b", "• a\n• b"),
    ("> цитата\n> вторая строка", "цитата\nвторая строка"),
    ("> a\n> > b", "a\n\nb"),
    ("```python\nprint('<b>')\n```", "print('<b>')"),
    ("```\n  indented\n```\nafter", "indented\n\nafter"),
    ("    code block\n    more", "code block\nmore"),
    ("- run\n  ```sh\n  ls -la\n  ```\n- done", "• run\nls -la\n• done"),
    ("~~old~~ new", "old new"),
    ("[wiki](https://wiki.example/a_(b))", "wiki"),
    ("[wiki](javascript:alert(1))", "[wiki](javascript:alert(1))"),
    ("[Anna](tg://user?id=7)", "Anna (tg://user?id=7)"),
    ("[file](../runbooks/db.md)", "file (../runbooks/db.md)"),
    ("![graph](https://g.example/1.png)", "graph"),
    ("![](https://g.example/1.png)", "https://g.example/1.png"),
    ("https://grafana.example/d/x?a=1&b=2.", "https://grafana.example/d/x?a=1&b=2."),
    ("Ask @oncall_lead or run /restart now",) * 2,
    ("почта ops@example.com, тел. +7 495 123-45-67",) * 2,
    ("**bold `code` bold**", "bold code bold"),
    ("***both***", "both"),
    ("**unclosed and `open", "**unclosed and `open"),
    (r"\*literal\* \_stars\_", "*literal* _stars_"),
    ("line one\nline two  \nline three", "line one\nline two\nline three"),
    ("a\n\n---\n\nb", "a\n\n———\n\nb"),
    ("| a | b |\n|---|--:|\n| 1 | 20 |", "a   b\n─  ──\n1  20"),
    ("🚨🔥 **авария** 🇩🇪 `код` 👩‍👩‍👧‍👦 *конец*", "🚨🔥 авария 🇩🇪 код 👩‍👩‍👧‍👦 конец"),
    ("See [1] and [2][3].", "See [1] and [2][3]."),
    ("**Sources**\n\n- [1] Guide › DB — docs/db.md:12 (owner payments)",
     "Sources\n\n• [1] Guide › DB — docs/db.md:12 (owner payments)"),
    ("<!here> <@U123> <#C1|general>", "<!here> <@U123> <#C1|general>"),
    ("$HOME/.kube, $PATH and #incident-42 at 10.0.0.1:8080/x",) * 2,
]  # fmt: skip


@pytest.mark.parametrize(("markdown", "seen"), SNIPPETS)
def test_tg_03_tg_04_the_words_are_seen_as_they_were_meant(markdown: str, seen: str) -> None:
    text, entities = shown(markdown)
    assert text == seen
    assert_nothing_else_is_live(text, entities)


@pytest.mark.parametrize("markdown", [markdown for markdown, _ in SNIPPETS])
def test_rich_markdown_means_the_same(markdown: str) -> None:
    rich = to_rich(markdown)
    assert rich_markdown({"rich_message": {"markdown": rich}}) == rich
    assert to_text(rich).text == to_text(markdown).text


@pytest.mark.parametrize(
    ("markdown", "kind", "covered"),
    [
        ("# Заголовок", "bold", ["Заголовок"]),
        ("😀 **жирный** и *курсив*", "bold", ["жирный"]),
        ("😀 **жирный** и *курсив*", "italic", ["курсив"]),
        ("**bold `code` bold**", "bold", ["bold ", " bold"]),
        ("**bold `code` bold**", "code", ["code"]),
        ("# all **bold**", "bold", ["all bold"]),
        ("~~old~~", "strikethrough", ["old"]),
        ("> q `c`\n> > inner", "blockquote", ["q c\n\ninner"]),
        ("```go\nx := 1\n```", "pre", ["x := 1"]),
        ("[**wiki** `x`](https://w.example/)", "text_link", ["wiki x"]),
        ("[x](ftp://w.example/)", "text_link", []),
        ("[x](tg://resolve?domain=a)", "text_link", []),
        ("[x](https:evil)", "text_link", []),
    ],
)
def test_structure_becomes_entities(markdown: str, kind: str, covered: list[str]) -> None:
    assert marked(markdown, kind) == covered


def test_code_keeps_its_language() -> None:
    (entity,) = to_text("```bash title=x\nls\n```").entities
    assert (entity.type, entity.language) == ("pre", "bash")
    assert to_text("```!!\nls\n```").entities[0].language == ""


@pytest.mark.parametrize(
    "word",
    [
        "@oncall", "/restart", "/ask@belay_bot", "#incident", "$USD", "runbook.md", "etc.py:12",
        "docs/db_main.md:7", "10.0.0.1", "10.0.0.1:8080/x", "db-1.internal.io", "t.me/someone",
        "сайт.рф", "tg://user?id=7", "README.rst", "node.ops.io:9090/metrics", "ftp://a.ru/x",
    ],
)  # fmt: skip
@pytest.mark.parametrize("around", ["{}", "see {}, please", "({})", "**{}**", "см. «{}».", "- {}!"])
def test_words_of_documents_do_not_ring_or_lead_anywhere(word: str, around: str) -> None:
    markdown = around.format(word)
    text, entities = shown(markdown)
    assert_nothing_else_is_live(text, entities)
    assert word in text


def test_plain_text_has_no_live_mentions_or_commands() -> None:
    plain = to_plain("Ask @oncall_lead or touch /restart or /ask@belay_bot, **now**")
    kinds = {entity["type"] for entity in detected(plain)}
    assert kinds.isdisjoint({"mention", "bot_command"})
    assert (
        plain.replace("\u2060", "") == "Ask @oncall_lead or touch /restart or /ask@belay_bot, now"
    )


def test_tg_01_every_part_of_a_long_answer_is_taken_and_no_line_is_lost() -> None:
    script = [f'systemctl restart "узел-{at:03}" && sleep 5  # 😀' for at in range(120)]
    markdown = "Two. Sentences.\n\n```bash\n" + "\n".join(script) + "\n```\n\nSource: [1]"
    parts = [accepted(part) for part in text_parts(markdown)]
    assert len(parts) > 1
    assert all(units(text) <= 4096 for text, _ in parts)
    code = [
        line
        for text, entities in parts
        for entity in entities
        if entity["type"] == "pre" and entity["language"] == "bash"
        for line in piece(text, entity).split("\n")
    ]
    assert code == script
    assert parts[-1][0].endswith("Source: [1]")


def test_rich_parts_keep_within_bytes_and_blocks() -> None:
    prose = "\n\n".join("слово " * 200 for _ in range(20))
    rows = "| a | b |\n|---|---|\n" + "\n".join(f"| {at} | x |" for at in range(700))
    parts = rich_parts(f"{prose}\n\n{rows}")
    assert len(parts) >= 3
    for part in parts:
        assert rich_markdown({"rich_message": {"markdown": part}})
        assert count_blocks(part) <= 500
    numbers = [int(found) for part in parts for found in re.findall(r"\| (\d+) \|", part)]
    assert numbers == list(range(700))


def test_small_limits_are_obeyed_in_all_three_forms() -> None:
    markdown = "\n\n".join(f"**{at}** `run {at}` and wait" for at in range(40))
    limits = Limits(text_units=100, rich_bytes=200, rich_blocks=3)
    assert all(part.units <= 100 for part in text_parts(markdown, limits))
    assert all(len(part) <= 100 for part in plain_parts(markdown, limits))
    assert all(count_blocks(part) <= 3 for part in rich_parts(markdown, limits))


STREAM = [
    "All times are **UT", "C** and use `kube", "ctl get po`", " or [the wi",
    "ki](https://w.example/x)\n\n- **one", "** two\n\n```ba", "sh\nls **", "\n```\n~~ol",
    "d~~ *", "x* _y_",
]  # fmt: skip


def test_tg_06_every_frame_of_a_stream_is_taken() -> None:
    frames = list(_frames(STREAM))
    for frame in frames:
        text, _ = accepted(safe_partial(frame))
        assert text
    assert accepted(safe_partial(STREAM[0]))[1] == [{"type": "bold", "offset": 14, "length": 2}]
    assert safe_partial(frames[-1]) == to_text(frames[-1])


def _frames(pieces: list[str]) -> Iterator[str]:
    for count in range(1, len(pieces) + 1):
        yield "".join(pieces[:count])


@pytest.mark.parametrize(
    ("frame", "seen"),
    [
        ("use **", "use"),
        ("use `", "use"),
        ("**bold *both", "bold both"),
        ("`a ** b", "a ** b"),
        ("see [the wiki](https://w", "see the wiki"),
        ("see [1", "see [1"),
        ("2 * 3 =", "2 * 3 ="),
        ("```sh\necho **", "echo **"),
        ("- **Шаг 1", "• Шаг 1"),
    ],
)
def test_tg_06_open_marks_are_not_seen(frame: str, seen: str) -> None:
    assert accepted(safe_partial(frame))[0] == seen


@settings(max_examples=100, deadline=None)
@given(st.text("abжз😀 \n*_`~#->|1.[](){}<&@/\\$=!:", max_size=200))
def test_tg_06_any_frame_of_any_text_is_taken(frame: str) -> None:
    rendered = safe_partial(frame)
    if rendered.text.strip():
        accepted(rendered)


TABLE = "| сервис | владелец |\n|---|---|\n| api 🚀 | команда А |\n| очередь | B |"


def test_a_narrow_table_is_aligned() -> None:
    (text,) = marked(TABLE, "pre")
    lines = text.split("\n")
    assert [columns(line.split("  ")[0]) for line in lines[1:2]] == [7]
    assert {columns(line[: line.rindex("  ")].rstrip()) <= 7 for line in lines[2:]} == {True}
    assert all(columns(line) <= 34 for line in lines)


def test_a_wide_table_is_a_list_of_named_values() -> None:
    long = "restart the payment gateway and wait for the queue"
    markdown = f"| name | **action** |\n|---|---|\n| api | {long} |\n| db | [wiki](https://w.ex) |"
    text, entities = shown(markdown)
    assert text == f"name: api\naction: {long}\n\nname: db\naction: wiki"
    assert "https://w.ex" in [entity.get("url") for entity in entities]


def test_a_command_with_pipes_in_a_table_is_whole() -> None:
    markdown = "| what | how |\n|---|---|\n| pods | `kubectl get po | grep api` | really |"
    seen = shown(markdown)[0]
    assert "kubectl get po | grep api" in seen
    assert "really" in seen
    assert shown(to_rich(markdown))[0] == seen


def test_tables_too_wide_for_rich_messages_are_found() -> None:
    wide = "|" + " x |" * 21 + "\n|" + "---|" * 21
    assert not suits_rich(f"text\n\n- item\n\n{wide}")
    assert suits_rich(TABLE)


@pytest.mark.parametrize(
    "deep", [">" * 900 + " end", "- " * 400 + "end", "[" * 2000, "*" * 3000 + "x"]
)
def test_absurd_nesting_does_no_harm(deep: str) -> None:
    text, _ = shown(deep)
    assert text.endswith(deep[-3:])
    assert to_rich(deep)


MARKDOWN = st.text("abжз😀é \n*_`~#->|1.[](){}<>&@/\\$=!:\t", max_size=250)


@settings(max_examples=150, deadline=None)
@given(MARKDOWN)
def test_any_text_renders_within_telegrams_rules(markdown: str) -> None:
    rendered = to_text(markdown)
    if rendered.text.strip():
        assert_nothing_else_is_live(*accepted(rendered))
    to_rich(markdown)


WORD = st.text("abcdжзи😀_<>&/@.1", min_size=1, max_size=8)
PHRASE = st.lists(WORD, min_size=1, max_size=8).map(" ".join)
WRAPPED = st.sampled_from(["{}", "`{}`", "## {}", "- {}", "> {}", "1. {}", "```\n{}\n```"])


@settings(max_examples=150, deadline=None)
@given(st.lists(st.tuples(WRAPPED, PHRASE), min_size=1, max_size=5))
def test_all_words_are_kept_in_all_forms(blocks: list[tuple[str, str]]) -> None:
    markdown = "\n\n".join(form.format(phrase) for form, phrase in blocks)
    text = to_text(markdown).text
    letters = "".join(re.findall(r"[a-dжзи😀]", "".join(phrase for _, phrase in blocks)))
    assert "".join(re.findall(r"[a-dжзи😀]", text)) == letters
    assert to_text(to_rich(markdown)).text.split() == text.split()
