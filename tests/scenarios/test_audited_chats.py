"""What is written down of questions that documents were found for."""

from __future__ import annotations

from datetime import timedelta

from adapters.memory.audit import MemoryAudit
from bot.audit import HITS, AuditQuery, AuditRecord
from bot.auditor import Auditor
from bot.chat import Person, Place
from graph.machine import Machine
from graph.model import Outcome
from graph.ports import Ports
from tests.bot.answering_kit import BOSS, Bot, value
from tests.scenarios.conftest import OpenTeam
from tests.scenarios.kit import NOW

PAGES = {
    f"page{number}.md": f"# Port of gate{number}\n\nThe gate{number} listens on port 80{number}.\n"
    for number in range(10, 30)
}
ASKED = "which port does gate17 listen on?"
CHANNEL = Place("slack", "C1", "channel")


async def audited(a_team: OpenTeam, **options: object) -> tuple[Bot, MemoryAudit]:
    team, audit = await a_team(PAGES), MemoryAudit(now=lambda: NOW)
    own = team.app.embedder
    machine = Machine(Ports(team.app.index, own, own), now=lambda: NOW)
    return Bot(machine, {"auditor": Auditor(audit), **options}), audit


async def written(audit: MemoryAudit) -> list[AuditRecord]:
    return await audit.find(AuditQuery())


async def test_what_was_found_best_first_and_no_more_than_is_worth_keeping(
    a_team: OpenTeam,
) -> None:
    bot, audit = await audited(a_team)
    await bot.says(BOSS, ASKED)
    (row,) = await written(audit)
    assert row.outcome is Outcome.ANSWERED
    assert row.hits[0].document == "docs/page17.md"
    assert row.relevance == row.hits[0].relevance
    assert row.hits[0].chunk_id in row.cited
    assert len(row.hits) == HITS
    assert "listens on port" not in repr(row)  # the documents' texts stay where they are


async def test_a_follow_up_is_kept_with_what_it_meant(a_team: OpenTeam) -> None:
    bot, audit = await audited(a_team)
    await bot.says(BOSS, ASKED)
    bot.now += timedelta(minutes=1)
    await bot.says(BOSS, "and gate21?")
    rows = {row.question: row for row in await written(audit)}
    assert "port" in rows["and gate21?"].asked
    assert rows[ASKED].asked == ASKED


async def test_what_is_posted_is_written_down_with_the_rights_of_the_channel(
    a_team: OpenTeam,
) -> None:
    bot, audit = await audited(a_team, roots={"slack": "belay"})
    ann = Person("slack", "U1")
    await bot.let_in(ann, "director")
    await bot.let_in(CHANNEL)
    seen = await bot.says(ann, f"/ask {ASKED}", CHANNEL, secretly=True)
    await bot.presses(ann, value(seen, "c"), CHANNEL)
    rows = {row.way: row for row in await written(audit)}
    assert set(rows) == {"ask", "post"}
    assert "director" in rows["ask"].rights.levels
    assert rows["post"].rights.levels == ("staff",)


async def test_what_a_button_finds_anew_is_written_down_beside_the_question(
    a_team: OpenTeam,
) -> None:
    """When the place may see less than when it was asked."""
    bot, audit = await audited(a_team)
    await bot.let_in(CHANNEL, "director")
    seen = await bot.says(BOSS, ASKED, CHANNEL)
    await bot.presses(BOSS, value(seen, "s"), CHANNEL)
    assert [row.way for row in await written(audit)] == ["ask"]  # nothing was asked anew
    await bot.let_in(CHANNEL)
    for letter in "sp":
        await bot.presses(BOSS, value(seen, letter), CHANNEL)
    rows = {row.way: row for row in await written(audit)}
    assert set(rows) == {"ask", "sources", "person"}
    assert "director" in rows["ask"].rights.levels
    assert rows["sources"].rights.levels == ("staff",)
    assert rows["sources"].question == ASKED
    assert rows["sources"].hits[0].document == "docs/page17.md"
