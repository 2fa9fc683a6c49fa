"""`type:repo` in a chat: documents of that type alone, in every query that the answer takes."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from functools import partial
from pathlib import Path

import pytest

from adapters.folder import create as folder
from adapters.memory.conversation import MemoryConversation
from bot.chat import Person, Place
from bot.ingest.options import SyncOptions
from bot.ingest.sync import sync
from bot.readable_sources import readable_sources
from graph.machine import Machine
from graph.model import Access, Document, Passage, Scope, SourceType
from graph.ports import Candidate, Ports, Retriever, Search
from graph.profile import Profile
from tests.bot.answering_kit import BORIS, Bot
from tests.scenarios.conftest import OpenTeam
from tests.scenarios.kit import NOW, Files, Team

ANN = Person("slack", "U1", "Ann")
CHANNEL = Place("slack", "C1", "channel")
DOCS: Files = {
    "billing.md": "# Billing service\n\nBilling listens on port 8081.\n\n"
    "## BillingDown\n\n1. Restart billing with `systemctl restart billing`.\n",
}
VAULT = "# Billing service\n\nBilling listens on port 9191 behind the vault.\n"
PORT = "which port does billing use?"


class Noted(Retriever):
    """An index that writes down the scope of each query."""

    def __init__(self, index: Retriever) -> None:
        self._index, self.scopes = index, list[Scope]()

    async def profile(self) -> Profile:
        return await self._index.profile()

    async def search(self, search: Search, scope: Scope) -> Sequence[Candidate]:
        self.scopes.append(scope)
        return await self._index.search(search, scope)

    async def mentioned(self, terms: Sequence[str], scope: Scope) -> frozenset[str]:
        self.scopes.append(scope)
        return await self._index.mentioned(terms, scope)

    async def document(self, passage: Passage, scope: Scope) -> Sequence[Passage]:
        self.scopes.append(scope)
        return await self._index.document(passage, scope)

    async def readable(self, documents: Collection[Document], scope: Scope) -> frozenset[Document]:
        self.scopes.append(scope)
        return await self._index.readable(documents, scope)


async def reads(team: Team, place: Path, text: str, kind: SourceType, level: str = "staff") -> None:
    """One more source of the team, with one page, for this level and those above it."""
    place.mkdir()
    (place / "billing.md").write_text(text)
    source, options = folder(place, "safe", kind=kind), SyncOptions(access=Access(audience=level))
    lock = place.with_suffix(".lock")
    await sync(source, team.app.index, team.app.embedder, lock=lock, options=options)


async def chat(a_team: OpenTeam, tmp_path: Path) -> tuple[Bot, Noted]:
    """A channel that may read a folder and a vault."""
    team = await a_team(DOCS)
    await reads(team, tmp_path / "vault", VAULT, SourceType.VAULT)
    own, noted = team.app.embedder, Noted(team.app.index)
    machine = Machine(Ports(noted, own, own), now=lambda: NOW)
    sources = partial(readable_sources, team.app.index)
    bot = Bot(machine, {"roots": {"slack": "belay"}}, sources=sources)
    await bot.let_in(ANN)
    await bot.let_in(CHANNEL)
    return bot, noted


def cited(seen: MemoryConversation) -> set[SourceType]:
    answers = [reply.answer for reply in seen.answers if reply.answer is not None]
    return {item.passage.source_type for answer in answers for item in answer.citations}


@pytest.mark.parametrize(
    "typed",
    [f"/ask type:vault {PORT}", f"type:vault {PORT}", f"{PORT} type:vault",
     f"ask Type:Vault {PORT}", f"/ask type:vault,repo {PORT}", f"/ask тип:vault {PORT}"],
)  # fmt: skip
async def test_a_question_is_answered_from_the_type_that_it_names(
    a_team: OpenTeam, tmp_path: Path, typed: str
) -> None:
    bot, noted = await chat(a_team, tmp_path)
    seen = await bot.says(ANN, typed, CHANNEL)
    assert "9191" in seen.shown
    assert "8081" not in seen.shown
    assert cited(seen) == {SourceType.VAULT}
    types = {scope.source_types for scope in noted.scopes}
    assert types
    assert all(named is not None and SourceType.FOLDER not in named for named in types)


async def test_each_search_of_a_question_that_is_looked_up_again_keeps_the_type(
    a_team: OpenTeam, tmp_path: Path
) -> None:
    """What the vault lacks is searched for in other words too, and never in the folder."""
    bot, noted = await chat(a_team, tmp_path)
    seen = await bot.says(ANN, "type:vault how do I restart billing?", CHANNEL)
    assert "systemctl" not in seen.shown
    assert {scope.source_types for scope in noted.scopes} == {frozenset({SourceType.VAULT})}


async def test_the_next_question_is_of_all_types_again(a_team: OpenTeam, tmp_path: Path) -> None:
    bot, _ = await chat(a_team, tmp_path)
    await bot.says(ANN, f"type:vault {PORT}", CHANNEL)
    assert "systemctl" in (await bot.says(ANN, "how do I restart billing?", CHANNEL)).shown


@pytest.mark.parametrize("name", ["runbook", "incident"])
async def test_runbooks_are_of_the_type_too(a_team: OpenTeam, tmp_path: Path, name: str) -> None:
    bot, _ = await chat(a_team, tmp_path)
    assert "systemctl" in (await bot.says(ANN, f"/{name} type:folder BillingDown", CHANNEL)).shown
    narrow = await bot.says(ANN, f"/{name} type:vault BillingDown", CHANNEL)
    assert "systemctl" not in narrow.shown


@pytest.mark.parametrize(
    "typed", ["/ask type:wiki what is it", "/runbook type:wiki", "/sources type:w"]
)
async def test_a_wrong_type_is_told_with_those_that_there_are(
    a_team: OpenTeam, tmp_path: Path, typed: str
) -> None:
    bot, noted = await chat(a_team, tmp_path)
    seen = await bot.says(ANN, typed, CHANNEL)
    assert "folder, manual, repo, upload, vault" in seen.shown
    assert noted.scopes == []


@pytest.mark.parametrize(
    "text",
    ["type:LoadBalancer stays pending, why?", "what does type:Opaque mean", "type: repo of what"],
)
async def test_words_that_name_no_type_belong_to_the_question(
    a_team: OpenTeam, tmp_path: Path, text: str
) -> None:
    bot, noted = await chat(a_team, tmp_path)
    await bot.says(ANN, text, CHANNEL)
    assert {scope.source_types for scope in noted.scopes} == {None}


@pytest.mark.parametrize(
    "typed",
    [f"type:upload {PORT}", f"/ask type:upload {PORT}", "/runbook type:upload BillingDown",
     "/incident type:upload BillingDown", "/sources type:upload"],
)  # fmt: skip
async def test_a_type_that_nothing_is_of_is_told_with_those_that_there_are(
    a_team: OpenTeam, tmp_path: Path, typed: str
) -> None:
    bot, _ = await chat(a_team, tmp_path)
    seen = await bot.says(ANN, typed, CHANNEL)
    assert "no documents of the type `upload`" in seen.shown
    assert "some of the type `folder` and `vault`" in seen.shown
    assert "did not find" not in seen.shown
    assert cited(seen) == set()


async def test_a_type_is_told_in_the_language_of_the_question(
    a_team: OpenTeam, tmp_path: Path
) -> None:
    bot, _ = await chat(a_team, tmp_path)
    seen = await bot.says(ANN, "тип:repo какой порт у биллинга?", CHANNEL)
    assert "Документов типа `repo`" in seen.shown
    assert "Есть документы типа `folder` и `vault`" in seen.shown


async def test_a_type_of_which_there_is_something_is_not_called_absent(
    a_team: OpenTeam, tmp_path: Path
) -> None:
    bot, _ = await chat(a_team, tmp_path)
    for typed in ("type:vault when do zebras migrate?", "type:vault,repo when do zebras migrate?"):
        assert "no documents of the type" not in (await bot.says(ANN, typed, CHANNEL)).shown
    thanks = await bot.says(ANN, "type:repo thanks!", CHANNEL)
    assert "of the type" not in thanks.shown


@pytest.mark.parametrize("typed", [f"type:repo {PORT}", "/runbook type:repo BillingDown",
                                   "/sources type:repo"])  # fmt: skip
async def test_documents_that_may_not_be_read_are_not_told_by_their_type(
    a_team: OpenTeam, tmp_path: Path, typed: str
) -> None:
    """What is said is the same, word for word, before and after there are some."""
    team = await a_team(DOCS)
    own = team.app.embedder
    machine = Machine(Ports(team.app.index, own, own), now=lambda: NOW)
    bot = Bot(machine, sources=partial(readable_sources, team.app.index))
    await bot.let_in(ANN)
    await bot.let_in(BORIS, "director")
    before = await bot.says(ANN, typed)
    assert "no documents of the type `repo`" in before.shown
    assert "some of the type `folder`:" in before.shown
    await reads(team, tmp_path / "closed", VAULT, SourceType.REPO, "director")
    assert (await bot.says(ANN, typed)).shown == before.shown
    # nor by the types that there are, when another one is asked for
    other = await bot.says(ANN, typed.replace("type:repo", "type:upload"))
    assert "some of the type `folder`:" in other.shown
    assert "no documents of the type" not in (await bot.says(BORIS, typed)).shown


async def test_what_is_posted_keeps_the_type(a_team: OpenTeam, tmp_path: Path) -> None:
    bot, noted = await chat(a_team, tmp_path)
    seen = await bot.says(ANN, f"/ask type:vault {PORT}", CHANNEL, secretly=True)
    [post] = [button.value for reply in seen.answers for button in reply.buttons
              if button.value.startswith("c:")]  # fmt: skip
    noted.scopes.clear()
    posted = await bot.presses(ANN, post, CHANNEL)
    assert "9191" in posted.shown
    assert "8081" not in posted.shown
    assert {scope.source_types for scope in noted.scopes} == {frozenset({SourceType.VAULT})}
