"""What can be wrong with a file, its name, its moment or its sender."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from io import BytesIO
from zipfile import ZIP_DEFLATED, ZipFile

import pytest
from fpdf import FPDF

from bot.kept import KeptDocuments
from tests.bot.answering_kit import ANN, BORIS, GROUP, private, value
from tests.scenarios.conftest import OpenTeam
from tests.scenarios.hand_in_kit import DOCS, PORTER, in_memory, kept, number, sends
from tests.scenarios.kit import Team

KEY = "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"


def bomb() -> bytes:
    """A Word document that unpacks to a thousand times its size."""
    packed = BytesIO()
    with ZipFile(packed, "w", ZIP_DEFLATED) as archive:
        archive.writestr("[Content_Types].xml", "<Types/>")
        archive.writestr("word/document.xml", b" " * 40_000_000)
    return packed.getvalue()


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
        pytest.param("porter.docx", bomb(), "", "not safe", id="bomb"),
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


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-be", "cp1251", "koi8-r"])
async def test_in_04_in_06_a_text_in_another_encoding_is_read(
    a_team: OpenTeam, encoding: str
) -> None:
    """IN-04, IN-06: as it would be from a folder."""
    at = await in_memory(await a_team(DOCS))
    words = "Ночной вахтёр в Таллине отвечает по номеру 112-233. Дневной отвечает в другом месте."
    mark = "\ufeff" if encoding == "utf-16-be" else ""
    file = at.files.put("вахтёр.txt", (mark + words).encode(encoding))
    seen = await sends(at, ANN, file, text="добавь это")
    await at.bot.presses(ANN, value(seen, "k"), GROUP)
    answer = await at.bot.says(BORIS, "по какому номеру отвечает ночной вахтёр в Таллине?", GROUP)
    assert "112-233" in answer.shown
