"""Links to earlier messages, as the platforms write them."""

from __future__ import annotations

import pytest

from adapters.slack.links import link_to as slack
from adapters.telegram.links import link_to as telegram
from bot.chat import Place

WORKSPACE = "https://acme.slack.com/"
STAMP, ROOT = "1756717300.000200", "1756717200.000100"


@pytest.mark.parametrize(
    ("thread", "address"),
    [
        ("", "https://acme.slack.com/archives/C1/p1756717300000200"),
        (STAMP, "https://acme.slack.com/archives/C1/p1756717300000200"),
        (
            ROOT,
            "https://acme.slack.com/archives/C1/p1756717300000200"
            "?thread_ts=1756717200.000100&cid=C1",
        ),
    ],
)
def test_a_message_of_slack(thread: str, address: str) -> None:
    assert slack(WORKSPACE, Place("slack", "C1", "channel", thread), STAMP) == address


def test_a_slash_command_is_no_message() -> None:
    assert slack(WORKSPACE, Place("slack", "C1", "channel"), "trigger-12.34.abc") == ""
    assert slack("", Place("slack", "C1", "channel"), STAMP) == ""


@pytest.mark.parametrize(
    ("place", "address"),
    [
        (Place("telegram", "-1001234", "group"), "https://t.me/c/1234/7"),
        (Place("telegram", "-1001234", "group", "55"), "https://t.me/c/1234/55/7"),
        (Place("telegram", "-1234", "group"), ""),
        (Place("telegram", "42"), ""),
    ],
)
def test_a_message_of_telegram(place: Place, address: str) -> None:
    assert telegram(place, "7") == address
