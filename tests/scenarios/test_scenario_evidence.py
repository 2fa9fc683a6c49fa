"""The life of a document: what is in force is quoted, its age told, its contradictions shown."""

from __future__ import annotations

import pytest

from adapters.memory.model import ScriptedModel
from graph.model import Confidence
from tests.scenarios.conftest import OpenTeam
from tests.scenarios.kit import Files


def document(title: str, text: str, **fields: str) -> str:
    head = "\n".join([f'title: "{title}"', *(f"{name}: {value}" for name, value in fields.items())])
    return f"---\n{head}\n---\n# {title}\n\n{text}\n"


NOW = document("Paid leave", "Paid leave is 28 days a year.", updated_at="2026-01-10")


@pytest.mark.parametrize(
    "fields",
    [
        {"status": "superseded"},
        {"status": "draft"},
        {"effective_from": "2099-01-01"},
        {"effective_until": "2024-01-01"},
    ],
    ids=["superseded", "draft", "not yet in force", "no longer in force"],
)
async def test_what_is_not_in_force_is_neither_quoted_nor_read(
    a_team: OpenTeam, fields: dict[str, str]
) -> None:
    other = document("Paid leave, other", "Paid leave is 35 days a year.", **fields)
    team = await a_team({"now.md": NOW, "other.md": other})
    model = ScriptedModel(default="Paid leave is 28 days a year [1].")
    for chat in (team.chat(), team.chat(model=model)):
        await chat.says("how many days of paid leave are there a year?")
        chat.sees("28 days")
        chat.never_sees("35 days")
        assert "docs/other.md" not in chat.trace.documents
    assert not [prompt for prompt in model.prompts if "35 days" in prompt.user]


async def test_an_old_source_is_marked(a_team: OpenTeam) -> None:
    old = document("VPN", "The VPN gateway is vpn-7.internal.", updated_at="2019-05-01")
    new = document("Proxy", "The proxy of builds is proxy-2.internal.", updated_at="2026-02-01")
    team = await a_team({"vpn.md": old, "proxy.md": new})
    chat = team.chat()
    await chat.says("what is the VPN gateway?")
    chat.sees("updated 2019-05-01", "may be out of date")
    await chat.says("what is the proxy of builds?")
    chat.sees("updated 2026-02-01")
    chat.never_sees("may be out of date")


PAIRS: dict[str, tuple[Files, str, str, str, str]] = {
    "a quantity": (
        {
            "storage.md": document(
                "Backups: retention by the storage team",
                "Nightly backups of the orders database are kept for 35 days.",
                updated_at="2026-01-04",
                owner="storage",
            ),
            "dba.md": document(
                "Backups: retention by the database team",
                "Nightly backups of the orders database are kept for 21 days.",
                updated_at="2026-02-18",
                owner="dba",
            ),
        },
        "how long are nightly backups of the orders database kept?",
        "21 days",
        "35 days",
        "The documents disagree",
    ),
    "in Russian": (
        {
            "логи-сеть.md": document(
                "Логи шлюза: хранение",
                "Журналы платёжного шлюза хранятся на диске 14 дней.",
                updated_at="2026-01-04",
            ),
            "логи-сре.md": document(
                "Логи шлюза: хранение и доступ",
                "Журналы платёжного шлюза хранятся на диске 30 дней.",
                updated_at="2026-02-18",
            ),
        },
        "сколько хранятся журналы платёжного шлюза?",
        "30 дней",
        "14 дней",
        "Документы расходятся",
    ),
}


@pytest.mark.parametrize("case", PAIRS.values(), ids=PAIRS.keys())
async def test_rt_09_two_documents_that_disagree_are_shown_with_their_dates(
    a_team: OpenTeam, case: tuple[Files, str, str, str, str]
) -> None:
    files, question, newer, older, sentence = case
    chat = (await a_team(files)).chat()
    await chat.says(question)
    chat.is_answered()
    chat.sees(sentence, "2026-01-04", "2026-02-18")
    assert len(chat.cited) == 2
    text = chat.answer.text
    assert text.index(newer) < text.index(older)
    assert text.count(older) == 1
    assert chat.answer.confidence is not Confidence.HIGH


@pytest.mark.parametrize("case", PAIRS.values(), ids=PAIRS.keys())
@pytest.mark.parametrize("told", [0, 1], ids=["newer", "older"])
async def test_rt_09_a_model_that_tells_one_side_does_not_hide_the_other(
    a_team: OpenTeam, case: tuple[Files, str, str, str, str], told: int
) -> None:
    files, question, *values, sentence = case
    team = await a_team(files)
    asked = team.chat()
    await asked.says(question)
    model = ScriptedModel(default=f"{values[told]} [1][2].")
    chat = team.chat(model=model)
    await chat.says(question)
    chat.sees(*values, sentence)
    assert len(chat.cited) == 2


TWINS: Files = {
    "vpn.en.md": document("VPN access", "Connect with the profile `corp-udp`.", locale="en"),
    "vpn.ru.md": document("Доступ по VPN", "Подключайтесь с профилем `corp-udp`.", locale="ru"),
}


@pytest.mark.parametrize(
    ("question", "own", "other"),
    [
        ("with which profile do I connect to the VPN?", "vpn.en.md", "vpn.ru.md"),
        ("с каким профилем подключаться к VPN?", "vpn.ru.md", "vpn.en.md"),
    ],
)
async def test_of_two_translations_the_askers_is_quoted(
    a_team: OpenTeam, question: str, own: str, other: str
) -> None:
    chat = (await a_team(TWINS)).chat()
    await chat.says(question)
    assert chat.cited == [own]
    assert f"docs/{other}" in chat.trace.documents


async def test_a_translation_that_lags_behind_does_not_hide_the_original(a_team: OpenTeam) -> None:
    files: Files = {
        "en/vpn.md": document("VPN", "Connect with `corp-tcp`.", updated_at="2026-02-01"),
        "ru/vpn.md": document("VPN", "Подключайтесь с `corp-udp`.", updated_at="2024-02-01"),
    }
    chat = (await a_team(files)).chat()
    await chat.says("с каким профилем подключаться к VPN?")
    chat.sees("corp-tcp", "corp-udp")
