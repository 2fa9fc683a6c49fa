"""What is forgotten can be read in no file of the data folder, not even in unused pages."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from adapters.memory.conversation import MemoryConversation
from adapters.sqlite.audit import SqliteAudit
from adapters.sqlite.feedback import SqliteFeedback
from adapters.sqlite.index import SqliteIndex
from adapters.sqlite.sessions import SqliteSessions
from bot.audit import AuditQuery
from bot.auditor import Auditor
from bot.chat import Person, Place
from bot.ingest.sessions import index_sessions
from bot.minutes import Minutes
from bot.traces import TraceLog
from graph.machine import Machine
from graph.ports import Ports
from tests.bot.answering_kit import NOW, Bot, value
from tests.scenarios.conftest import OpenTeam
from tests.scenarios.kit import Team

ANN, BORIS = Person("slack", "U1ANNKEY", "Ann"), Person("slack", "U2", "Boris")
BOSS = Person("slack", "U9", "Boss")
CHANNEL = Place("slack", "C1", "channel", "1700000000.000100")
SAID = "we keep the quokkaspare key of the zanzibarcage under the blue mat"
TOLD = "and the failover of the orders database to Frankfurt is on Tuesday"
WORDS = (b"quokkaspare", b"zanzibarcage", b"U1ANNKEY")


@dataclass
class Kept:
    """A bot that keeps everything in files."""

    bot: Bot
    team: Team
    home: Path
    log: SqliteSessions
    index: SqliteIndex
    audit: SqliteAudit
    traces: TraceLog

    async def indexes(self) -> None:
        own = self.team.app.embedder
        await index_sessions(self.log, self.index, own, own, lock=self.home / "sessions.lock")

    async def says(self, person: Person, text: str) -> str:
        return (await self.hears(person, text)).shown

    async def hears(self, person: Person, text: str) -> MemoryConversation:
        heard = await self.bot.says(person, text, CHANNEL)
        while self.bot.traces:
            await self.traces.add(self.bot.traces.pop(0))
        return heard

    def files_with(self, word: bytes) -> list[str]:
        files = [path for path in self.home.rglob("*") if path.is_file()]
        return [path.name for path in files if word.lower() in path.read_bytes().lower()]


@pytest.fixture
async def kept(a_team: OpenTeam, tmp_path: Path) -> AsyncIterator[Kept]:
    team = await a_team({"backups.md": "# Backups\n\nThe backup host is bkp-01.\n"})
    home = tmp_path / "kept"
    home.mkdir()
    log, feedback = SqliteSessions(home / "turns.db"), SqliteFeedback(home / "feedback.db")
    index, traces = await SqliteIndex.open(home / "sessions.db"), TraceLog(home)
    audit = SqliteAudit(home / "audit.db", now=lambda: NOW)
    minutes = Minutes(log, index=index, drop=[traces.forget], audit=audit, feedback=feedback)
    own = team.app.embedder
    machine = Machine(Ports(team.app.index, own, own, sessions=index), now=lambda: NOW)
    options = {"minutes": minutes, "auditor": Auditor(audit)}
    bot = Bot(machine, options, feedback=feedback, admins=frozenset({BOSS.key}))  # type: ignore[arg-type]
    await bot.let_in(CHANNEL)
    yield Kept(bot, team, home, log, index, audit, traces)
    await index.close()


async def everything_was_said(kept: Kept) -> None:
    """By Ann, and by Boris in the same conversation, which is indexed in two runs."""
    await kept.says(ANN, SAID)
    await kept.says(BORIS, TOLD)
    await kept.indexes()
    await kept.says(ANN, "what did we say about the quokkaspare key?")
    seen = await kept.hears(ANN, "which host has the zanzibarcage backups?")
    await kept.bot.presses(ANN, value(seen, "u"), CHANNEL)
    await kept.indexes()
    stores = {"turns.db", "sessions.db", "audit.db", "why.jsonl"}
    found = {name.removesuffix("-wal") for name in kept.files_with(WORDS[0])}
    assert found == stores, "a store that the test does not know, or that keeps nothing any more"
    assert "feedback.db" in kept.files_with(b"U1ANNKEY")


@pytest.mark.parametrize(
    ("person", "line"), [(BOSS, "/forget slack:U1ANNKEY"), (ANN, "/forget everywhere")]
)
async def test_se_03_nothing_of_a_forgotten_person_is_left_in_a_file(
    kept: Kept, person: Person, line: str
) -> None:
    await everything_was_said(kept)
    told = await kept.says(person, line)
    assert "6 turns" in told
    assert "1 votes, 3 questions" in told
    assert {word: kept.files_with(word) for word in WORDS} == {word: [] for word in WORDS}
    assert [row.person for row in await kept.audit.find(AuditQuery())] == [BORIS.key]
    assert {turn.person for turn in await kept.log.all()} == {BORIS.key}


async def test_what_others_said_stays_findable(kept: Kept) -> None:
    await everything_was_said(kept)
    await kept.says(BOSS, "/forget slack:U1ANNKEY")
    await kept.indexes()
    assert "Frankfurt" in await kept.says(BORIS, "when is the failover of the orders database?")
