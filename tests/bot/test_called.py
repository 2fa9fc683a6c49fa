"""Which messages are commands: with a slash, below the root word, or by their bare names."""

from __future__ import annotations

from dataclasses import replace

import pytest

from bot.chat import Incoming, Kind, Person, Place, Quote
from bot.commands.called import called

ROOTS = {"slack": "belay"}
ANN = Person("slack", "U1", "Ann")
CHANNEL = Place("slack", "C1", "channel", "1700000000.000100")


def said(text: str, *, secretly: bool = False, place: Place = CHANNEL) -> Incoming:
    return Incoming(Kind.QUESTION, place, ANN, "1700000000.000200", text, private=secretly)


def read(event: Incoming, *, answered: bool = True) -> tuple[str, str] | None:
    """(command, argument); "" for an unknown word after a slash, None for a question."""
    found = called(event, ROOTS, answered=answered)
    if found is None:
        return None
    return (found.command.name if found.command else "", found.argument)


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("runbook redis oom", ("runbook", "redis oom")),
        ("Runbook: KubePodCrashLooping", ("runbook", "KubePodCrashLooping")),
        ("rb for redis?", ("runbook", "for redis?")),
        ("runbook", ("runbook", "")),
        ("ранбук по redis", ("runbook", "по redis")),
        ("incident checkout is slow since 14:00", ("incident", "checkout is slow since 14:00")),
        ("kb which port does billing use?", ("ask", "which port does billing use?")),
        ("sources", ("sources", "")),
        ("sources please", ("sources", "please")),
        ("help", ("help", "")),
        ("Help!", ("help", "")),
        ("why", ("why", "")),
        ("mute", ("mute", "")),
        ("mute this thread, please", ("mute", "this thread, please")),
        ("forget everything", ("forget", "everything")),
        ("забудь", ("forget", "")),
        ("allow ABCD2345 manager", ("allow", "ABCD2345 manager")),
        ("allow slack:U042", ("allow", "slack:U042")),
        ("allow slack:C1:shared manager", ("allow", "slack:C1:shared manager")),
        ("on call payments", ("oncall", "payments")),
        ("/runbook redis", ("runbook", "redis")),
    ],
)
def test_after_a_mention_a_word_that_surely_is_one_is_a_command(
    text: str, wanted: tuple[str, str]
) -> None:
    assert read(said(text)) == wanted


@pytest.mark.parametrize(
    "text",
    [
        "why is the queue full?",
        "why?",
        "sources of entropy in vault?",
        "help me find the runbook for redis",
        "runbook is outdated, who owns it?",
        "runbook redis says restart, is that safe?",
        "runbooks for redis",
        "runbook template",
        "incident response policy",
        "incident severity levels",
        "is there an incident with billing?",
        "mute alerts for redis on staging",
        "forget-me-not deploys: what are they?",
        "forget it",
        "allow port 443 in the firewall",
        "revoke a token in vault",
        "who owns billing?",
        "start billing on staging",
        "почему очередь полна?",
        "/etc/hosts is wrong on node-07",
        "",
        "???",
    ],
)
def test_after_a_mention_everything_else_is_a_question(text: str) -> None:
    assert read(said(text)) is None


def test_why_in_reply_to_a_message_or_before_any_answer_is_a_question() -> None:
    assert read(replace(said("why"), quote=Quote("disk full on node-07"))) is None
    assert read(said("why"), answered=False) is None


@pytest.mark.parametrize("start", ["", "/", "/belay ", "/BELAY "])
@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("runbook redis oom", ("runbook", "redis oom")),
        ("who payments", ("oncall", "payments")),
        ("whoisoncall", ("oncall", "")),
        ("on-call payments", ("oncall", "payments")),
        ("ask which port?", ("ask", "which port?")),
        ("why", ("why", "")),
        ("help", ("help", "")),
        ("forget what I said about billing", ("forget", "what I said about billing")),
        ("help what can you do", ("help", "what can you do")),
        ("frobnicate", ("help", "frobnicate")),
        ("restart billing", ("help", "restart billing")),
        ("how do I restart billing?", ("ask", "how do I restart billing?")),
        ("why is the queue full?", ("ask", "why is the queue full?")),
        ("как перезапустить billing?", ("ask", "как перезапустить billing?")),
    ],
)
def test_below_the_root_word_unknown_words_ask_for_help(
    start: str, text: str, wanted: tuple[str, str]
) -> None:
    assert read(said(start + text, secretly=True)) == wanted


@pytest.mark.parametrize("text", ["", "/belay", "  ", "/"])
def test_the_bare_root_word_asks_for_help(text: str) -> None:
    found = read(said(text, secretly=True))
    assert found is not None
    assert found[0] == "help"


def test_the_root_word_is_one_only_where_it_is_the_platforms() -> None:
    group = Place("telegram", "-100", "group")
    assert read(said("/belay runbook redis", place=group)) == ("", "runbook redis")
    assert read(said("/belay runbook redis")) == ("runbook", "redis")
    assert read(said("/crag runbook redis")) == ("", "runbook redis")
