"""Finding: the right page first, whatever it is asked by."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from graph.model import LEVELS, Passage, Ranked, Scope, Scores, SourceType
from graph.policy import Policy
from graph.retrieval import evidence, merged
from tests.graph.retrieval_corpora import (
    CROSS_LANGUAGE,
    ENVIRONMENT_QUESTIONS,
    ENVIRONMENTS,
    IDENTIFIER_QUESTIONS,
    IDENTIFIERS,
    NO_SHARED_WORD,
    PARAPHRASES,
    TWO_LANGUAGES,
)
from tests.graph.retrieval_kit import (
    BrokenEmbedder,
    RandomEmbedder,
    Shelf,
    by_vector_alone,
    documents,
    indexed,
)

Shelves = Callable[[Mapping[str, str]], Awaitable[Shelf]]


@pytest.fixture(scope="module")
def shelves(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shelves]:
    """Makes an index of files, once for all tests that use the same ones."""
    made: dict[int, Shelf] = {}

    async def shelf(files: Mapping[str, str]) -> Shelf:
        if id(files) not in made:
            made[id(files)] = await indexed(tmp_path_factory.mktemp("shelf"), files)
        return made[id(files)]

    yield shelf
    for one in made.values():
        asyncio.run(one.index.close())


@pytest.mark.parametrize(("question", "path"), IDENTIFIER_QUESTIONS)
async def test_an_identifier_finds_its_page_and_not_its_twin(
    shelves: Shelves, question: str, path: str
) -> None:
    """RT-14: error codes, hosts, CamelCase, paths, versions, addresses, however they are typed."""
    assert (await (await shelves(IDENTIFIERS)).documents(question))[0] == path


@pytest.mark.parametrize(("question", "path"), ENVIRONMENT_QUESTIONS)
async def test_the_page_of_the_asked_environment_comes_first(
    shelves: Shelves, question: str, path: str
) -> None:
    """RT-16: the texts are nearly equal, only the environment differs."""
    assert (await (await shelves(ENVIRONMENTS)).documents(question))[0] == path


async def test_pages_in_the_other_language_are_found(shelves: Shelves) -> None:
    """RT-17: Russian questions on English pages and the other way round."""
    shelf = await shelves(TWO_LANGUAGES)
    missed = [
        question
        for question, path in CROSS_LANGUAGE
        if path not in (await shelf.documents(question))[:5]
    ]
    assert len(CROSS_LANGUAGE) == 8
    assert len(missed) <= 1, missed


async def test_paraphrases_are_found_at_least_as_well_as_by_vectors_alone(shelves: Shelves) -> None:
    """RT-13: 20 paraphrases, with the words of 40 notes among them."""
    hybrid, vector = 0, 0
    for question, path in PARAPHRASES:
        found = await (await shelves(TWO_LANGUAGES)).find(question)
        hybrid += path in documents(found)[:5]
        vector += path in by_vector_alone(found)[:5]
    assert len(PARAPHRASES) == 20
    assert hybrid >= vector
    assert hybrid >= 18


@pytest.mark.parametrize(("question", "path"), NO_SHARED_WORD)
async def test_what_vectors_put_first_is_not_buried_by_frequent_words(
    shelves: Shelves, question: str, path: str
) -> None:
    """RT-13: no word of the page is asked, and words of ten notes are."""
    found = await (await shelves(TWO_LANGUAGES)).find(question)
    assert by_vector_alone(found)[0] == path
    assert path in documents(found)[:5]


async def test_cyrillic_keywords_find_the_page_when_vectors_mean_nothing(tmp_path: Path) -> None:
    """RT-11: keyword search alone, under random vectors."""
    files = {
        "cash.md": "# Кассовый разрыв\n\nКассовый разрыв: лимит на 2026 год.\n",
        "stock.md": "# Остатки\n\nПересорт на складе: акт и пересчёт.\n",
        "hr.md": "# Отпуска\n\nЗаявление за две недели до отпуска.\n",
        "en.md": "# Cash desk\n\nThe desk opens at nine.\n",
    }
    shelf = await indexed(tmp_path, files, embedder=RandomEmbedder(), words=RandomEmbedder())
    for question, path in (
        ("кассовый разрыв", "cash.md"),
        ("кассовые разрывы", "cash.md"),
        ("что делать при пересорте на складе", "stock.md"),
        ("за сколько подать заявление на отпуск?", "hr.md"),
    ):
        found = await shelf.find(question)
        best = max(found.ranked, key=lambda item: item.scores.bm25)
        assert best.passage.document == path
        alone = await shelf.find(question, embedder=BrokenEmbedder())
        assert documents(alone)[0] == path
    assert (await shelf.documents("кассовый разрыв"))[0] == "cash.md"
    await shelf.index.close()


@pytest.mark.parametrize(
    ("question", "path"),
    [
        ("what is ERR-4471?", "errors/err-4471.md"),
        ("принтер пишет E-1023", "ru/e-1023.md"),
        ("how to reload pgbouncer", "pooler.md"),
    ],
)
async def test_with_the_embedder_down_words_still_find_the_page(
    shelves: Shelves, question: str, path: str
) -> None:
    found = await (await shelves(IDENTIFIERS)).find(
        question, embedder=BrokenEmbedder(dimension=512)
    )
    assert documents(found)[0] == path
    assert found.notes == ("embedder_down",)
    assert all(item.scores.cosine is None for item in found.ranked)


@pytest.mark.parametrize(
    ("question", "path"),
    [
        ("консьюмер отстаёт", "en/kafka.md"),
        ("rollback", "ru/otkat.md"),
        ("что делать с нодой в NotReady", "en/notready.md"),
    ],
)
async def test_slang_reaches_the_other_language_without_any_vector(
    shelves: Shelves, question: str, path: str
) -> None:
    found = await (await shelves(TWO_LANGUAGES)).find(
        question, embedder=BrokenEmbedder(dimension=512)
    )
    assert documents(found)[0] == path
    assert found.ranked[0].scores.bm25 > 0


async def test_translations_reach_the_other_language(shelves: Shelves) -> None:
    """Words that no list holds: their vectors carry them."""
    found = await (await shelves(TWO_LANGUAGES)).find("certificates expire")
    assert documents(found)[0] == "en/certificates.md"
    found = await (await shelves(TWO_LANGUAGES)).find("срок действия удостоверений шлюза истекает")
    best = next(item for item in found.ranked if item.passage.document == "en/certificates.md")
    assert best.scores.bm25 > 0
    assert best.scores.coverage > 0.1


async def test_reciprocal_rank_fusion_is_a_setting(shelves: Shelves) -> None:
    shelf = await shelves(IDENTIFIERS)
    found = await shelf.find("KubePodCrashLooping", policy=Policy(fusion="rrf"))
    assert documents(found)[0] == "alerts/KubePodCrashLooping.md"
    by_u = sorted(found.ranked, key=lambda item: -item.scores.u)
    assert [item.passage.id for item in found.ranked] != [item.passage.id for item in by_u]


async def test_a_name_is_known_when_a_readable_document_mentions_it(tmp_path: Path) -> None:
    files = {
        "open.md": "# Billing\n\nBilling runs on two hosts, and pgbouncer stands before them.\n",
        "secret.md": "---\naudience: administrator\n---\n# Vault\n\nHashiCorp Vault is sealed.\n",
    }
    shelf = await indexed(tmp_path, files)
    everybody, administrator = Scope(), Scope(levels=frozenset(LEVELS))
    for question, scope, unknown in (
        ("how is HashiCorp unsealed", everybody, ("HashiCorp",)),
        ("how is HashiCorp unsealed", administrator, ()),
        ("who restarts ArgoCD", administrator, ("ArgoCD",)),
        ("who restarts PgBouncer", everybody, ()),
    ):
        found = await shelf.find(question, scope=scope)
        assert found.view.unknown_names == unknown
    await shelf.index.close()


def passage(name: str, document: str) -> Passage:
    return Passage(name, "docs", SourceType.FOLDER, document, document, (), "text", "")


def scored(name: str, document: str, u: float) -> Ranked:
    return Ranked(passage(name, document), Scores(0.5, 1.0, u, 0.5, 0.5))


def test_evidence_takes_two_chunks_of_a_document() -> None:
    ranked = [scored(f"a{number}", "a.md", 9 - number) for number in range(5)]
    ranked += [scored("b0", "b.md", 1.0)]
    chosen = [item.passage.id for item in evidence(ranked, Policy())]
    assert chosen == ["a0", "a1", "b0"]
    assert len(evidence(ranked, Policy(chunks_per_document=4))) == 5


def test_evidence_of_two_sources_may_have_the_same_path() -> None:
    ranked = [scored(f"a{number}", "a.md", 9 - number) for number in range(2)]
    other = replace(passage("c", "a.md"), source="other")
    chosen = evidence([*ranked, Ranked(other, ranked[0].scores)], Policy())
    assert len(chosen) == 3


def test_a_part_lifts_a_passage_but_pays_for_it() -> None:
    whole = [scored("a", "a.md", 2.0), scored("b", "b.md", 1.0)]
    parts = [
        ("part one", [scored("b", "b.md", 2.5), scored("a", "a.md", 2.1)]),
        ("part two", [scored("c", "c.md", 0.5)]),
    ]
    lifted = merged(whole, parts, 0.3)
    assert [item.passage.id for item in lifted] == ["b", "a", "c"]
    by_id = {item.passage.id: item.scores for item in lifted}
    assert by_id["b"].u == pytest.approx(2.2)
    assert by_id["b"].origin == "part one"
    assert by_id["a"].u == pytest.approx(2.0)  # 2.1 - 0.3 is not better
    assert by_id["a"].origin == ""
    assert by_id["c"].origin == "part two"
