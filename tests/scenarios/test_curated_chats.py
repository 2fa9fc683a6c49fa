"""Notes that curators keep from chats, published and discarded by buttons."""

from __future__ import annotations

import re

import pytest

from adapters.memory.audit import MemoryAudit
from adapters.memory.conversation import MemoryConversation
from adapters.memory.roll import MemoryRoll
from bot.access import Access
from bot.audit import AuditQuery
from bot.auditor import Auditor
from bot.chat import Person, Place, Quote
from bot.curating import Curating
from bot.ingest.lock import held
from bot.kept import KeptDocuments
from graph.machine import Machine
from graph.ports import Ports
from tests.adapters.telegram_kit import office
from tests.bot.answering_kit import ANN, BORIS, BOSS, GROUP, OTHER_GROUP, Bot, private, value
from tests.scenarios.conftest import OpenTeam
from tests.scenarios.kit import NOW, Files, Team
from tests.scenarios.test_telegram_chats import value as pressed
from tests.scenarios.test_telegram_chats import words

DOCS: Files = {"pool.md": "# Pool\n\nRestart the pool of pgbouncer with pgbctl.\n"}
SAID = "The night porter in Tallinn answers at 112-233."
ASKED = "which number does the night porter in Tallinn answer at?"
KEY = "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"


def link(place: Place, message_id: str) -> str:
    return f"https://chat.example/{place.id}/{message_id}"


async def curated(team: Team) -> tuple[Bot, MemoryAudit]:
    """Boss is admin, Ann a curator, Boris may only ask."""
    own, roll, audit = team.app.embedder, MemoryRoll(), MemoryAudit(now=lambda: NOW)
    gate = Access(roll, frozenset({BOSS.key}), now=lambda: NOW)
    auditor, curators = Auditor(audit), frozenset({ANN.key})
    curating = Curating(team.app, gate, curators=curators, auditor=auditor, link=link)
    machine = Machine(Ports(team.app.index, own, own), now=lambda: NOW)
    bot = Bot(machine, {"curating": curating}, now=NOW, roll=roll)
    for who in (ANN, BORIS, GROUP, OTHER_GROUP):
        await bot.let_in(who)
    return bot, audit


async def finds(bot: Bot, person: Person = BORIS, place: Place = GROUP) -> bool:
    return "112-233" in (await bot.says(person, ASKED, place)).shown


def draft_id(seen: MemoryConversation) -> str:
    return value(seen, "k").partition(":")[2]


@pytest.mark.parametrize(
    ("typed", "language", "publish"),
    [("remember this", "en", "Publish"), ("Запомни это", "ru", "Опубликовать"),
     ("/remember", "en", "Publish"), ("/запомни", "ru", "Опубликовать")],
)  # fmt: skip
async def test_a_reply_becomes_a_note_that_is_found_once_it_is_published(
    a_team: OpenTeam, typed: str, language: str, publish: str
) -> None:
    team = await a_team(DOCS)
    bot, audit = await curated(team)
    event = {"place": GROUP, "language": language, "context": [Quote(SAID, "Dora")]}
    seen = await bot.says(ANN, typed, **event)  # type: ignore[arg-type]
    assert SAID in seen.shown
    assert publish in seen.shown
    [kept] = KeptDocuments(team.home).all()
    assert kept.draft
    assert (kept.by, kept.origin) == (ANN.key, "https://chat.example/-100/1")
    assert "Dora" in KeptDocuments(team.home).data(kept).decode()
    assert "2026" in KeptDocuments(team.home).data(kept).decode()
    assert not await finds(bot)
    refused = await bot.presses(BORIS, value(seen, "k"), GROUP)
    assert "curators" in refused.shown
    assert not await finds(bot)
    assert kept.id in (await bot.presses(ANN, value(seen, "k"), GROUP)).shown
    assert await finds(bot)
    assert "publish" in {row.way for row in await audit.find(AuditQuery())}


async def test_a_discarded_note_leaves_nothing(a_team: OpenTeam) -> None:
    team = await a_team(DOCS)
    bot, audit = await curated(team)
    seen = await bot.says(BOSS, f"remember this: {SAID}", GROUP)
    await bot.presses(BOSS, value(seen, "x"), GROUP)
    assert KeptDocuments(team.home).all() == []
    assert "no document" in (await bot.presses(BOSS, value(seen, "k"), GROUP)).shown
    assert not await finds(bot)
    assert "discard" in {row.way for row in await audit.find(AuditQuery())}


async def test_a_note_is_open_to_nobody_with_fewer_rights_than_its_place(a_team: OpenTeam) -> None:
    bot, _ = await curated(await a_team(DOCS))
    await bot.let_in(GROUP, "director")
    seen = await bot.says(BOSS, f"remember {SAID}", GROUP)
    assert "director" in seen.shown
    await bot.presses(BOSS, value(seen, "k"), GROUP)
    assert await finds(bot)
    assert not await finds(bot, place=OTHER_GROUP)
    assert not await finds(bot, place=private(BORIS))


async def test_others_are_refused_and_questions_stay_questions(a_team: OpenTeam) -> None:
    team = await a_team(DOCS)
    bot, _ = await curated(team)
    assert "curators" in (await bot.says(BORIS, "remember this", GROUP, quote=SAID)).shown
    assert "curators" in (await bot.says(BORIS, "documents")).shown
    assert "Reply to a message" in (await bot.says(ANN, "remember this", GROUP)).shown
    await bot.says(ANN, "remember how the pool is restarted?", GROUP)
    assert KeptDocuments(team.home).all() == []


async def test_in_28_sc_11_the_same_note_twice_is_one_and_holds_no_secret(
    a_team: OpenTeam,
) -> None:
    """IN-28, SC-11."""
    team = await a_team(DOCS)
    bot, _ = await curated(team)
    secret = f"{SAID}\nAWS_SECRET_ACCESS_KEY={KEY}"
    seen = [await bot.says(ANN, "remember this", GROUP, quote=secret) for _ in range(2)]
    assert draft_id(seen[0]) == draft_id(seen[1])
    [kept] = KeptDocuments(team.home).all()
    assert KEY not in seen[0].shown
    assert KEY not in KeptDocuments(team.home).data(kept).decode()


async def test_sc_16_documents_are_listed_and_deleted(a_team: OpenTeam) -> None:
    """SC-16: what was deleted is answered from no more, and what is busy is not half deleted."""
    team = await a_team(DOCS)
    bot, audit = await curated(team)
    seen = await bot.says(ANN, f"remember this: {SAID}", GROUP)
    name = draft_id(seen)
    with held(team.home / "sync.lock"):
        assert "try again" in (await bot.presses(ANN, value(seen, "k"), GROUP)).shown
    assert "draft" in (await bot.says(ANN, "documents", GROUP)).shown
    await bot.presses(ANN, value(seen, "k"), GROUP)
    listed = await bot.says(ANN, "documents", GROUP)
    assert name in listed.shown
    assert listed.answers[0].private
    foreign = await bot.says(ANN, "documents delete docs/pool.md", GROUP)
    assert "not handed in" in foreign.shown
    assert "Deleted" in (await bot.says(ANN, f"documents delete {name}", GROUP)).shown
    assert not await finds(bot)
    assert KeptDocuments(team.home).all() == []
    assert "delete" in {row.way for row in await audit.find(AuditQuery())}


async def test_on_telegram_a_note_is_kept_and_published(a_team: OpenTeam) -> None:
    team = await a_team(DOCS)
    bot, _ = await curated(team)
    await bot.let_in(Person("telegram", "7"), admin=True)
    async with office(answering=bot.handler) as at:
        at.server.says(at.anna, at.anna, f"запомни это: {SAID}")
        (draft,) = await at.answered(at.anna)
        assert re.sub(r"\W", "", SAID) in re.sub(r"\W", "", words(draft))
        at.server.presses(at.anna, at.anna, draft.message_id, pressed(draft, "k"))
        _, told = await at.answered(at.anna, 2)
        assert "Опубликовано" in words(told) or "Published" in words(told)
    [kept] = KeptDocuments(team.home).all()
    assert not kept.draft
