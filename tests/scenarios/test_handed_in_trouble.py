"""What can be wrong with a file, its name, its moment or its sender."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest
from fpdf import FPDF

from adapters.memory.conversation import MemoryConversation
from bot.attachments import Attachment
from bot.audit import AuditQuery
from bot.chat import Incoming, Kind, Person, Place
from bot.ingest.lock import held
from bot.kept import KeptDocuments
from tests.bot.answering_kit import ANN, BORIS, BOSS, GROUP, OTHER_GROUP, private, value
from tests.scenarios.conftest import OpenTeam
from tests.scenarios.hand_in_kit import ASKED, DOCS, PORTER, Memory, in_memory, kept
from tests.scenarios.kit import Team

KEY = "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"
OTHER = PORTER.replace("112-233", "778-899")


async def sends(
    at: Memory,
    who: Person,
    *files: Attachment,
    text: str = "add this",
    place: Place = GROUP,
    language: str = "en",
) -> MemoryConversation:
    return await at.bot.handled(message(at, who, *files, text=text, place=place, language=language))


def message(
    at: Memory,
    who: Person,
    *files: Attachment,
    text: str = "add this",
    place: Place = GROUP,
    language: str = "en",
) -> Incoming:
    at.bot.messages += 1
    return Incoming(
        Kind.QUESTION,
        place,
        who,
        f"f{at.bot.messages}",
        text=text,
        at=at.bot.now,
        attachments=tuple(file.name for file in files),
        files=files,
        language=language,
    )


async def number(at: Memory, place: Place = GROUP) -> str:
    """Which number of the porter the bot tells to those in a place."""
    shown = (await at.bot.says(BORIS, ASKED, place)).shown
    return next((found for found in ("112-233", "778-899") if found in shown), "")


async def published(at: Memory, text: str = PORTER, name: str = "porter.md") -> MemoryConversation:
    seen = await sends(at, ANN, at.files.put(name, text.encode()))
    await at.bot.presses(ANN, value(seen, "k"), GROUP)
    return seen


@pytest.mark.parametrize(
    ("name", "mime", "shown"),
    [
        pytest.param("../../etc/porter.md", "", "porter.md", id="traversal"),
        pytest.param("C:\\temp\\porter.md", "", "porter.md", id="windows"),
        pytest.param("por\u202ederp\x07\u200b.md", "", "porderp.md", id="controls"),
        pytest.param("x" * 300 + ".md", "", "x" * 30, id="long"),
        pytest.param("porter", "text/markdown; charset=utf-8", "porter.md", id="type"),
        pytest.param("*[porter](http://x)*.md", "", "porter", id="markup"),
        pytest.param("ПОРТЬЕ й.MD", "", "ПОРТЬЕ й.MD", id="nfd"),
    ],
)
async def test_a_name_is_a_strangers_word(
    a_team: OpenTeam, name: str, mime: str, shown: str
) -> None:
    team = await a_team(DOCS)
    at = await in_memory(team)
    seen = await sends(at, ANN, at.files.put(name, PORTER.encode(), mime=mime))
    [draft] = kept(team)
    assert shown in seen.shown
    assert "/" not in draft.name
    assert draft.name.isprintable()
    assert len(draft.name) <= 120
    await at.bot.presses(ANN, value(seen, "k"), GROUP)
    assert await number(at) == "112-233"


@pytest.mark.parametrize(
    ("name", "data", "mime", "why"),
    [
        pytest.param("porter.md", b"%PDF-1.7\n" + b"x" * 99, "", "does not fit", id="pdf as md"),
        pytest.param("porter.pdf", PORTER.encode(), "", "does not fit", id="text as pdf"),
        pytest.param("porter", b"\x7fELF", "application/x-elf", "it is no text", id="no suffix"),
        pytest.param("porter.exe", b"MZ", "text/plain", "do not read this", id="program"),
        pytest.param("alert.png", b"\x89PNG", "image/png", "do not read this", id="picture"),
        pytest.param("porter." + "x" * 300, b"text", "", "do not read this", id="long suffix"),
        pytest.param("porter.md", b" \n", "", "no text", id="empty"),
        pytest.param("porter.md", b"", "", "no text", id="nothing"),
        pytest.param("porter.docx", b"PK\x03\x04" + b"\x00" * 50, "", "porter.docx", id="broken"),
        pytest.param(".env", b"TOKEN=1", "text/plain", "keys and passwords", id="secret file"),
        pytest.param("id_rsa", b"-----BEGIN", "text/plain", "keys and passwords", id="key"),
        pytest.param("porter.md", b"x" * 2_000_000 * 6, "", "too large", id="large"),
    ],
)
async def test_what_cannot_be_read_is_refused_with_the_reason(
    a_team: OpenTeam, name: str, data: bytes, mime: str, why: str
) -> None:
    team = await a_team(DOCS)
    at = await in_memory(team)
    seen = await sends(at, ANN, at.files.put(name, data, mime=mime))
    assert why in seen.shown
    assert "Nothing was added" in seen.shown
    assert kept(team) == []
    assert not list(team.home.glob("uploads/contents/*"))


async def test_a_name_and_a_size_that_rule_a_file_out_are_enough(a_team: OpenTeam) -> None:
    """Nothing is fetched for what would be refused anyway, nor more of a file than the limit."""
    at = await in_memory(await a_team(DOCS))
    await sends(at, ANN, at.files.put("alert.png", b"\x89PNG"))
    await sends(at, ANN, at.files.put("big.md", b"x", size=10**9))
    await sends(at, ANN, at.files.put("big.md", b"x" * (11 * 1024 * 1024), size=0))
    assert at.files.fetched == []


async def test_in_10_pages_without_text_are_named(a_team: OpenTeam) -> None:
    """IN-10: in the language of whoever asks."""
    team = await a_team(DOCS)
    at = await in_memory(team)
    pdf = FPDF()
    pdf.set_font("Helvetica", size=12)
    for words in ("The night porter in Tallinn answers at 112-233.", "", ""):
        pdf.add_page()
        if words:
            pdf.multi_cell(0, 8, words)
    file = at.files.put("porter.pdf", bytes(pdf.output()))
    assert "pages 2-3: no text layer" in (await sends(at, ANN, file)).shown.replace("\\", "")
    russian = await sends(at, ANN, file, text="добавь это, пожалуйста")
    assert "страницы 2-3: нет текстового слоя" in russian.shown.replace("\\", "")


async def test_sc_11_secrets_are_counted_and_neither_shown_nor_found(a_team: OpenTeam) -> None:
    team = await a_team(DOCS)
    at = await in_memory(team)
    text = f"# AWS_SECRET_ACCESS_KEY={KEY}\n\nAWS_SECRET_ACCESS_KEY={KEY}\n\n{PORTER}"
    seen = await sends(at, ANN, at.files.put("porter.md", text.encode()))
    assert "Secrets masked" in seen.shown
    assert KEY not in seen.shown.replace("\\", "")
    await at.bot.presses(ANN, value(seen, "k"), GROUP)
    shown = await at.bot.says(BORIS, "what is the AWS secret access key?", GROUP)
    assert KEY not in shown.shown.replace("\\", "")


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


async def test_a_file_that_is_gone_or_out_of_reach_is_told(a_team: OpenTeam) -> None:
    team = await a_team(DOCS)
    at = await in_memory(team)
    file = at.files.put("porter.md", PORTER.encode())
    at.files.down = True
    assert "could not be fetched just now" in (await sends(at, ANN, file)).shown
    at.files.down = False
    lost = replace(file, id="no such")
    assert "not there any more" in (await sends(at, ANN, lost)).shown
    seen = await sends(at, ANN, file)
    at.files.files.clear()  # deleted after it was shown: what was shown is published
    await at.bot.presses(ANN, value(seen, "k"), GROUP)
    assert await number(at) == "112-233"
    assert not KeptDocuments(team.home).all()[0].draft


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


async def test_what_is_no_document_is_named_with_what_can_be_sent(a_team: OpenTeam) -> None:
    team = await a_team(DOCS)
    at = await in_memory(team)
    for kind in ("photo", "voice", "sticker"):
        seen = await at.bot.says(ANN, "add this", attachments=(kind,))
        assert kind in seen.shown
        assert "PDF, Word" in seen.shown
    assert "I see no file" in (await at.bot.says(ANN, "add this", GROUP)).shown
    assert "I see no file" in (await at.bot.says(ANN, "/add", GROUP)).shown
    nothing = await at.bot.says(ANN, "how do I add a node to the pool?", GROUP)
    assert "I see no file" not in nothing.shown


@pytest.mark.parametrize("text", ["remember this", "запомни", "Please add this file to the docs!",
                                  "can you add it?", "сохрани этот документ в базу знаний",
                                  "/add", "add", "добавь это для всех"])  # fmt: skip
async def test_people_say_it_in_many_ways(a_team: OpenTeam, text: str) -> None:
    team = await a_team(DOCS)
    at = await in_memory(team)
    seen = await sends(at, ANN, at.files.put("porter.md", PORTER.encode()), text=text)
    assert "Night porter" in seen.shown
    assert [item.draft for item in kept(team)] == [True]


QUESTIONS = (
    "should I add this?|what is in this file?|add a node|index|keep calm|add it to which page?"
)


@pytest.mark.parametrize("text", QUESTIONS.split("|"))
async def test_other_words_are_questions(a_team: OpenTeam, text: str) -> None:
    team: Team = await a_team(DOCS)
    at = await in_memory(team)
    await sends(at, ANN, at.files.put("porter.md", PORTER.encode()), text=text)
    assert kept(team) == []
    assert at.files.fetched == []


async def test_a_question_with_a_document_says_how_to_keep_it(a_team: OpenTeam) -> None:
    at = await in_memory(await a_team(DOCS))
    file = at.files.put("porter.md", PORTER.encode())
    seen = await sends(at, ANN, file, text="who restarts the pool?", place=private(ANN))
    assert "add this" in seen.shown
    assert "Night porter" in (await sends(at, ANN, place=private(ANN))).shown
    refused = await sends(at, BORIS, file, text="", place=private(BORIS))
    assert "Only curators" in refused.shown
    at.bot.now += timedelta(hours=2)
    at.way.now = at.bot.now
    assert "I see no file" in (await sends(at, ANN, place=private(ANN))).shown


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
