"""Which questions ask for what was said, and what is looked for then."""

from __future__ import annotations

import pytest

from graph.recollection import is_recollection, looked_for

ABOUT_TALK = [
    ("what did we decide about the failover last week?", "the failover"),
    ("What had we agreed on with Skylark?", "Skylark"),
    ("remind me, what was decided about the freeze yesterday", "the freeze"),
    ("who said the replica lags?", None),
    ("did anyone mention db-orders-02?", "db-orders-02"),
    ("what number did we agree to answer skylark with", "skylark"),
    ("что мы решили про переключение на прошлой неделе?", "переключение"),
    ("о чём договорились по заморозке вчера", "заморозке"),
    ("какую сумму мы решили назвать skylark в ответ", "skylark"),
]
ABOUT_DOCUMENTS = [
    "how do we decide on the severity of an incident?",
    "what is agreed with the vendor about uptime?",
    "who can agree to a rollback?",
    "How do I restart billing?",
    "what does the runbook say about failover?",
    "как решить проблему с лагом реплики?",
    "кто решает, откатывать ли релиз?",
]


@pytest.mark.parametrize(("question", "kept"), [row for row in ABOUT_TALK if row[1]])
def test_words_about_the_conversation_are_not_looked_for(question: str, kept: str) -> None:
    assert is_recollection(question)
    left = looked_for(question)
    assert kept in left
    gone = ("decide", "agree ", "agreed", "last week", "yesterday", "решили", "вчера", "на прошлой")
    assert not any(word in left for word in gone)


@pytest.mark.parametrize("question", ABOUT_DOCUMENTS)
def test_a_question_for_the_documents_is_left_as_it_is(question: str) -> None:
    assert not is_recollection(question)
    assert looked_for(question) == question


def test_a_question_of_nothing_else_is_looked_for_whole() -> None:
    assert looked_for("what did we decide last week?") == "what did we decide last week?"
