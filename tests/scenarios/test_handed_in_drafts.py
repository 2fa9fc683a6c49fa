"""Drafts of files: what replaces what, who may read it, and what becomes of them."""

from __future__ import annotations

import asyncio
import unicodedata
from dataclasses import replace
from datetime import timedelta

import pytest

from bot.audit import AuditQuery
from bot.ingest.lock import held
from bot.kept import KeptDocuments
from tests.bot.answering_kit import ANN, BOSS, GROUP, OTHER_GROUP, private, value
from tests.scenarios.conftest import OpenTeam
from tests.scenarios.hand_in_kit import (
    DOCS,
    OTHER,
    PORTER,
    in_memory,
    kept,
    message,
    number,
    published,
    sends,
)


async def test_files_of_one_message_are_published_together(a_team: OpenTeam) -> None:
    """Also two of one name; one that cannot be read costs the others nothing."""
    team = await a_team(DOCS)
    at = await in_memory(team)
    files = [
        at.files.put("porter.md", PORTER.encode()),
        at.files.put("alert.png", b"\x89PNG"),
        at.files.put("porter.md", OTHER.replace("Tallinn", "Narva").encode()),
    ]
    seen = await sends(at, ANN, *files)
    assert "Publish all" in seen.shown
    assert "alert.png" in seen.shown
    assert [item.draft for item in kept(team)] == [True, True]
    await at.bot.presses(ANN, value(seen, "k"), GROUP)
    assert [item.draft for item in kept(team)] == [False, False]
    assert await number(at) == "112-233"
    seen = await sends(at, ANN, *[at.files.put(f"{n}.md", f"# {n}".encode()) for n in range(12)])
    assert "10.md: more than 10 files" in seen.shown.replace("\\", "")
    await at.bot.presses(ANN, value(seen, "x"), GROUP)
    assert len(kept(team)) == 2


async def test_in_28_a_file_of_the_same_name_replaces_the_published_one(a_team: OpenTeam) -> None:
    """IN-28, SC-16: one document, and what it said before is answered no more."""
    team = await a_team(DOCS)
    at = await in_memory(team)
    await published(at)
    [before] = kept(team)
    seen = await sends(at, BOSS, at.files.put("PORTER.md", OTHER.encode()), place=private(BOSS))
    assert f"Replaces `{before.id}`" in seen.shown
    assert "level staff" in seen.shown
    assert await number(at) == "112-233"
    pressed = await at.bot.presses(BOSS, value(seen, "k"), private(BOSS))
    assert "Published" in pressed.shown
    [after] = kept(team)
    assert (after.id, after.by, after.audience) == (before.id, BOSS.key, "staff")
    assert await number(at) == "778-899"
    again = await at.bot.presses(BOSS, value(seen, "k"), private(BOSS))
    assert f"`{before.id}` is published" in again.shown
    assert len(list(team.home.glob("uploads/contents/*"))) == 1


async def test_a_replacement_that_the_index_does_not_take_is_undone(a_team: OpenTeam) -> None:
    team = await a_team(DOCS)
    at = await in_memory(team)
    await published(at)
    seen = await sends(at, ANN, at.files.put("porter.md", OTHER.encode()))
    with held(team.home / "sync.lock"):
        assert "try again" in (await at.bot.presses(ANN, value(seen, "k"), GROUP)).shown
    assert await number(at) == "112-233"
    assert sorted(item.draft for item in kept(team)) == [False, True]
    await team.sync()
    assert await number(at) == "112-233"
    assert "Published" in (await at.bot.presses(ANN, value(seen, "k"), GROUP)).shown
    assert await number(at) == "778-899"


async def test_in_28_the_same_content_is_named_to_those_who_may_read_it(a_team: OpenTeam) -> None:
    """IN-28: under another name, too. Whoever may not read the other one does not learn of it."""
    team = await a_team(DOCS)
    at = await in_memory(team)
    await published(at)
    [document] = kept(team)
    seen = await sends(at, ANN, at.files.put("copy.md", PORTER.encode()))
    assert document.id in seen.shown
    assert "kept already" in seen.shown
    assert len(kept(team)) == 1
    await at.bot.let_in(GROUP, "director")
    closed = "# Plan\n\nThe plan of the directors is closed.\n"
    await published(at, closed, "plan.md")
    secret = next(item for item in kept(team) if item.name == "plan.md")
    assert secret.audience == "director"
    seen = await sends(at, ANN, at.files.put("b.md", closed.encode()), place=OTHER_GROUP)
    assert secret.id not in seen.shown
    seen = await sends(at, ANN, at.files.put("plan.md", b"# Plan\n\nx y"), place=OTHER_GROUP)
    assert "Replaces" not in seen.shown


async def test_the_same_event_again_is_the_same_draft(a_team: OpenTeam) -> None:
    """A process that dies between the draft and its confirmation leaves one, not two."""
    team = await a_team(DOCS)
    at = await in_memory(team)
    event = message(at, ANN, at.files.put("porter.md", PORTER.encode()))
    first, second = await at.bot.handled(event), await at.bot.handled(event)
    assert value(first, "k") == value(second, "k")
    assert len(kept(team)) == 1


async def test_what_was_sent_last_counts(a_team: OpenTeam) -> None:
    team = await a_team(DOCS)
    at = await in_memory(team)
    first = await sends(at, ANN, at.files.put("porter.md", PORTER.encode()))
    second = await sends(at, ANN, at.files.put("porter.md", OTHER.encode()))
    assert "no document" in (await at.bot.presses(ANN, value(first, "k"), GROUP)).shown
    await at.bot.presses(ANN, value(second, "k"), GROUP)
    assert await number(at) == "778-899"
    wider = await sends(at, BOSS, at.files.put("a.md", b"# A\n\nA b."), place=private(BOSS))
    assert "add this for staff" in wider.shown
    same = at.files.put("a.md", b"# A\n\nA b.")
    await sends(at, BOSS, same, text="add this for everyone", place=private(BOSS))
    assert kept(team)[-1].audience == "staff"


async def test_a_draft_outlives_a_restart_and_expires(a_team: OpenTeam) -> None:
    team = await a_team(DOCS)
    at = await in_memory(team)
    seen = await sends(at, ANN, at.files.put("porter.md", PORTER.encode()))
    later = await in_memory(team)
    assert "Published" in (await later.bot.presses(ANN, value(seen, "k"), GROUP)).shown
    assert await number(later) == "112-233"
    seen = await sends(at, ANN, at.files.put("other.md", OTHER.encode()))
    at.way.now += timedelta(days=8)
    assert "7 days" in (await at.bot.presses(ANN, value(seen, "k"), GROUP)).shown
    assert [item.name for item in kept(team)] == ["porter.md"]


async def test_publish_and_discard_are_pressed_after_each_other(a_team: OpenTeam) -> None:
    """Whoever is second learns what became of it, and how to take it out here."""
    team = await a_team(DOCS)
    at = await in_memory(team)
    seen = await sends(at, ANN, at.files.put("porter.md", PORTER.encode()))
    await at.bot.presses(ANN, value(seen, "k"), GROUP)
    again = await at.bot.presses(BOSS, value(seen, "k"), GROUP)
    assert "is published" in again.shown
    discarded = await at.bot.presses(BOSS, value(seen, "x"), GROUP)
    [document] = kept(team)
    command = "/belay documents delete" if GROUP.platform == "slack" else "/documents delete"
    assert f"`{command} {document.id}`" in discarded.shown
    ways = [row.way for row in await at.audit.find(AuditQuery())]
    assert ways.count("publish") == 1
    deleted = await at.bot.says(BOSS, f"documents delete {document.id}", GROUP)
    assert "Deleted" in deleted.shown
    assert await number(at) == ""


@pytest.mark.parametrize(
    ("text", "said"),
    [
        pytest.param("add this for director", "staff", id="beyond the place"),
        pytest.param("add this for emperor", "staff", id="unknown"),
        pytest.param("добавь это для emperor", "staff", id="russian"),
    ],
)
async def test_a_level_is_one_of_the_place(a_team: OpenTeam, text: str, said: str) -> None:
    team = await a_team(DOCS)
    at = await in_memory(team)
    seen = await sends(at, ANN, at.files.put("porter.md", PORTER.encode()), text=text)
    assert said in seen.shown
    assert kept(team) == []


async def test_in_28_a_text_that_stands_elsewhere_is_named(a_team: OpenTeam) -> None:
    """IN-28: the same words under another name, indexed from a folder; only for its readers."""
    at = await in_memory(await a_team(DOCS))
    pool = str(DOCS["pool.md"]).replace("\n\n", "\r\n\r\n\r\n").encode()
    seen = await sends(at, ANN, at.files.put("restart.md", pool))
    assert "stands already in Pool (docs/pool.md)" in seen.shown
    seen = await sends(at, ANN, at.files.put("porter.md", PORTER.encode()))
    assert "stands already" not in seen.shown


@pytest.mark.parametrize(
    ("front", "told"),
    [
        pytest.param("status: draft", "says draft", id="status"),
        pytest.param("audience: director", "level director", id="readers"),
        pytest.param("effective_from: 2999-01-01", "from 2999-01-01", id="later"),
        pytest.param("effective_until: 2999-01-01", "until 2999-01-01", id="until"),
    ],
)
async def test_what_a_document_says_of_its_own_readers_is_shown(
    a_team: OpenTeam, front: str, told: str
) -> None:
    at = await in_memory(await a_team(DOCS))
    text = f"---\n{front}\n---\n{PORTER}"
    seen = await sends(at, ANN, at.files.put("porter.md", text.encode()))
    assert told in seen.shown


async def test_in_28_one_content_under_two_names_in_one_message_is_one_draft(
    a_team: OpenTeam,
) -> None:
    team = await a_team(DOCS)
    at = await in_memory(team)
    files = [at.files.put(f"{name}.md", PORTER.encode()) for name in ("a", "b")]
    other = at.files.put("c.md", OTHER.encode())
    event = message(at, ANN, *files, other)
    for _ in range(2):  # the second time after a crash
        seen = await at.bot.handled(event)
        assert "b.md: kept already" in seen.shown
        assert sorted(item.name for item in kept(team)) == ["a.md", "c.md"]
    await at.bot.presses(ANN, value(seen, "k"), GROUP)
    assert [item.draft for item in kept(team)] == [False, False]
    renamed = await sends(at, ANN, at.files.put("d.md", b"# D\n\nD e f."))
    assert "d.md" in renamed.shown
    renamed = await sends(at, ANN, at.files.put("e.md", b"# D\n\nD e f."))
    assert "(e.md)" in renamed.shown
    assert sorted(item.name for item in kept(team)) == ["a.md", "c.md", "e.md"]


async def test_in_26_a_name_in_other_letters_of_the_same_shape_is_the_same(
    a_team: OpenTeam,
) -> None:
    """IN-26: macOS writes names decomposed; sent again from elsewhere it is one document."""
    team = await a_team(DOCS)
    at = await in_memory(team)
    name = "Резервный план й.md"
    await published(at, PORTER, unicodedata.normalize("NFD", name))
    seen = await sends(at, ANN, at.files.put(unicodedata.normalize("NFC", name), OTHER.encode()))
    assert "Replaces" in seen.shown
    await at.bot.presses(ANN, value(seen, "k"), GROUP)
    assert [item.name for item in kept(team)] == [unicodedata.normalize("NFC", name)]
    assert await number(at) == "778-899"


async def test_in_25_one_name_in_two_places_is_two_documents(a_team: OpenTeam) -> None:
    """IN-25: whoever may not read the other one replaces nothing."""
    team = await a_team(DOCS)
    at = await in_memory(team)
    await at.bot.let_in(OTHER_GROUP, "director")
    seen = await sends(at, ANN, at.files.put("README.md", PORTER.encode()), place=OTHER_GROUP)
    await at.bot.presses(ANN, value(seen, "k"), OTHER_GROUP)
    await published(at, OTHER, "README.md")
    assert sorted(item.audience for item in kept(team)) == ["director", "staff"]
    assert await number(at) == "778-899"


async def test_two_who_press_at_once_publish_once(a_team: OpenTeam) -> None:
    at = await in_memory(await a_team(DOCS))
    seen = await sends(at, ANN, at.files.put("porter.md", PORTER.encode()))
    presses = [at.bot.presses(who, value(seen, "k"), GROUP) for who in (ANN, BOSS, ANN)]
    told = [pressed.shown for pressed in await asyncio.gather(*presses)]
    assert sum("Published:" in shown for shown in told) == 1
    assert sum("is published" in shown for shown in told) == 2
    assert await number(at) == "112-233"


async def test_a_process_that_died_while_it_published_is_made_up_for(a_team: OpenTeam) -> None:
    """The record says published, the index knows nothing: the same press brings it in."""
    team = await a_team(DOCS)
    at = await in_memory(team)
    seen = await sends(at, ANN, at.files.put("porter.md", PORTER.encode()))
    [draft] = kept(team)
    KeptDocuments(team.home).put(replace(draft, draft=False))
    assert await number(at) == ""
    assert "Published" in (await at.bot.presses(ANN, value(seen, "k"), GROUP)).shown
    assert await number(at) == "112-233"
