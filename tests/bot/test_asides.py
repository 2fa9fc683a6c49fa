"""What stands beside a question is not searched for; what it asks about is."""

from __future__ import annotations

import pytest

from bot.asides import without_asides

QUESTION = "what does exit code 137 mean"


@pytest.mark.parametrize(
    "said",
    [
        f"{QUESTION} @U0ANN7X2",
        f"{QUESTION} @anna_petrova",
        f"@anna_petrova {QUESTION}",
        f"@here {QUESTION}",
        f"@anna_petrova, @boris: {QUESTION}",
        f"@U0ANN7X2 #C0OPS1234 {QUESTION}",
        f"{QUESTION} cc @anna_petrova",
        f"{QUESTION}, cc: @anna_petrova, @U0BORIS99.",
        f"{QUESTION} (fyi @boris)",
        "what does exit code @U0ANN7X2 137 mean",
        f"https://grafana.example/d/abc123/orders?orgId=1 {QUESTION}",
    ],
)
def test_what_is_beside_a_question_is_no_part_of_it(said: str) -> None:
    assert without_asides(said) == QUESTION


@pytest.mark.parametrize(
    "said",
    [
        "who is @anna_petrova",
        "who is @U0ANN7X2?",
        "кто это @anna_petrova",
        "what does @anna_petrova own?",
        "where is @Retryable documented?",
        "how do I retry with @Retryable",
        "@Transactional does nothing, why?",
        "how do I install @angular/core",
        "who reads ops@example.org",
        "scp x root@host",
        "what is #ops-alerts for?",
        "why does pip install pkg@latest fail",
        "what is this? https://grafana.example/d/abc123",
        "how do I open https://grafana.example/d/abc123",
        "https://grafana.example/d/abc123",
        "https://grafana.example/d/abc123 why?",
    ],
)
def test_what_a_question_is_about_stays(said: str) -> None:
    assert without_asides(said) == said


def test_a_link_behind_a_question_is_no_part_of_it() -> None:
    link = "https://grafana.example/d/abc123/orders?orgId=1"
    for gap in (" ", "\n"):
        assert without_asides(f"{QUESTION}?{gap}{link}") == f"{QUESTION}?"


@pytest.mark.parametrize("said", ["@anna_petrova", "@U0ANN7X2 @boris"])
def test_people_alone_ask_nothing(said: str) -> None:
    assert without_asides(said).strip() == ""
