"""RT-09: documents that contradict each other are shown side by side, and only those."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from graph.disagreements import side_by_side
from graph.model import Passage, SourceType

MARCH, JUNE = datetime(2026, 3, 4, tzinfo=UTC), datetime(2026, 6, 18, tzinfo=UTC)


def passage(
    document: str,
    title: str,
    text: str,
    updated: datetime | None = None,
    kind: SourceType = SourceType.FOLDER,
) -> Passage:
    return Passage(document, "docs", kind, document, title, (), text, document, updated_at=updated)


def shown(*given: Passage, text: str = "", cited: tuple[int, ...] = (0,)) -> str:
    """The answer that quotes the first passage, with what contradicts it."""
    return side_by_side(text or f"{given[0].text} [1]", cited, given, "en")[0]


STORAGE = passage(
    "storage.md",
    "Backups: retention by the storage team",
    "Nightly backups of the orders database are kept for 35 days.",
    MARCH,
)
DBA = passage(
    "dba.md",
    "Backups: retention by the database team",
    "Nightly backups of the orders database are kept for 21 days.",
    JUNE,
)


def test_both_sides_are_told_with_their_dates_the_newer_first() -> None:
    text, cited = side_by_side(f"{STORAGE.text} [1]", (0,), (STORAGE, DBA), "en")
    assert cited == (0, 1)
    assert text.startswith("The documents disagree:")
    newer, older = text.index("21 days. [2]"), text.index("35 days. [1]")
    assert newer < older
    assert "2026-06-18" in text[newer:older]
    assert "2026-03-04" in text[older:]
    assert text.count("35 days") == 1


def test_a_models_own_words_stay_and_the_other_side_is_added() -> None:
    text = shown(STORAGE, DBA, text="Orders backups live 35 days [1].")
    assert text.startswith("Orders backups live 35 days [1].")
    assert "21 days. [2]" in text


def test_saying_it_once_is_enough() -> None:
    text, cited = side_by_side(f"{STORAGE.text} [1]", (0,), (STORAGE, DBA), "en")
    assert side_by_side(text, cited, (STORAGE, DBA), "en") == (text, cited)


def test_a_document_without_a_date_is_said_to_have_none() -> None:
    undated = passage("x.md", STORAGE.title, STORAGE.text)
    assert "no date" in shown(undated, DBA)


def test_an_answer_about_something_else_shows_no_quarrel() -> None:
    assert shown(STORAGE, DBA, text="Ask the storage team [1].") == "Ask the storage team [1]."


@pytest.mark.parametrize(
    ("question", "disputed"),
    [("what is the SLA of the portal?", True), ("who wrote the SLA?", False), ("", False)],
)
def test_a_short_statement_disagrees_only_when_it_is_what_was_asked(
    question: str, disputed: bool
) -> None:
    given = (
        passage("sla.md", "SLA", "The SLA of the portal is 99.9 %."),
        passage("notes.md", "SLA notes", "The SLA of the portal is 99.5 %."),
    )
    text, _ = side_by_side(f"{given[0].text} [1]", (0,), given, "en", question)
    assert ("The documents disagree" in text) is disputed


CONTRADICTIONS = {
    "a path": (
        ("Kafka logs", "The broker of Kafka writes its logs to /var/log/kafka."),
        ("Kafka runbook", "The broker of Kafka writes its logs to /data/kafka/logs."),
    ),
    "a time": (
        ("Deploys", "Production deploys of the portal are frozen after 16:00 UTC on working days."),
        ("Deploys", "Production deploys of the portal are frozen after 18:00 UTC on working days."),
    ),
    "Russian": (
        ("Бэкапы: хранение", "Ночные бэкапы базы заказов хранятся 35 дней."),
        ("Бэкапы: хранение и проверка", "Ночные бэкапы базы заказов хранятся 21 день."),
    ),
    "a port": (
        (
            "Payout gateway",
            "The gateway of payouts listens for callbacks of the bank on port 8443.",
        ),
        (
            "Payout gateway",
            "The gateway of payouts listens for callbacks of the bank on port 9443.",
        ),
    ),
}


@pytest.mark.parametrize("pair", CONTRADICTIONS.values(), ids=CONTRADICTIONS.keys())
def test_different_values_of_one_thing_disagree(
    pair: tuple[tuple[str, str], tuple[str, str]],
) -> None:
    one, other = (passage(f"{n}.md", *item) for n, item in zip("ab", pair, strict=True))
    assert "The documents disagree" in shown(one, other)


AGREEMENTS = {
    "the same in another unit": (
        ("metrics.md", "Metrics", "Metrics of Grafana are kept for 24 hours on disk."),
        ("grafana.md", "Grafana", "Metrics of Grafana are kept for 1 day on disk."),
    ),
    "another environment": (
        ("prod.md", "Production DB", "Backups of the orders database are kept for 35 days."),
        ("staging.md", "Staging DB", "Backups of the orders database are kept for 7 days."),
    ),
    "another alert": (
        ("a.md", "QueueTooLong", "The alert fires when messages wait longer than 15 minutes."),
        ("b.md", "QueueStuck", "The alert fires when messages wait longer than 60 minutes."),
    ),
    "another host": (
        ("db-orders-02.md", "db-orders-02", "The primary of the orders database has 64 GB."),
        ("db-orders-20.md", "db-orders-20", "The primary of the orders database has 32 GB."),
    ),
    "another service": (
        ("payments.md", "Payments service", "Logs of the service stay on the host for 14 days."),
        ("orders.md", "Orders service", "Logs of the service stay on the host for 30 days."),
    ),
    "another thing of the same kind": (
        ("a.md", "Backups", "Nightly backups of the orders database are kept for 35 days."),
        ("b.md", "Backups", "Weekly backups of the billing database are kept for 90 days."),
    ),
    "another year": (
        ("2026-04.md", "Outage of April 2026", "Clients of the portal saw errors for 35 minutes."),
        ("2026-07.md", "Outage of July 2026", "Clients of the portal saw errors for 12 minutes."),
    ),
    "an example": (
        ("a.md", "Pools", "For example, the pool of the orders database has 40 connections."),
        ("b.md", "Pools", "For example, the pool of the orders database has 30 connections."),
    ),
    "an older edition": (
        ("policy-2022.md", "Logs", "Logs of the payment gateway are kept for 180 days."),
        ("policy-2025.md", "Logs", "Logs of the payment gateway are kept for 270 days."),
    ),
}


@pytest.mark.parametrize("pair", AGREEMENTS.values(), ids=AGREEMENTS.keys())
def test_what_is_no_contradiction_is_not_called_one(
    pair: tuple[tuple[str, str, str], tuple[str, str, str]],
) -> None:
    one, other = (passage(*item) for item in pair)
    assert shown(one, other) == f"{one.text} [1]"
    assert shown(other, one) == f"{other.text} [1]"


@pytest.mark.parametrize("kind", [SourceType.WEB, SourceType.SESSION])
def test_only_documents_disagree_with_documents(kind: SourceType) -> None:
    other = passage(DBA.document, DBA.title, DBA.text, JUNE, kind)
    assert "disagree" not in shown(STORAGE, other)
