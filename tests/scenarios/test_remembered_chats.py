""" "remember this" in threads and replies: what is kept, and where it leads back to."""

from __future__ import annotations

from pathlib import Path

from adapters.memory.index import MemoryIndex
from adapters.memory.sessions import MemorySessions
from bot.ingest.sessions import index_sessions
from bot.minutes import Minutes
from tests.bot.answering_kit import ANN, BORIS, GROUP, OTHER_GROUP
from tests.scenarios.conftest import OpenTeam
from tests.scenarios.hand_in_kit import (
    ASKED,
    DOCS,
    in_memory,
    kept,
    on_slack,
    on_telegram,
    plain,
    press,
)
from tests.servers.slack_server import MENTION

SAID = "The night porter in Tallinn answers at 112-233."


async def test_on_slack_a_thread_becomes_a_note_that_leads_back_to_it(a_team: OpenTeam) -> None:
    team = await a_team(DOCS)
    async with on_slack(team) as (at, _):
        dora = at.server.at.users["U0DORA"]
        root = at.server.posted(at.ops, dora, "how do I reach the night porter?")
        at.server.posted(at.ops, at.boris, SAID, thread_ts=root)
        await at.server.says(at.ops, at.ann, f"{MENTION} remember this", thread=root)
        (shown,) = await at.answered(at.ops)
        assert SAID in plain(shown)
        [note] = kept(team)
        stamp = root.replace(".", "")
        assert note.origin == f"https://example.slack.com/archives/C0OPS/p{stamp}"
        await at.server.presses(at.ops, at.boris, shown.ts, press(shown, "k"))
        await at.answered(at.ops, 2)
        await at.server.says(at.ops, dora, f"{MENTION} {ASKED}")
        *_, answer = await at.answered(at.ops, 3)
        assert "112-233" in plain(answer)
        assert note.origin in answer.shown
        await at.server.presses(at.ops, at.boris, shown.ts, press(shown, "x"))
        await at.until(lambda: at.server.whispered(at.ops))
        (public,) = at.server.whispered(at.ops)
        assert f"/belay documents delete {note.id}" in plain(public)
        await at.server.says(at.ops, at.ann, f"{MENTION} documents")
        await at.until(lambda: len(at.server.whispered(at.ops)) == 2)
        assert note.origin in plain(at.server.whispered(at.ops)[1])


async def test_on_telegram_a_note_leads_to_the_message_that_says_it(a_team: OpenTeam) -> None:
    team = await a_team(DOCS)
    async with on_telegram(team) as (at, _):
        group = at.server.group(-1001234, "Porters")
        dora = at.server.chats.users[9]
        said = at.server.says(group, dora, SAID)
        at.server.says(group, at.anna, "@belay_bot remember this", reply_to=said)
        await at.answered(group)
        typed = at.server.says(group, at.anna, f"@belay_bot remember {SAID} Also at night.")
        await at.answered(group, 2)
        replied, own = kept(team)
        assert replied.origin == f"https://t.me/c/1234/{said}"
        assert own.origin == f"https://t.me/c/1234/{typed}"


async def test_what_a_member_says_stays_with_the_conversation(
    a_team: OpenTeam, tmp_path: Path
) -> None:
    """It is no document and no dead end: it is brought up where it was said, and nowhere else."""
    team = await a_team(DOCS)
    log, index = MemorySessions(), MemoryIndex()
    at = await in_memory(team, sessions=index, minutes=Minutes(log, index=index))
    seen = await at.bot.says(BORIS, f"remember that {SAID}", GROUP)
    assert "Noted for this conversation" in seen.shown
    assert kept(team) == []
    own = team.app.embedder
    await index_sessions(log, index, own, own, lock=tmp_path / "sessions.lock")
    assert "112-233" in (await at.bot.says(BORIS, ASKED, GROUP)).shown
    assert "112-233" not in (await at.bot.says(BORIS, ASKED, OTHER_GROUP)).shown
    assert "112-233" not in (await at.bot.says(BORIS, ASKED)).shown
    about_another = await at.bot.says(BORIS, "remember this", GROUP, quote=SAID)
    assert "Only curators" in about_another.shown
    curators = await at.bot.says(ANN, "remember this", GROUP, quote=f"Boris says: {SAID}")
    assert "Draft" in curators.shown


async def test_where_nothing_is_kept_of_conversations_a_member_is_told_who_can(
    a_team: OpenTeam,
) -> None:
    at = await in_memory(await a_team(DOCS))
    assert "Only curators" in (await at.bot.says(BORIS, f"remember that {SAID}", GROUP)).shown
