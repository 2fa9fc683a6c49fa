"""Slack's markup taken for what it shows, and whom a message speaks to."""

from __future__ import annotations

from typing import Any

import pytest

from adapters.slack.words import Mentions, everything, mentions, plain, question

ME = "U0BOT"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a &lt; b &amp;&amp; c &gt; d", "a < b && c > d"),
        ("&amp;lt;!here&amp;gt;", "&lt;!here&gt;"),
        ("<https://wiki.example/x>", "https://wiki.example/x"),
        ("<https://wiki.example/x|the wiki>", "the wiki (https://wiki.example/x)"),
        ("<http://billing.example|billing.example>", "http://billing.example"),
        ("<mailto:ops@example.org|ops@example.org>", "ops@example.org"),
        ("<@U0ANN> and <@U0BORIS|boris>", "@U0ANN and @boris"),
        ("<#C0OPS|ops> <#C0DEV>", "#ops #C0DEV"),
        ("<!here> <!subteam^S1|@oncall> <!subteam^S2>", "@here @oncall @subteam"),
        ("<!date^1392734382^{date}|18 Feb 2014>", "18 Feb 2014"),
        ("if a <b and c> d", "if a b and c d"),
        ("```\nkubectl get pods\n```", "```\nkubectl get pods\n```"),
    ],
)
def test_markup_becomes_what_it_shows(text: str, shown: str) -> None:
    assert plain(text) == shown


@pytest.mark.parametrize(
    ("text", "asked"),
    [
        (f"<@{ME}> which port?", "which port?"),
        (f"<@{ME}|belay>: which port?", "which port?"),
        (f"<@{ME}>, which port?", "which port?"),
        (f"which port, <@{ME}>?", "which port,?"),
        (f"hey <@{ME}> which port?", "hey which port?"),
        (f"<@{ME}> <@{ME}>  why", "why"),
        (f"<@{ME}> :eyes:", ":eyes:"),
        (f"<@{ME}> -v what does it do?", "-v what does it do?"),
        (f"<@{ME}>", ""),
        (f"<@{ME}>\nwhy?", "why?"),
        (f"<@{ME}> ask <@U0ANN>", "ask @U0ANN"),
        (f"<@{ME}1> is another", "@U0BOT1 is another"),
    ],
)
def test_the_mention_is_taken_out(text: str, asked: str) -> None:
    assert question({"text": text}, ME) == asked


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (f"<@{ME}> hi", Mentions(me=True, others=False)),
        (f"<@U0ANN> ask <@{ME}>", Mentions(me=True, others=True)),
        ("<@U0ANN> hi", Mentions(me=False, others=True)),
        ("hi", Mentions(me=False, others=False)),
        (f"&gt; <@{ME}> drop it\nfyi", Mentions(me=False, others=False)),
        (f"fyi\n&gt;&gt;&gt; <@{ME}>\nmore <@{ME}>", Mentions(me=False, others=False)),
        (f"`<@{ME}>` and ```\n<@{ME}>\n```", Mentions(me=False, others=False)),
        (f"&gt; quoted\n<@{ME}> and you?", Mentions(me=True, others=False)),
        (f"5 &gt; 4 <@{ME}>?", Mentions(me=True, others=False)),
    ],
)
def test_sl_27_only_what_is_said_oneself_speaks_to_somebody(text: str, expected: Mentions) -> None:
    assert mentions({"text": text}, ME) == expected


def nested(kind: str, *elements: dict[str, Any]) -> dict[str, Any]:
    return {"type": kind, "elements": list(elements)}


def test_sl_27_a_mention_in_a_list_is_said_oneself() -> None:
    user = {"type": "user", "user_id": ME}
    item = nested("rich_text_section", user)
    listed = {"text": "", "blocks": [nested("rich_text", nested("rich_text_list", item))]}
    assert mentions(listed, ME).me
    quoted = {"text": f"<@{ME}>", "blocks": [nested("rich_text", nested("rich_text_quote", user))]}
    assert not mentions(quoted, ME).me


@pytest.mark.parametrize(
    ("message", "shown"),
    [
        ({"text": "", "attachments": [{"fallback": "disk full on db-1"}]}, "disk full on db-1"),
        (
            {"attachments": [{"pretext": "Alert", "title": "Disk", "text": "full"}]},
            "Alert\nDisk\nfull",
        ),
        (
            {"attachments": [{"message_blocks": [{"message": {"blocks": [
                nested("rich_text", nested("rich_text_section", {"type": "text", "text": "deep"}))
            ]}}]}]},
            "deep",
        ),
        (
            {"blocks": [{"type": "table", "rows": [
                [{"type": "raw_text", "text": "job"}, {"type": "raw_text", "text": "state"}],
                [{"type": "raw_text", "text": "backup"}, {"type": "raw_text", "text": "failed"}],
            ]}]},
            "job | state\nbackup | failed",
        ),
        (
            {"blocks": [{"type": "header", "text": {"type": "plain_text", "text": "Alert"}},
                        {"type": "markdown", "text": "**Disk** full"},
                        {"type": "image", "alt_text": "a graph", "image_url": "https://x"}]},
            "Alert\n**Disk** full\na graph",
        ),
        ({"bot_id": "B1", "text": "Disk full", "blocks": [
            {"type": "section", "text": {"type": "mrkdwn", "text": "Disk full"}}]}, "Disk full"),
        ({}, ""),
        ({"text": None, "blocks": None, "attachments": "x"}, ""),
        ({"blocks": [None, 1, {"type": "rich_text", "elements": [None]}], "attachments": [1]}, ""),
    ],
)  # fmt: skip
def test_sl_19_a_message_shows_all_of_its_parts(message: dict[str, Any], shown: str) -> None:
    assert everything(message, ME) == shown


def test_blocks_inside_each_other_without_end_are_cut() -> None:
    block: dict[str, Any] = {"type": "section", "text": {"type": "mrkdwn", "text": "deep"}}
    for _ in range(3_000):
        block = {"type": "container", "child_blocks": [block]}
    assert everything({"blocks": [block]}, ME) == ""
    element: dict[str, Any] = {"type": "user", "user_id": ME}
    for _ in range(3_000):
        element = nested("rich_text_list", element)
    assert not mentions({"blocks": [nested("rich_text", element)]}, ME).me
