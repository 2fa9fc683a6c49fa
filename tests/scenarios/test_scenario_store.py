"""When the embedder or the index is not what it was, or not there at all."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Sequence
from pathlib import Path

import pytest

from adapters.memory.embedder import HashEmbedder
from adapters.memory.model import ScriptedModel
from adapters.memory.web import MemoryWeb
from bot.app import App, open_index, opened
from bot.errors import IndexIncompatible
from bot.library import Shelf, sync_shelf
from bot.progress import Silent
from bot.settings import Settings
from graph.errors import EmbedderError, StoreError
from graph.machine import Machine
from graph.model import Document, Outcome, Passage, Scope
from graph.ports import Candidate, Embedder, Matrix, Ports, Retriever, Search
from graph.profile import Profile
from tests.scenarios.conftest import OpenTeam
from tests.scenarios.kit import SOURCE, Chat, Files, Team
from tests.servers.openai_server import OpenAIServer, Status, Vectors

DOCS: Files = {
    "parser.md": "# Parser\n\nRestart the parser with `systemctl restart parser` on host etl-01.\n",
    "backup.md": "# Backups\n\nBackups run at 01:30 UTC and are kept for 21 days.\n",
    "релиз.md": "# Релизы\n\nРелизы на прод запрещены по пятницам после 15:00 МСК.\n",
}
PARSER = "how do I restart the parser?"
RELEASE = "когда запрещены релизы на прод?"
REBUILD = "belay sync --rebuild"


def with_embedder(team: Team, embedder: Embedder) -> App:
    """The application of another process that is set up with `embedder`."""
    index, words = team.app.index, team.app.words
    machine = Machine(Ports(index, embedder, words))
    return App(team.app.settings, index, embedder, words, machine)


# ST-05


@pytest.mark.parametrize("dimension", [64, 512, 1024])
async def test_st_05_another_embedder_is_refused_and_the_index_stays(
    a_team: OpenTeam, dimension: int
) -> None:
    team = await a_team(DOCS)
    before = await team.app.index.info()
    other = with_embedder(team, HashEmbedder(dimension))
    team.write({"new.md": "# New\n\nA new document.\n"})
    with pytest.raises(IndexIncompatible) as refusal:
        await sync_shelf(other, Shelf(SOURCE, team.folder), home=team.home, progress=Silent())
    message = str(refusal.value)
    assert before.embedder in message
    assert f"hash-{dimension}" in message
    assert REBUILD in refusal.value.remedy

    assert await team.app.index.info() == before
    chat = team.chat()
    await chat.says(PARSER)
    chat.is_answered()
    chat.cites("parser.md")


async def test_st_05_a_rebuild_answers_with_the_new_embedder(a_team: OpenTeam) -> None:
    team = await a_team(DOCS)
    embedder = HashEmbedder(256)
    other = with_embedder(team, embedder)
    await team.app.index.reset()
    await sync_shelf(other, Shelf(SOURCE, team.folder), home=team.home, progress=Silent())
    chat = Chat(other, other.machine)
    for question, document in ((PARSER, "parser.md"), (RELEASE, "релиз.md")):
        await chat.says(question)
        chat.cites(document)
    info = await team.app.index.info()
    assert (info.embedder, info.dimension) == ("hash-256", 256)


async def test_st_05_the_application_refuses_to_start_on_another_embedders_index(
    tmp_path: Path, a_team: OpenTeam
) -> None:
    team = await a_team(DOCS)
    before = await team.app.index.info()
    async with OpenAIServer(default=Vectors(dimension=48)) as server:
        settings = Settings(
            home=team.home, embedder="openai:text-48", model_url=server.url, web=False
        )
        with pytest.raises(IndexIncompatible) as refusal:
            async with opened(settings):
                pass
        assert REBUILD in refusal.value.remedy
        assert "text-48" in str(refusal.value)
        assert await team.app.index.info() == before

        async with opened(settings, check=False) as app:
            await app.index.reset()
            await sync_shelf(app, Shelf(SOURCE, team.folder), home=team.home, progress=Silent())
            chat = Chat(app, app.machine)
            await chat.says(PARSER)
            assert chat.outcome is not Outcome.FAILED
            assert chat.trace.documents[0] == "docs/parser.md"
        async with opened(settings) as app:
            assert (await app.index.info()).dimension == 48


async def test_st_05_a_question_under_another_embedder_fails_with_its_cause(
    a_team: OpenTeam,
) -> None:
    team = await a_team(DOCS)
    chat = team.chat(embedder=HashEmbedder(64))
    await chat.says(PARSER)
    assert chat.outcome is Outcome.FAILED
    chat.never_sees("did not find")


# ST-10


class Down(Embedder):
    """Has the name and size of the embedder that built the index, and never answers."""

    def __init__(self, known: Embedder, *, hangs: bool = False) -> None:
        self._known, self._hangs = known, hangs

    @property
    def name(self) -> str:
        return self._known.name

    @property
    def dimension(self) -> int:
        return self._known.dimension

    async def embed_questions(self, texts: Sequence[str]) -> Matrix:
        if self._hangs:
            await asyncio.Event().wait()
        raise EmbedderError("401: wrong key")

    async def embed_passages(self, texts: Sequence[str]) -> Matrix:
        return await self.embed_questions(texts)


@pytest.mark.parametrize("with_model", [False, True], ids=["quotations", "a model"])
@pytest.mark.parametrize(
    ("question", "document", "reply", "note"),
    [
        (PARSER, "parser.md", "Run `systemctl restart parser` [1].", "on keywords only"),
        ("how long are backups kept?", "backup.md", "For 21 days [1].", "on keywords only"),
        (RELEASE, "релиз.md", "По пятницам после 15:00 МСК [1].", "только по ключевым словам"),
    ],
)
async def test_st_10_without_an_embedder_keywords_answer_and_the_reader_is_told(
    a_team: OpenTeam, *, with_model: bool, question: str, document: str, reply: str, note: str
) -> None:
    team = await a_team(DOCS)
    model = ScriptedModel(default=reply) if with_model else None
    chat = team.chat(embedder=Down(team.app.embedder), model=model)
    await chat.says(question)
    assert chat.outcome in (Outcome.ANSWERED, Outcome.PARTIAL), chat.figures
    chat.cites(document)
    chat.sees(note)
    assert chat.answer.notes == ("embedder_down",)


@pytest.mark.parametrize(
    ("question", "note"),
    [
        ("what is the parental leave policy?", "on keywords only"),
        ("who won the match?", "on keywords only"),
        ("какая погода в Париже?", "только по ключевым словам"),
    ],
)
@pytest.mark.parametrize("web", [None, MemoryWeb([])], ids=["no web", "an empty web"])
async def test_st_10_nothing_is_said_to_be_missing_without_the_note(
    a_team: OpenTeam, question: str, note: str, web: MemoryWeb | None
) -> None:
    team = await a_team(DOCS)
    chat = team.chat(embedder=Down(team.app.embedder), web=web)
    await chat.says(question)
    assert chat.outcome is Outcome.NOT_FOUND
    chat.sees(note)


async def test_st_10_an_embedder_that_hangs_is_given_up(a_team: OpenTeam) -> None:
    from graph.policy import Limits

    team = await a_team(DOCS)
    limits = Limits(deadline=20.0, embed_timeout=0.05)
    chat = team.chat(embedder=Down(team.app.embedder, hangs=True), limits=limits)
    await chat.says(PARSER)
    chat.cites("parser.md")
    chat.sees("on keywords only")


async def test_st_10_a_remote_embedder_with_a_wrong_key_degrades_too(a_team: OpenTeam) -> None:
    from adapters.openai import create_embedder

    team = await a_team(DOCS)
    async with OpenAIServer(Vectors(dimension=32), default=Vectors(dimension=32)) as server:
        remote = create_embedder("text-32", server.url, "sk-right-0123456789")
        await remote.probe()
        app = with_embedder(team, remote)
        await app.index.reset()
        await sync_shelf(app, Shelf(SOURCE, team.folder), home=team.home, progress=Silent())
        await remote.close()
    async with OpenAIServer(default=Status(401, "Incorrect API key provided")) as server:
        wrong = create_embedder("text-32", server.url, "sk-wrong-0123456789", dimension=32)
        other = with_embedder(team, wrong)
        chat = Chat(other, other.machine)
        await chat.says(PARSER)
        await wrong.close()
    chat.cites("parser.md")
    chat.sees("on keywords only")
    chat.never_sees("Incorrect API key", "sk-wrong")


class Unreadable(Retriever):
    """An index on a disk that is gone, from the first look-up or from a later one."""

    def __init__(self, index: Retriever, *, fails: str) -> None:
        self._index, self._fails = index, fails

    def _check(self, what: str) -> None:
        if what == self._fails:
            raise StoreError("disk I/O error at /var/lib/secret-path")

    async def profile(self) -> Profile:
        self._check("profile")
        return await self._index.profile()

    async def search(self, search: Search, scope: Scope) -> Sequence[Candidate]:
        self._check("search")
        return await self._index.search(search, scope)

    async def mentioned(self, terms: Sequence[str], scope: Scope) -> frozenset[str]:
        self._check("mentioned")
        return await self._index.mentioned(terms, scope)

    async def document(self, passage: Passage, scope: Scope) -> Sequence[Passage]:
        self._check("document")
        return await self._index.document(passage, scope)

    async def readable(self, documents: Collection[Document], scope: Scope) -> frozenset[Document]:
        self._check("readable")
        return await self._index.readable(documents, scope)


@pytest.mark.parametrize("fails", ["profile", "search"])
@pytest.mark.parametrize(
    ("question", "sentence"),
    [
        (PARSER, "The index of documents could not be read"),
        (RELEASE, "Индекс документов не читается"),
    ],
    ids=["en", "ru"],
)
async def test_st_10_an_unreadable_index_is_a_failure_with_its_cause(
    a_team: OpenTeam, fails: str, question: str, sentence: str
) -> None:
    team = await a_team(DOCS)
    web = MemoryWeb([])
    chat = team.chat(retriever=Unreadable(team.app.index, fails=fails), web=web)
    await chat.says(question)
    assert chat.outcome is Outcome.FAILED
    assert chat.answer.error_id
    chat.sees(sentence)
    chat.never_sees("secret-path", "not find", "не нашёл", "disk")
    assert web.queries == []


async def test_st_10_a_document_that_cannot_be_read_whole_still_answers(a_team: OpenTeam) -> None:
    team = await a_team(DOCS)
    chat = team.chat(retriever=Unreadable(team.app.index, fails="document"))
    await chat.says(PARSER)
    chat.is_answered()


async def test_st_10_an_overwritten_index_file_is_a_failure_with_its_cause(
    a_team: OpenTeam,
) -> None:
    team = await a_team(DOCS)
    await team.app.index.close()
    (file,) = team.home.glob("*.db")
    file.write_bytes(b"this is no database" * 1000)
    for extra in team.home.glob("*.db-*"):
        extra.unlink()
    try:
        index = await open_index(Settings(home=team.home))
    except Exception as error:
        assert str(file) in str(error)  # noqa: PT017 - either way of refusing is right
        return
    chat = team.chat(retriever=index)
    await chat.says(PARSER)
    await index.close()
    assert chat.outcome is Outcome.FAILED
    chat.never_sees("did not find")
