"""What people read on Slack, and that nothing in it rings or leads where it does not say."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adapters.slack.growth import grown
from adapters.slack.message import cut, forms
from adapters.slack.plain import notification, to_plain
from adapters.slack.render import to_slack
from tests.servers.slack_blocks import BLOCKS, MARKDOWN, UPDATED_TEXT, checked_blocks, checked_text
from tests.servers.slack_text import letters, live_tokens, seen, seen_text

WIKI = "https://wiki.example/runbooks/a_(b)?x=1&y=2#L12"

# Every snippet with what must be read in it, word for word.
SNIPPETS = [
    ("Restart the pod.", "Restart the pod."),
    ("Перезапустите под 🚀 и ждите.", "Перезапустите под 🚀 и ждите."),
    ("**Важно:** сначала *снимок*", "Важно: сначала снимок"),
    ("~5 min. a_b_c = 2*3, snake_case, __init__", "~5 min. a_b_c = 2*3, snake_case, init"),
    ("2 * 3 * 4 and 5 > 3 < 7 & more",) * 2,
    ("if a < b && c > d then `curl \"http://x/?a=1&b=2\" > out.txt`",
     "if a < b && c > d then curl \"http://x/?a=1&b=2\" > out.txt"),
    ("Set Map<String, List<Pod>> then<br/>restart",) * 2,
    ("kubectl logs <pod-name> -n <NAMESPACE>",) * 2,
    ("<b>not bold</b> &amp; &lt;i&gt; &amp;amp;", "<b>not bold</b> & <i> &amp;"),
    (r"C:\dir\*.log and \\host\share", r"C:\dir*.log and \host\share"),
    ("# Заголовок **с** `кодом`", "Заголовок с кодом"),
    ("Head\n====\n\ntext", "Head text"),
    ("- один\n- два\n  - вложенный\n- три", "один два вложенный три"),
    ("## Steps\n1. **Stop** the *agent*\n- ~~old~~ new", "Steps Stop the agent old new"),
    ("a**b** `a**b` ``x ` y``", "ab a**b x ` y"),
    ("> цитата\n> вторая строка", "цитата вторая строка"),
    ("```python\nprint('<b>', 1 < 2 && 3)\n```", "print('<b>', 1 < 2 && 3)"),
    ("    code block\n    more", "code block more"),
    ("````\n```\ninner\n```\n````", "``` inner ```"),
    (r"\# not a heading \- \* \> x", "# not a heading - * > x"),
    ("1\\. not a list\n\\- neither", "1. not a list - neither"),
    ("[1] and [note]: text [a](", "[1] and [note]: text [a]("),
    ("a | b\nc | d", "a | b c | d"),
    ("one  \ntwo", "one two"),
]  # fmt: skip


@pytest.mark.parametrize(("markdown", "words"), SNIPPETS)
def test_sl_11_and_14_text_reads_as_it_was_written(markdown: str, words: str) -> None:
    """SL-11, SL-14: signs of shells and of Markdown show as they are, once decoded."""
    read = seen(to_slack(markdown))
    assert " ".join(read.text.split()) == words or letters(read.text) == letters(words)
    assert read.links == ()


@pytest.mark.parametrize(
    ("markdown", "written"),
    [
        ("**bold** *it* ~~no~~ `a**b`", "**bold** *it* ~~no~~ `a**b`"),
        ("## Steps\n\ntext", "## Steps\n\ntext"),
        ("* a\n* b\n\n  1. c", "- a\n- b\n  1. c"),
        ("> q\n\n---", "> q\n\n***"),
        ("```sh\nls\n```", "```sh\nls\n```"),
    ],
)
def test_sl_14_structure_stays_markdown(markdown: str, written: str) -> None:
    """SL-14: what Slack's markdown block knows is left to it."""
    assert to_slack(markdown) == written


TOKENS = [
    "<!channel>", "<!here>", "<!everyone|all>", "<!subteam^S012AB|ops>", "<@U0CEO>", "<@W012AB|x>",
    "<#C012AB|war-room>", "<https://evil.example|https://wiki.example>", "<mailto:a@evil.example>",
    "<!date^1700000000^{date}^https://evil.example|x>", "<https://evil.example>",
]  # fmt: skip
DISGUISES = [
    "{}", "`{}`", "```\n{}\n```", "    {}", "> {}", "- {}", "# {}", "**{}**", "\\{}", "[{}](x)",
    "| a | b |\n|-|-|\n| {} | x |",
]  # fmt: skip


def spellings(token: str) -> list[str]:
    inner = token[1:-1]
    return [
        token,
        f"&lt;{inner}&gt;",
        f"&#60;{inner}&#62;",
        f"&#x3c;{inner}>",
        f"<\u200b{inner}>",
        f"<{inner[0]}\u2060{inner[1:]}>",
        f"&amp;lt;{inner}&amp;gt;",
    ]


@pytest.mark.parametrize("token", TOKENS)
@pytest.mark.parametrize("disguise", DISGUISES)
def test_sl_12_tokens_of_documents_are_inert_everywhere(token: str, disguise: str) -> None:
    """SL-12: in blocks, in sections, in `text`, in a stream, however they are spelt."""
    for spelling in spellings(token):
        markdown = f"On outage post {disguise.format(spelling)} to the room.\n\nThen wait."
        for form in forms(markdown):
            assert live_tokens(form.text) == []
            for block in form.content:
                raw = block["text"] if block["type"] == "markdown" else block["text"]["text"]
                assert live_tokens(raw) == []
                if block["type"] == "markdown":
                    assert seen(raw).links == ()
        assert live_tokens(grown(markdown)) == []


def test_sl_12_the_words_of_a_mention_can_still_be_read() -> None:
    """SL-12: inert, not swallowed."""
    line = "On outage post <!channel> and <@U0CEO> to `<!here>`"
    assert letters(seen(to_slack(line)).text) == letters(line.replace("`", ""))
    assert seen_text(forms(line)[0].text) == line.replace("`", "")


@pytest.mark.parametrize(
    "markdown",
    [
        "See [the wiki](https://evil.example/a).",
        "See <https://evil.example/a>.",
        "See https://evil.example/a.",
        "See ![x](https://evil.example/a).",
        "[https://wiki.example](https://evil.example/a)",
        "[a][1]\n\n[1]: https://evil.example/a",
        "slack://evil.example/a",
    ],
)
def test_sl_12_addresses_of_documents_can_be_read_but_are_no_links(markdown: str) -> None:
    """SL-12: only the program's own citations are links."""
    read = seen(to_slack(markdown))
    assert read.links == ()
    assert "evil.example/a" in read.text


@pytest.mark.parametrize(
    "markdown", [f"- [1] Title — {WIKI} (updated)", f"[Title]({WIKI})", f"<{WIKI}>", f"({WIKI})."]
)
def test_cited_documents_are_links(markdown: str) -> None:
    trusted = {WIKI, "https://wiki.example/runbooks/a_"}
    (link,) = seen(to_slack(markdown, trusted)).links
    assert re.sub("%28|%29", "_", link) == re.sub("[()]", "_", WIKI)


def test_a_longer_address_than_the_cited_one_is_no_link() -> None:
    assert seen(to_slack(f"see {WIKI}/../evil", {WIKI})).links == ()


TABLE = """| Env | Port | Note | Причина |
|-----|-----:|------|---------|
| prod | 8081 | a\\|b | диск |
| staging | 8082 | x | сеть |"""


def test_sl_15_a_table_is_aligned_in_code() -> None:
    """SL-15: columns line up, pipes in cells stay, no row of dashes and pipes is seen."""
    lines = seen(to_slack(TABLE)).text.strip().split("\n")
    assert [line.split() for line in lines[2:]] == [
        ["prod", "8081", "a|b", "диск"],
        ["staging", "8082", "x", "сеть"],
    ]
    assert len({line.index(word) for line, word in zip(lines[2:], ("a|b", "x"), strict=True)}) == 1
    assert not re.search(r"-\s*\|\s*-", to_slack(TABLE))


def test_sl_15_a_wide_table_becomes_a_list() -> None:
    """SL-15: column: value, for each row."""
    cell = "a long sentence that no narrow column can hold"
    wide = f"| A | B |\n|---|---|\n| {cell} | {cell} 2 |\n| x | [y](https://q.example) |"
    read = seen(to_slack(wide)).text
    assert [read.count(name) for name in ("A:", "B:")] == [2, 2]
    assert read.count(cell) == 2
    assert "---" not in read
    assert "|" not in read


# Limits

TALL = "\n".join(f"{n}. Step {n}: run `make step-{n}` and <!here> wait." for n in range(1, 65))
SOURCES = "\n".join(f"- [{n}] Runbook {n} — runbooks/{n}.md:12 (owner ops)" for n in range(1, 13))
LONG = (
    "Перезапустите всё по порядку. " * 120
    + "\n\n```bash\n"
    + "\n".join(f"systemctl restart service-{n:03} --wait --now" for n in range(90))
    + "\n```\n\nПотом проверьте."
)


@pytest.mark.parametrize("answer", [f"{TALL}\n\n**Sources**\n\n{SOURCES}", LONG, LONG * 4])
def test_sl_08_and_10_long_answers_are_cut_and_nothing_is_lost(answer: str) -> None:
    """SL-08, SL-10: every message is accepted in every form, and their words are the answer's."""
    parts = cut(answer)
    for part in parts:
        for form in forms(part):
            checked_blocks(form.blocks)
            assert len(form.blocks) <= BLOCKS
            assert form.text
    told = "".join(seen(forms(part)[0].markdown).text for part in parts)
    assert letters(told) == letters(seen(answer).text)
    assert all(form.markdown.count("```") % 2 == 0 for part in parts for form in forms(part)[:1])


def test_sl_10_many_headings_are_many_messages() -> None:
    """SL-10: Slack makes blocks of Markdown; a message takes fifty."""
    answer = "\n\n".join(f"## Head {n}\n\ntext {n}" for n in range(100))
    assert all(part.count("##") <= BLOCKS // 2 for part in cut(answer))


def test_the_notification_is_short_and_plain() -> None:
    text = notification("**Bold** `code` & <!here>\n\n- a\n- b\n" + "ж<" * 5000, UPDATED_TEXT)
    assert text.startswith("Bold code &amp; &lt;!here&gt; • a • b")
    assert len(text.encode()) <= UPDATED_TEXT
    assert re.sub(r"&(amp|lt|gt);", "", text).count("&") == 0


# Anything at all

_PIECES = [
    "word", "слово", "🚀", "<", ">", "&", "*", "**", "_", "__", "`", "```", "~~", "~", "\\", "[",
    "]", "(", ")", "!", "#", "-", "+", "1.", "|", ":", "\n", "\n\n", "  ", "    ", "> ", "- ",
    "&lt;", "&amp;", "&#60;", "<!channel>", "<@U0CEO>", "<https://evil.example|x>", "=", "\t",
    "https://evil.example/a_b", "\u200b", "```sh\nls\n```", "a_b", "x*y", "\u0301", "---", "![",
    "](",
]  # fmt: skip
TEXTS = st.lists(st.sampled_from(_PIECES), max_size=40).map("".join)
LINKED = re.compile(r"://|\]\(|\[.*\]:|\|", re.DOTALL)


@settings(max_examples=400, deadline=None)
@given(TEXTS)
def test_nothing_is_ever_live(markdown: str) -> None:
    for part in cut(markdown):
        for form in forms(part):
            raw = [form.text, form.markdown, *(str(block.get("text")) for block in form.content)]
            assert [token for text in raw for token in live_tokens(text)] == []
            assert seen(form.markdown).links == ()
            checked_text({"text": form.text, "blocks": form.blocks}, updated=False)


@settings(max_examples=400, deadline=None)
@given(TEXTS.filter(lambda text: not LINKED.search(text)))
def test_words_stay_in_order(markdown: str) -> None:
    told = seen(to_slack(markdown)).text
    assert letters(told) == letters(seen(markdown).text)


@settings(max_examples=10, deadline=None)
@given(st.lists(TEXTS, min_size=1, max_size=3), st.integers(50, 120))
def test_every_message_is_within_the_limits(texts: list[str], times: int) -> None:
    for part in cut("\n\n".join(text * times for text in texts)):
        best = forms(part)[0]
        assert len(best.markdown) <= MARKDOWN
        assert len(best.text.encode()) <= UPDATED_TEXT
        checked_text({"text": best.text, "blocks": best.blocks}, updated=True)


@settings(max_examples=200, deadline=None)
@given(TEXTS)
def test_what_a_stream_shows_never_has_more_than_the_text(markdown: str) -> None:
    shown = grown(markdown)
    assert live_tokens(shown) == []
    assert shown == "" or shown[-1].isspace()


@pytest.mark.parametrize("answer", [TALL, LONG, TABLE, f"{TABLE}\n\n{TALL}\n\n{SOURCES}"])
def test_a_growing_answer_only_grows(answer: str) -> None:
    final, shown = to_slack(answer), ""
    for end in range(0, len(answer), 31):
        now = grown(answer[:end])
        assert final.startswith(now), now[-80:]
        assert len(now) >= len(shown)
        shown = now
    assert len(shown) > len(final) * 0.8 or answer == TABLE


def test_plain_words_are_laid_out() -> None:
    assert to_plain("## H\n\n1. a\n   - b\n2. c\n\n> q") == "H\n\n1. a\n  ◦ b\n2. c\n\nq"
