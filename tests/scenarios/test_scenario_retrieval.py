"""The right document: identifiers, environments, editions, languages, and none at all."""

from __future__ import annotations

import re

import pytest

from adapters.memory.model import ScriptedModel
from graph.model import Outcome
from tests.scenarios.conftest import OpenTeam
from tests.scenarios.kit import Files

GATEWAY: Files = {
    "gateway.md": "# Gateway\n\nThe payment gateway listens on port 8443 behind lb-02.\n",
    "firewall.md": "# Firewall\n\nThe gateway's port 8443 is open to the office network only.\n",
    "шлюз.md": "# Шлюз\n\nПлатёжный шлюз слушает порт 8443 за балансировщиком lb-02.\n",
}


# RT-05


@pytest.mark.parametrize(
    ("question", "draft"),
    [
        (
            "which port does the payment gateway listen on?",
            "Use port 8443 [1][5]. See https://wiki.example/made-up (source 7).",
        ),
        (
            "payment gateway port?",
            "Port 8443 [1], as [the wiki](https://wiki.example/ports) says [12].",
        ),
        (
            "какой порт слушает платёжный шлюз?",
            "Порт 8443 [1][9]. Подробнее: https://wiki.example/made-up [7].",
        ),
    ],
)
async def test_rt_05_marks_and_links_that_were_never_given_are_taken_out(
    a_team: OpenTeam, question: str, draft: str
) -> None:
    team = await a_team(GATEWAY)
    chat = team.chat(model=ScriptedModel(default=draft))
    await chat.says(question)
    chat.is_answered()
    chat.sees("8443")
    chat.never_sees("wiki.example", "[5]", "[7]", "[9]", "[12]", "source 7")
    marks = {int(mark) for mark in re.findall(r"\[(\d+)\]", chat.answer.text)}
    assert marks == {citation.number for citation in chat.answer.citations}
    assert marks == set(range(1, len(marks) + 1))


@pytest.mark.parametrize(
    ("question", "draft", "lie"),
    [
        ("which port does the payment gateway listen on?", "Port 31337 on evil-01 [1].", "31337"),
        ("какой порт слушает платёжный шлюз?", "Порт 31337, хост evil-01 [1].", "31337"),
        ("which port does the payment gateway listen on?", "It listens on 31337.", "31337"),
    ],
)
async def test_rt_05_a_draft_that_nothing_supports_gives_way_to_quotations(
    a_team: OpenTeam, question: str, draft: str, lie: str
) -> None:
    team = await a_team(GATEWAY)
    chat = team.chat(model=ScriptedModel(default=draft))
    await chat.says(question)
    chat.never_sees(lie, "evil-01")
    chat.sees("8443")
    assert chat.cited


# RT-08

VPN: Files = {
    "vpn-access.md": "# VPN access\n\nVPN access is requested in the IT portal.\n",
    "vpn-clients.md": "# VPN clients\n\nInstall WireGuard 1.0 on Linux and on macOS.\n",
    "vpn-доступ.md": "# Доступ к VPN\n\nДоступ к VPN выдаёт отдел ИТ по заявке в портале.\n",
}


@pytest.mark.parametrize(
    ("question", "sentence"),
    [
        ("What is the parental leave policy?", "I did not find this in your documents."),
        ("how many vacation days do new employees get", "I did not find this in your documents."),
        ("how do I bake sourdough bread?", "I did not find this in your documents."),
        ("Какие правила отпуска по уходу за ребёнком?", "В ваших документах я этого не нашёл."),
        ("сколько дней отпуска положено новичку?", "В ваших документах я этого не нашёл."),
    ],
)
@pytest.mark.parametrize("with_model", [False, True], ids=["no model", "a model that invents"])
async def test_rt_08_what_the_documents_lack_is_not_invented(
    a_team: OpenTeam, question: str, sentence: str, with_model: bool
) -> None:
    team = await a_team(VPN)
    model = ScriptedModel(default="Parental leave is 16 weeks, vacation 25 days [1].")
    chat = team.chat(model=model if with_model else None)
    await chat.says(question)
    chat.is_refused()
    chat.sees(sentence)
    chat.never_sees("16 weeks", "25 days")
    assert model.prompts == []
    assert chat.answer.nearest or "vpn" not in chat.text.lower()


# RT-09

EDITIONS: dict[str, tuple[Files, str, str, str, str]] = {
    "by name and by word": (
        {
            "policy-2022.md": "# Log retention policy\n\nRetention of logs is 180 days.\n",
            "policy-2025.md": "# Log retention policy\n\nThis supersedes policy-2022. "
            "Retention of logs is 270 days.\n",
        },
        "what is the retention of logs?",
        "policy-2025.md",
        "270 days",
        "180 days",
    ),
    "by front matter": (
        {
            "old.md": "---\ntitle: On-call pay policy\nupdated_at: 2022-01-10\n---\n"
            "The on-call weekend rate is 100 euro.\n",
            "new.md": "---\ntitle: On-call pay policy\nupdated_at: 2025-02-01\n---\n"
            "The on-call weekend rate is 150 euro.\n",
        },
        "what is the on-call weekend rate?",
        "new.md",
        "150 euro",
        "100 euro",
    ),
    "in Russian": (
        {
            "регламент-2022.md": "# Хранение логов\n\nСрок хранения логов: 180 дней.\n",
            "регламент-2025.md": "# Хранение логов\n\nЗаменяет регламент-2022. "
            "Срок хранения логов: 270 дней.\n",
        },
        "какой срок хранения логов?",
        "регламент-2025.md",
        "270 дней",
        "180 дней",
    ),
}


@pytest.mark.parametrize("case", EDITIONS.values(), ids=EDITIONS.keys())
async def test_rt_09_the_newer_edition_is_told_and_the_older_named_as_older(
    a_team: OpenTeam, case: tuple[Files, str, str, str, str]
) -> None:
    files, question, newer, now, before = case
    team = await a_team(files)
    chat = team.chat()
    await chat.says(question)
    chat.is_answered()
    chat.sees(now)
    assert chat.cited[0] == newer
    text = chat.answer.text
    if before in text:
        assert text.index(now) < text.index(before)
        assert "older edition" in text or "более старой редакции" in text


@pytest.mark.parametrize("case", EDITIONS.values(), ids=EDITIONS.keys())
async def test_rt_09_a_model_is_told_which_edition_is_older(
    a_team: OpenTeam, case: tuple[Files, str, str, str, str]
) -> None:
    files, question, _, now, before = case
    team = await a_team(files)
    model = ScriptedModel(default=f"{now} [1]")
    await team.chat(model=model).says(question)
    user = model.prompts[0].user
    assert now in user
    if before in user:
        assert "edition: older than passage" in user


# RT-14

IDENTIFIERS: Files = {
    "errors/4417.md": "# ERR-4417\n\nERR-4417: the bank declined the card. Ask the customer.\n",
    "errors/4471.md": "# ERR-4471\n\nERR-4471: the gateway timed out. Retry after 30 seconds.\n",
    "hosts/orders-02.md": "# db-orders-02\n\nHost db-orders-02 is the primary, 64 GB.\n",
    "hosts/orders-20.md": "# db-orders-20\n\nHost db-orders-20 is a replica, 32 GB.\n",
    "java.md": "# Exceptions\n\nOrderTimeoutException means that the broker is slow.\n",
    "java2.md": "# Exceptions too\n\nOrderTimerException means that the clock was changed.\n",
    "conf.md": "# Settings\n\nThe gateway reads /etc/pay/gw.conf at start.\n",
    "conf2.md": "# More settings\n\nThe proxy reads /etc/pay/gwx.conf at start.\n",
    "alerts.md": "# Alerts\n\nKubePodCrashLooping: look at the logs of the last container.\n",
    "alerts2.md": "# More alerts\n\nKubePodNotReady: look at the readiness probe.\n",
    "flags.md": "# Flags\n\nfeature_new_checkout is on for 5 % of the traffic.\n",
    "flags2.md": "# More flags\n\nfeature_new_catalog is off.\n",
    "коды.md": "# Коды\n\nОшибка E-102: закончилась бумага в принтере этикеток.\n",
    "коды2.md": "# Ещё коды\n\nОшибка E-120: открыта крышка принтера этикеток.\n",
}


@pytest.mark.parametrize(
    ("question", "document"),
    [
        ("what is ERR-4471?", "errors/4471.md"),
        ("what does err-4417 mean", "errors/4417.md"),
        ("what is db-orders-02?", "hosts/orders-02.md"),
        ("how much memory has db-orders-20", "hosts/orders-20.md"),
        ("OrderTimeoutException", "java.md"),
        ("what is OrderTimerException", "java2.md"),
        ("who reads /etc/pay/gw.conf?", "conf.md"),
        ("who reads /etc/pay/gwx.conf?", "conf2.md"),
        ("KubePodCrashLooping fired", "alerts.md"),
        ("kubepodnotready what to do", "alerts2.md"),
        ("what is feature_new_checkout", "flags.md"),
        ("is feature_new_catalog on?", "flags2.md"),
        ("что значит ошибка E-120?", "коды2.md"),
        ("что за ошибка E-102", "коды.md"),
        ("что такое ERR-4471?", "errors/4471.md"),
    ],
)
async def test_rt_14_an_exact_identifier_comes_first(
    a_team: OpenTeam, question: str, document: str
) -> None:
    team = await a_team(IDENTIFIERS)
    chat = team.chat()
    await chat.says(question)
    assert chat.trace.documents[0] == f"docs/{document}", chat.figures
    assert chat.outcome in (Outcome.ANSWERED, Outcome.PARTIAL), chat.figures
    assert chat.cited[0] == document


# RT-16

DATABASES: Files = {
    "db-prod.md": "# Production DB\n\nHost pg-prod-1. Maintenance window: Sunday 02:00 UTC.\n",
    "db-staging.md": "# Staging DB\n\nHost pg-stg-1. Maintenance window: daily 04:00 UTC.\n",
    "db-test.md": "# Test DB\n\nHost pg-test-1. Maintenance window: none, restart at will.\n",
    "очередь-прод.md": "# Очередь на проде\n\nХост mq-prod-1. Окно работ: суббота, 03:00 МСК.\n",
    "очередь-стейджинг.md": "# Очередь на стейджинге\n\nХост mq-stg-1. Окно работ: ежедневно.\n",
}


@pytest.mark.parametrize(
    ("question", "document"),
    [
        ("maintenance window of the staging DB?", "db-staging.md"),
        ("when is the maintenance window of the production database?", "db-prod.md"),
        ("maintenance window of the DB on prod", "db-prod.md"),
        ("host of the DB on stage", "db-staging.md"),
        ("what is the host of the test DB?", "db-test.md"),
        ("какое окно работ у очереди на проде?", "очередь-прод.md"),
        ("какое окно работ у очереди на стейдже?", "очередь-стейджинг.md"),
        ("хост очереди на продакшене", "очередь-прод.md"),
        ("окно обслуживания базы на стейджинге", "db-staging.md"),
        ("окно обслуживания базы на проде?", "db-prod.md"),
    ],
)
async def test_rt_16_the_asked_environment_comes_first(
    a_team: OpenTeam, question: str, document: str
) -> None:
    team = await a_team(DATABASES)
    chat = team.chat()
    await chat.says(question)
    assert chat.trace.documents[0] == f"docs/{document}", chat.figures
    if chat.cited:
        assert chat.cited[0] == document
    other = {"db-prod.md": "pg-stg-1", "db-staging.md": "pg-prod-1", "db-test.md": "pg-prod-1"}
    if document in other:
        chat.never_sees(other[document])


# RT-17

TWO_TONGUES: Files = {
    "drain.md": "# Draining a node\n\nTo drain a node from the cluster run `kubectl drain NODE`.\n",
    "notready.md": "# Node NotReady\n\nWhen a Kubernetes node is NotReady, restart kubelet: "
    "`systemctl restart kubelet`.\n",
    "backup.md": "# Backups\n\nBackups of the database are kept for 21 days.\n",
    "password.md": "# Passwords\n\nReset a forgotten password in the self-service portal.\n",
    "сертификат.md": "# Сертификаты\n\nСертификат продлевается командой `certbot renew`.\n",
    "диск.md": "# Место на диске\n\nЕсли на диске кончилось место, удалите старые логи: "
    "`journalctl --vacuum-time=2d`.\n",
    "отпуск.md": "# Отпуск\n\nОтпуск согласуется с руководителем за две недели.\n",
    "release.md": "# Releases\n\nReleases to production happen on Tuesdays.\n",
}
PAIRS = [
    ("как вывести ноду из кластера?", "drain.md"),
    ("что делать с кубером, если нода NotReady?", "notready.md"),
    ("сколько хранятся резервные копии базы данных?", "backup.md"),
    ("как сбросить забытый пароль?", "password.md"),
    ("how do I renew a certificate?", "сертификат.md"),
    ("no space left on the disk, what to do?", "диск.md"),
    ("with whom is vacation agreed?", "отпуск.md"),
    ("когда релизы в продакшен?", "release.md"),
]


async def test_rt_17_a_question_reaches_documents_in_the_other_language(a_team: OpenTeam) -> None:
    team = await a_team(TWO_TONGUES)
    missed = []
    for question, document in PAIRS:
        chat = team.chat()
        await chat.says(question)
        if f"docs/{document}" not in chat.trace.documents[:5]:
            missed.append((question, chat.trace.documents[:5]))
    assert len(missed) <= 1, missed


@pytest.mark.parametrize(
    ("question", "command", "reply", "language"),
    [
        ("как вывести ноду из кластера?", "kubectl drain NODE", "Выполните", "ru"),
        ("how do I renew a certificate?", "certbot renew", "Run", "en"),
    ],
)
async def test_rt_17_the_answer_is_in_the_askers_language_and_commands_are_untouched(
    a_team: OpenTeam, question: str, command: str, reply: str, language: str
) -> None:
    team = await a_team(TWO_TONGUES)
    model = ScriptedModel(default=f"{reply} `{command}` [1].")
    chat = team.chat(model=model)
    await chat.says(question)
    assert chat.answer.language == language
    assert ("Russian" if language == "ru" else "English") in model.prompts[-1].system
    chat.sees(command, reply)
