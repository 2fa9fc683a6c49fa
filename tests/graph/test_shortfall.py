"""What quotations plainly lack of a question, by asking for it."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from graph.model import Passage, Ranked, Scores, SourceType
from graph.shortfall import Shortfall, shortfall
from graph.text import content_words, question_language
from graph.view import QuestionView, Word

BANDS = (
    "Pay follows five bands, E1 to E5. The middle of band E3 is EUR 61,900 a year. "
    "The director of the area signs a band."
)
OUTAGE = "Printing was down for 94 minutes. It came back at 22:40, after the migration was stopped."
LEAVE = "Paid leave is 28 days a year."


def view(question: str, *unknown: str) -> QuestionView:
    words = tuple(
        Word(low, stem, 1.0, low not in unknown, {"en": ((stem, 1.0),), "ru": ((stem, 1.0),)})
        for low, stem in content_words(question)
    )
    language = question_language(question)
    return QuestionView(question, language, None, words, unknown=unknown)


def page(text: str, title: str = "A page", coverage: float = 0.8) -> Ranked:
    passage = Passage("1", "docs", SourceType.FOLDER, "a.md", title, (), text, "a.md#L1")
    return Ranked(passage, Scores(None, 1.0, 3.0, 0.95, coverage))


def lacks(question: str, item: Ranked, *unknown: str) -> Shortfall | None:
    """What is found lacking when every sentence of the page is quoted."""
    quoted = "\n\n".join(f"{piece}. [1]" for piece in item.passage.text.rstrip(".").split(". "))
    return shortfall(view(question, *unknown), quoted, [item])


UPGRADE = "To upgrade PostgreSQL 14 run `pg_upgrade --link`."


@pytest.mark.parametrize(
    "question",
    [
        "how do I upgrade PostgreSQL 15?",
        "how do I upgrade postgresql version 14.2.1 to PostgreSQL 16",
        "как обновить PostgreSQL 15?",
        "what does the upgrade of postgresql v1.4 run?",
    ],
)
def test_rt_16_another_version_is_no_answer(question: str) -> None:
    """RT-16: texts that are nearly equal, of two editions."""
    lacking = lacks(question, page(UPGRADE))
    assert lacking is not None
    assert "nothing quoted says" in lacking.reason


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("how do I upgrade PostgreSQL 14?", UPGRADE),
        ("how do I upgrade PostgreSQL 14.2?", UPGRADE),
        ("how do I upgrade PostgreSQL?", UPGRADE),
        ("does the gateway need Java 21?", "The gateway needs Java 17."),
        ("what happens when I wait 5 minutes?", "Who must wait 10 minutes is called."),
        ("how do I upgrade Kubernetes 1.28?", "For Kubernetes 1.27 and 1.28.3 run `kubeadm`."),
        ("what does error 502 mean?", "Error 504 is a timeout, 502 a refused connection."),
        ("what is due on day 3 of the week?", "On day 3 the week's bills are due."),
    ],
)
def test_the_same_version_and_amounts_are_no_shortfall(question: str, text: str) -> None:
    assert lacks(question, page(text)) is None


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("who started the migration?", OUTAGE),
        ("how long was printing down, and who got a warning?", OUTAGE),
        ("кто запустил миграцию?", "Печать стояла 94 минуты."),
        ("what is the middle of E5?", BANDS),
        ("who signs a band, and what is the middle of E5?", BANDS),
        ("how long is paid leave in 2027?", LEAVE),
        ('open "Printing: personal notes" and tell me the end', OUTAGE),
        ("what is the unit price?", "The unit price is not part of this edition."),
        ("где лежит пароль?", "Место пароля в этой редакции не приводится."),
    ],
)
def test_a_right_page_without_the_asked_fact_is_told(question: str, text: str) -> None:
    assert lacks(question, page(text))


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("who signs a band?", BANDS),
        ("whom do I call at night?", "Call 5512 and wait."),
        ("кому звонить ночью?", "Звоните старшему смены."),
        ("who found it?", "It was found by Tomas Reinholt before noon."),
        ("what is the middle of E3?", BANDS),
        ("how long was printing down?", OUTAGE),
        ("how long is paid leave?", LEAVE),
        ('what does "printing was down" mean?', OUTAGE),
        ("what does a user who cannot log in do?", "Reset the password in the portal."),
    ],
)
def test_what_is_there_is_not_missed(question: str, text: str) -> None:
    assert not lacks(question, page(text))


def test_a_year_counts_when_the_page_is_in_force_then() -> None:
    item = page(LEAVE)
    start, end = datetime(2026, 1, 1, tzinfo=UTC), datetime(2027, 1, 1, tzinfo=UTC)
    dated = replace(item.passage, effective_from=start, effective_until=end)
    item = replace(item, passage=dated)
    assert not lacks("how long is paid leave in 2026?", item)
    assert lacks("how long is paid leave in 2027?", item)
    assert lacks("how long was paid leave in 2025?", item)


def test_a_thing_that_no_document_mentions_is_not_answered_by_what_stands_around_it() -> None:
    item = page("Wait for the network team when the VPN is down.")
    asked = "the vpn is down, where is the token?"
    assert lacks(asked, item, "token")
    assert not lacks(asked, item)


def test_a_passage_with_hardly_any_asked_word_is_about_something_else() -> None:
    assert lacks("how much does the portal cost?", page(LEAVE, coverage=0.2))
    assert not lacks("how much leave is there?", page(LEAVE, coverage=0.6))


def test_nothing_is_said_of_no_quotation() -> None:
    assert shortfall(view("who signs?"), "", [page(BANDS)]) is None


@pytest.mark.parametrize(
    "question",
    ["what are the mitigation steps for the lag alert?", "how do I fix the lag?",
     "что делать при lag?", "какой impact у lag"],
)  # fmt: skip
def test_an_empty_section_for_what_is_asked_is_told(question: str) -> None:
    item = page("# Lag\n\n## Meaning\n\nThe lag is long.\n\n## Impact\n\n## Mitigation\n\nTODO")
    lacking = shortfall(view(question), "The lag is long. [1]", [item])
    assert lacking is not None
    assert lacking.note == "unwritten"


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("which max_shards should I set?", "Set max_shards to 200."),
        ("what is the value of maxShards?", "maxShards is 200."),
        ("what is remote.max.shards?", "Set remote.max.shards=200."),
        ("how many `max_shards` are right?", "MAX_SHARDS is 200."),
        ("какой max_shards ставить?", "Ставьте max_shards 200."),
        ("what should --max-shards be", "Start it with --max-shards 200."),
    ],
)
def test_a_setting_that_is_asked_for_stands_in_the_answer(question: str, text: str) -> None:
    assert not lacks(question, page(text))
    assert lacks(question, page("It wants to run more shards than configured: check the load."))


@pytest.mark.parametrize(
    "question",
    ["which service, e.g. billing, is it?", "what does PgBouncer do?", "how long is the window?"],
)
def test_only_the_name_of_a_setting_has_to_stand_there(question: str) -> None:
    assert not lacks(question, page("The pool of the service has a window of 5 minutes."))
