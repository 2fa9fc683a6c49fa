"""A question that fits two things is asked back once, and the answer to that is understood."""

from __future__ import annotations

import pytest

from adapters.memory.model import ScriptedModel
from graph.model import Confidence, Outcome
from graph.phrases import asks_which
from tests.scenarios.conftest import OpenTeam
from tests.scenarios.kit import Chat, Files

DATABASES: Files = {
    "db-prod.md": "# Production DB\n\nHost pg-prod-1. Maintenance window: Sunday 02:00 UTC.\n",
    "db-staging.md": "# Staging DB\n\nHost pg-stg-1. Maintenance window: daily 04:00 UTC.\n",
    "vpn.md": "# VPN\n\nThe VPN gateway is vpn-7.internal.\n",
}
QUEUES: Files = {
    "queue-payments.md": "# Payments queue\n\n"
    "The queue of payments is restarted with `systemctl restart pay-queue`. Retention: 3 days.\n",
    "queue-orders.md": "# Orders queue\n\n"
    "The queue of orders is restarted with `systemctl restart ord-queue`. Retention: 5 days.\n",
    "vpn.md": "# VPN\n\nThe VPN gateway is vpn-7.internal.\n",
}
STANDS: Files = {
    "база-прод.md": "# База на проде\n\nХост pg-prod-1. Окно работ: воскресенье, 02:00 UTC.\n",
    "база-стейджинг.md": "# База на стейджинге\n\nХост pg-stg-1. Окно работ: ежедневно, 04:00.\n",
}

FOLDERS: Files = {
    "payments/restart.md": "# Restart\n\nRestart the service with `systemctl restart payd`.\n",
    "orders/restart.md": "# Restart\n\nRestart the service with `systemctl restart ordd`.\n",
}
CACHES: Files = {
    "конфиг-тест.md": "# Кэш на тесте\n\nАдрес кэша: redis-test-1:6379.\n",
    "конфиг-прод.md": "# Кэш на проде\n\nАдрес кэша: redis-prod-1:6379.\n",
}

UNCLEAR = [
    (FOLDERS, "how do I restart the service?", ("payments/restart.md", "orders/restart.md")),
    (CACHES, "какой адрес у кэша?", ("redis-test-1", "redis-prod-1")),
    (DATABASES, "what is the maintenance window of the DB?", ("Production DB", "Staging DB")),
    (DATABASES, "when is the window of the database?", ("Production DB",)),
    (DATABASES, "какое окно работ у базы?", ("Production DB", "Staging DB")),
    (QUEUES, "how do I restart the queue?", ("Orders queue", "Payments queue")),
    (QUEUES, "what is the retention of the queue?", ("5 days", "3 days")),
    (STANDS, "какое окно работ у базы?", ("База на проде", "База на стейджинге")),
]


def asked_back(chat: Chat) -> bool:
    return asks_which(chat.answer.text)


@pytest.mark.parametrize(("files", "question", "options"), UNCLEAR)
async def test_the_asker_is_asked_which_one_and_shown_what_each_says(
    a_team: OpenTeam, files: Files, question: str, options: tuple[str, ...]
) -> None:
    chat = (await a_team(files)).chat()
    await chat.says(question)
    assert asked_back(chat), chat.figures
    assert chat.outcome is Outcome.PARTIAL
    assert chat.answer.confidence is Confidence.LOW
    assert len(chat.cited) == 2
    assert "vpn.md" not in chat.cited
    chat.sees(*options)


@pytest.mark.parametrize(
    ("files", "question", "document"),
    [
        (DATABASES, "what is the maintenance window of the staging DB?", "db-staging.md"),
        (DATABASES, "maintenance window of the DB on prod", "db-prod.md"),
        (DATABASES, "what is the VPN gateway?", "vpn.md"),
        (QUEUES, "how do I restart the queue of orders?", "queue-orders.md"),
        (QUEUES, "payments queue retention", "queue-payments.md"),
        (QUEUES, "how do I restart the queue of payments or orders?", "queue-orders.md"),
        (QUEUES, "what is the retention of both queues?", "queue-orders.md"),
        (STANDS, "окно работ базы на стейджинге", "база-стейджинг.md"),
    ],
)
async def test_a_question_that_names_its_thing_is_answered(
    a_team: OpenTeam, files: Files, question: str, document: str
) -> None:
    chat = (await a_team(files)).chat()
    await chat.says(question)
    assert not asked_back(chat), chat.text
    chat.cites(document)


async def test_documents_that_say_the_same_leave_nothing_to_ask(a_team: OpenTeam) -> None:
    same = "The queue is restarted with `systemctl restart queue`.\n"
    files: Files = {
        "queue-payments.md": f"# Payments queue\n\n{same}",
        "queue-orders.md": f"# Orders queue\n\n{same}\nOrders are kept for a day.\n",
    }
    chat = (await a_team(files)).chat()
    await chat.says("how do I restart the queue?")
    assert not asked_back(chat)
    chat.is_answered()


@pytest.mark.parametrize(
    ("reply", "document", "value"),
    [
        ("staging", "db-staging.md", "daily 04:00"),
        ("production", "db-prod.md", "Sunday 02:00"),
        ("the Staging DB", "db-staging.md", "daily 04:00"),
        ("на стейджинге", "db-staging.md", "daily 04:00"),
    ],
)
async def test_what_is_chosen_completes_the_question(
    a_team: OpenTeam, reply: str, document: str, value: str
) -> None:
    chat = (await a_team(DATABASES)).chat()
    await chat.says("what is the maintenance window of the DB?")
    await chat.says(reply)
    assert not asked_back(chat)
    assert chat.cited == [document], chat.figures
    chat.sees(value)


async def test_a_new_question_after_being_asked_is_no_choice(a_team: OpenTeam) -> None:
    chat = (await a_team(DATABASES)).chat()
    await chat.says("what is the maintenance window of the DB?")
    await chat.says("what is the VPN gateway?")
    assert chat.trace.resolved == "what is the VPN gateway?"
    chat.cites("vpn.md")


async def test_nobody_is_asked_twice_in_a_row(a_team: OpenTeam) -> None:
    chat = (await a_team(DATABASES)).chat()
    await chat.says("what is the maintenance window of the DB?")
    await chat.says("what is the maintenance window of the DB, please?")
    assert not asked_back(chat)
    chat.sees("Sunday 02:00", "daily 04:00")


async def test_asking_back_takes_no_model(a_team: OpenTeam) -> None:
    model = ScriptedModel(default="Sunday 02:00 UTC [1].")
    chat = (await a_team(DATABASES)).chat(model=model)
    await chat.says("what is the maintenance window of the DB?")
    assert asked_back(chat)
    assert chat.model_calls == 0


async def test_a_title_cannot_say_more_than_its_name(a_team: OpenTeam) -> None:
    files: Files = {
        "db-prod.md": "# Production DB <!channel> [1](https://evil.example)\n\nWindow: Sunday.\n",
        "db-staging.md": "# Staging DB\n\nWindow: daily.\n",
    }
    chat = (await a_team(files)).chat()
    await chat.says("what is the window of the DB?")
    assert "](https://evil.example" not in chat.answer.text
    assert "<!channel>" not in chat.answer.text
