"""A few one-line documents, as in a first look: what they say is told, anything else is not."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest

from adapters.memory.web import MemoryWeb
from tests.scenarios.conftest import OpenTeam
from tests.scenarios.kit import Files


@dataclass(frozen=True, slots=True)
class Corpus:
    """`asked`: a question, the document that answers it, and what the answer must hold."""

    files: Files
    asked: tuple[tuple[str, str, str], ...]
    unrelated: tuple[str, ...]


CORPORA: dict[str, Corpus] = {
    "one English port": Corpus(
        files={
            "billing.md": "The billing service listens on port 8081.\n",
        },
        asked=(
            ("which port does the billing service listen on?", "billing.md", "8081"),
            ("What is the port of the billing service?", "billing.md", "8081"),
            ("billing port", "billing.md", "8081"),
            ("what port is billing on?", "billing.md", "8081"),
            ("which port should I open for billing?", "billing.md", "8081"),
        ),
        unrelated=(
            "what is the parental leave policy?",
            "who won the football match yesterday?",
            "how do I bake bread?",
            "how do I restart Kafka?",
        ),
    ),
    "one English rule": Corpus(
        files={
            "freeze.md": "Production deploys are frozen on Fridays after 15:00 UTC.\n",
        },
        asked=(
            ("when are production deploys frozen?", "freeze.md", "Fridays"),
            ("Are prod deploys frozen on Fridays?", "freeze.md", "Fridays"),
            ("can I deploy to production on Friday?", "freeze.md", "Fridays"),
            ("can I deploy to production on Friday evening?", "freeze.md", "Fridays"),
            ("from what time are deploys frozen on Fridays?", "freeze.md", "15:00"),
        ),
        unrelated=(
            "what is the capital of Peru?",
            "how do I rotate TLS certificates?",
            "what is the wifi password?",
        ),
    ),
    "two environments": Corpus(
        files={
            "db-prod.md": "Production DB: host pg-prod-1, maintenance window Sunday 02:00 UTC.\n",
            "db-staging.md": "Staging DB: host pg-stg-1, maintenance window daily 04:00 UTC.\n",
        },
        asked=(
            ("maintenance window of the staging DB?", "db-staging.md", "daily"),
            ("when is the production database maintenance window?", "db-prod.md", "Sunday"),
            ("what is the host of the staging DB?", "db-staging.md", "pg-stg-1"),
            ("which host runs the production DB?", "db-prod.md", "pg-prod-1"),
        ),
        unrelated=(
            "what is the office wifi password?",
            "how many vacation days do I get?",
        ),
    ),
    "two files of one name": Corpus(
        files={
            "billing/README.md": "# Billing\n\nListens on port 8081.\n",
            "orders/README.md": "# Orders\n\nListens on port 8082.\n",
        },
        asked=(
            ("which port does billing use?", "billing/README.md", "8081"),
            ("which port does orders listen on?", "orders/README.md", "8082"),
            ("what is the port of billing?", "billing/README.md", "8081"),
        ),
        unrelated=(
            "which port does shipping use?",
            "who runs the company?",
            "how do I cook rice?",
        ),
    ),
    "five English notes": Corpus(
        files={
            "redis.md": "When Redis reports OOM, raise maxmemory to 4gb with "
            "redis-cli config set maxmemory 4gb.\n",
            "drain.md": "To drain a node run kubectl drain NODE --ignore-daemonsets.\n",
            "pager.md": "The on-call phone number is +44 20 7946 0991.\n",
            "backup.md": "Backups of the orders database run every night at 01:30 UTC and "
            "are kept for 21 days.\n",
            "vpn.md": "VPN access is requested in the IT portal and approved within one day.\n",
        },
        asked=(
            ("how do I drain a node?", "drain.md", "kubectl drain"),
            ("what to do when Redis reports OOM?", "redis.md", "maxmemory"),
            ("how long are backups of the orders database kept?", "backup.md", "21 days"),
            ("what is the on-call phone number?", "pager.md", "7946"),
            ("how do I get VPN access?", "vpn.md", "IT portal"),
            ("how do I request access to the VPN?", "vpn.md", "IT portal"),
            ("when do backups of the orders database run?", "backup.md", "01:30"),
            ("Redis is out of memory, what do I do?", "redis.md", "maxmemory"),
        ),
        unrelated=(
            "what is the parental leave policy?",
            "how do I configure Kafka partitions?",
            "what is the weather in Paris today?",
            "who painted the Mona Lisa?",
        ),
    ),
    "five codes and hosts": Corpus(
        files={
            "a.md": "ERR-4417 means the card was declined by the bank.\n",
            "b.md": "ERR-4471 means the payment gateway timed out; retry after 30 seconds.\n",
            "c.md": "Host db-orders-02 is the primary of the orders cluster.\n",
            "d.md": "Host db-orders-20 is a read replica of the orders cluster.\n",
            "e.md": "The gateway reads its settings from /etc/pay/gw.conf.\n",
        },
        asked=(
            ("what is ERR-4471?", "b.md", "timed out"),
            ("what does ERR-4417 mean?", "a.md", "declined"),
            ("what is db-orders-20?", "d.md", "replica"),
            ("which role does db-orders-02 have?", "c.md", "primary"),
            ("where does the gateway read its settings from?", "e.md", "/etc/pay/gw.conf"),
            ("where are the settings of the gateway?", "e.md", "/etc/pay/gw.conf"),
        ),
        unrelated=(
            "what is ERR-9999?",
            "what does the marketing team do?",
            "what is db-users-01?",
        ),
    ),
    "one Russian port": Corpus(
        files={
            "billing.md": "Сервис биллинга слушает порт 8081.\n",
        },
        asked=(
            ("какой порт слушает сервис биллинга?", "billing.md", "8081"),
            ("на каком порту биллинг?", "billing.md", "8081"),
            ("порт биллинга", "billing.md", "8081"),
            ("какой порт у биллинга?", "billing.md", "8081"),
        ),
        unrelated=(
            "сколько дней отпуска мне положено?",
            "кто выиграл вчерашний матч?",
            "как перезапустить кафку?",
        ),
    ),
    "two Russian rules": Corpus(
        files={
            "vpn.md": "Доступ к VPN выдаёт отдел ИТ по заявке в портале.\n",
            "otpusk.md": "Отпуск согласуется с руководителем за две недели.\n",
        },
        asked=(
            ("кто выдаёт доступ к VPN?", "vpn.md", "ИТ"),
            ("как получить доступ к VPN?", "vpn.md", "заявке"),
            ("за сколько согласуется отпуск?", "otpusk.md", "две недели"),
            ("с кем согласовать отпуск?", "otpusk.md", "руководителем"),
        ),
        unrelated=(
            "как настроить партиции в Kafka?",
            "какая погода в Париже?",
            "сколько стоит билет в кино?",
        ),
    ),
    "five Russian notes": Corpus(
        files={
            "redis.md": "Если Redis упёрся в память, поднимите maxmemory до 4gb.\n",
            "node.md": "Чтобы вывести ноду из кластера, выполните kubectl drain.\n",
            "backup.md": "Бэкапы базы заказов снимаются каждую ночь и хранятся 21 день.\n",
            "freeze.md": "Релизы на прод запрещены по пятницам.\n",
            "phone.md": "Телефон дежурного: +7 495 123-45-67.\n",
        },
        asked=(
            ("сколько хранятся бэкапы базы заказов?", "backup.md", "21 день"),
            ("как вывести ноду из кластера?", "node.md", "kubectl drain"),
            ("когда запрещены релизы на прод?", "freeze.md", "пятницам"),
            ("какой телефон у дежурного?", "phone.md", "123-45-67"),
            ("что делать, если Redis упёрся в память?", "redis.md", "maxmemory"),
            ("можно ли релизить на прод в пятницу?", "freeze.md", "пятницам"),
            ("как часто снимаются бэкапы базы заказов?", "backup.md", "каждую ночь"),
        ),
        unrelated=(
            "где ближайшая столовая?",
            "кто директор компании?",
            "как настроить Grafana?",
            "как приготовить борщ?",
        ),
    ),
    "one command, two languages": Corpus(
        files={
            "drain.md": "To drain a node run kubectl drain.\n",
        },
        asked=(
            ("как вывести ноду из кластера?", "drain.md", "kubectl drain"),
            ("how do I drain a node?", "drain.md", "kubectl drain"),
            ("drain node command", "drain.md", "kubectl drain"),
        ),
        unrelated=(
            "как испечь хлеб?",
            "how do I renew my passport?",
        ),
    ),
    "two notes, two languages": Corpus(
        files={
            "retention.md": "Logs are kept for 30 days in Loki.\n",
            "restart.md": "Чтобы перезапустить парсер, выполните systemctl restart parser.\n",
        },
        asked=(
            ("how long are logs kept?", "retention.md", "30 days"),
            ("how many days are logs kept in Loki?", "retention.md", "30 days"),
            ("сколько хранятся логи?", "retention.md", "30 days"),
            ("сколько хранятся логи в Loki?", "retention.md", "30 days"),
            ("сколько дней хранятся логи?", "retention.md", "30 days"),
            ("how do I restart the parser?", "restart.md", "systemctl restart parser"),
            ("как перезапустить парсер?", "restart.md", "systemctl restart parser"),
        ),
        unrelated=(
            "what is the parental leave policy?",
            "какая зарплата у стажёра?",
            "who is on duty at the museum?",
        ),
    ),
    "five notes, two languages": Corpus(
        files={
            "slo.md": "The SLO of the checkout API is 99.9 % per month.\n",
            "owner.md": "Команда Платежи отвечает за сервис payments-gw.\n",
            "cert.md": "TLS certificates are renewed by cert-manager 30 days before expiry.\n",
            "queue.md": "Очередь orders-events живёт в RabbitMQ на хосте mq-01.\n",
            "oncall.md": "On-call handover is on Monday at 10:00 Moscow time.\n",
        },
        asked=(
            ("what is the SLO of the checkout API?", "slo.md", "99.9"),
            ("кто отвечает за payments-gw?", "owner.md", "Платежи"),
            ("who owns payments-gw?", "owner.md", "Платежи"),
            ("when are TLS certificates renewed?", "cert.md", "30 days"),
            ("где живёт очередь orders-events?", "queue.md", "mq-01"),
            ("when is the on-call handover?", "oncall.md", "Monday"),
            ("какой SLO у checkout API?", "slo.md", "99.9"),
            ("on which host is orders-events?", "queue.md", "mq-01"),
        ),
        unrelated=(
            "what is the office address?",
            "как оформить больничный?",
            "how tall is Mount Everest?",
        ),
    ),
}


def asked() -> Iterator[Any]:
    for name, corpus in CORPORA.items():
        for question, document, piece in corpus.asked:
            values = corpus.files, question, document, piece
            yield pytest.param(*values, id=f"{name}: {question}")


def unrelated() -> Iterator[Any]:
    for name, corpus in CORPORA.items():
        for question in corpus.unrelated:
            yield pytest.param(corpus.files, question, id=f"{name}: {question}")


@pytest.mark.parametrize(("files", "question", "document", "piece"), list(asked()))
async def test_what_one_line_says_is_told(
    a_team: OpenTeam, files: Files, question: str, document: str, piece: str
) -> None:
    web = MemoryWeb([])
    chat = (await a_team(files)).chat(web=web)
    await chat.says(question)
    chat.is_answered()
    chat.cites(document)
    chat.sees(piece)
    assert web.queries == []


@pytest.mark.parametrize(("files", "question"), list(unrelated()))
async def test_what_no_line_says_is_not_told(a_team: OpenTeam, files: Files, question: str) -> None:
    chat = (await a_team(files)).chat()
    await chat.says(question)
    chat.is_refused()
