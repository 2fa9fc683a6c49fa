"""The scale of relevance: fitted to an index, borrowed for a small one, kept while it holds."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from adapters.memory.embedder import HashEmbedder
from adapters.memory.index import MemoryIndex
from bot.ingest.calibrate import ENOUGH, SMALLEST, outgrown
from bot.ingest.refresh import refresh
from bot.ingest.shipped import probes, shipped
from bot.ingest.snippets import Copies, sample
from graph.idf import REFERENCE
from graph.model import LANGUAGES, Language
from graph.policy import Policy
from graph.profile import Profile
from graph.relevance import centre
from graph.terms import term_hashes
from graph.text import spaced
from tests.graph.retrieval_kit import (
    Counted,
    RandomEmbedder,
    Shelf,
    builtin,
    indexed,
    resync,
    shelved,
    write,
)

EXAMPLES = Path(__file__).parents[2] / "examples" / "docs"
UNRELATED = (
    "how many teeth does a shark have",
    "who wrote War and Peace",
    "best recipe for pancakes without milk",
    "when does the next train to the airport leave",
    "how do I train a puppy to sit",
    "which vitamins are in an orange",
    "who won the chess olympiad",
    "how do I knit a scarf",
    "what is the capital of Mongolia",
    "how long should I boil an egg",
    "как вывести пятно от вина",
    "сколько лет живут черепахи",
    "какая высота Эвереста",
    "как посадить розы весной",
    "кто написал Евгения Онегина",
    "рецепт борща без свёклы",
    "где купить велосипед ребёнку",
    "как выучить испанский за год",
    "почему небо голубое",
    "какие мультфильмы идут в кино",
)


def page(number: int) -> str:
    """A page whose words no other page has."""
    return f"# Page w{number}a\n\nThe w{number}b is restarted by w{number}c only at night.\n"


def pages(count: int, start: int = 0) -> dict[str, str]:
    return {f"p{number}.md": page(number) for number in range(start, start + count)}


@pytest.fixture(scope="module")
def examples(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shelf]:
    shelf = asyncio.run(shelved(tmp_path_factory.mktemp("examples"), EXAMPLES))
    yield shelf
    asyncio.run(shelf.index.close())


async def test_the_final_anchor_puts_three_quarters_of_the_negatives_at_one_or_less(
    tmp_path: Path,
) -> None:
    """Snippets and probes weigh the same, as the anchors' definition says."""
    rng = np.random.default_rng(1)
    words = [f"word{number}" for number in range(300)]
    files = {}
    for number in range(150):
        chosen = rng.choice(words, size=(3, 9))
        text = " ".join(" ".join(row).capitalize() + "." for row in chosen)
        files[f"f{number}.md"] = f"# Page {number}\n\n{text}\n"
    embedder = HashEmbedder()
    shelf = await indexed(tmp_path, files, embedder=embedder, words=embedder)
    calibration = (await shelf.index.profile()).calibration
    assert calibration.origin == "fitted"
    reached = calibration.negatives["en"]
    snippets, asked = reached[:-60], reached[-60:]
    assert len(snippets) >= ENOUGH
    share = (np.mean(snippets <= 1) + np.mean(asked <= 1)) / 2
    assert share == pytest.approx(0.75, abs=0.02)
    assert (np.mean(snippets <= 0) + np.mean(asked <= 0)) / 2 == pytest.approx(0.5, abs=0.02)
    await shelf.index.close()


async def test_dense_anchors_of_two_languages_are_drawn_halfway_to_their_mean(
    tmp_path: Path,
) -> None:
    """Undone, each is the median of what the negatives reach in its language, and the distance to
    the 85th percentile."""
    rng = np.random.default_rng(2)
    files = {}
    for language, stem, kinds in (("en", "word", 300), ("ru", "слово", 60)):
        words = [f"{stem}{number}" for number in range(kinds)]
        for number in range(ENOUGH):
            chosen = rng.choice(words, size=(3, 9))
            text = " ".join(" ".join(row).capitalize() + "." for row in chosen)
            files[f"{language}{number}.md"] = f"# {text[:40]}\n\n{text}\n"
    embedder = HashEmbedder(64)
    shelf = await indexed(tmp_path, files, embedder=embedder, words=embedder)
    dense = (await shelf.index.profile()).calibration.dense
    reached = await best_cosines(shelf, "en")
    for held, other in (("en", "ru"), ("ru", "en")):
        here, there = dense["en", held], dense["en", other]
        median = 1.5 * here.m - 0.5 * there.m
        upper = median + 1.5 * here.g - 0.5 * there.g
        for value, share in ((median, 0.5), (upper, 0.85)):
            below = [np.mean(np.array(part) <= value) for part in reached[held]]
            assert np.mean(below) == pytest.approx(share, abs=0.02)
    await shelf.index.close()


async def best_cosines(shelf: Shelf, asked: Language) -> dict[Language, tuple[list[float], ...]]:
    """By chunk language: what each snippet reaches outside its own document and its copies, and
    what each probe reaches."""
    calibration = (await shelf.index.profile()).calibration
    stored = [(passage, vector) async for passage, vector, _ in shelf.index.chunks()]
    passages = [passage for passage, _ in stored]
    snippets, copies = sample(passages)[asked], Copies(passages)
    texts = [spaced(item.text) for item in snippets] + [spaced(text) for text in probes()[asked]]
    vectors = await shelf.embedder.embed_questions(texts)
    questions = centre(vectors, calibration.question_means[asked])
    found: dict[Language, tuple[list[float], ...]] = {}
    for held in LANGUAGES:
        rows = [row for row, passage in enumerate(passages) if passage.language == held]
        chunks = centre(np.stack([stored[row][1] for row in rows]), calibration.passage_means[held])
        cosines = questions @ chunks.T
        best = [
            max(
                float(value)
                for value, row in zip(line, rows, strict=True)
                if not copies.excluded(snippet, row)
            )
            for snippet, line in zip(snippets, cosines, strict=False)
        ]
        found[held] = (best, cosines[len(snippets) :].max(axis=1).tolist())
    return found


async def test_few_unrelated_questions_come_over_the_floor(examples: Shelf) -> None:
    floor = Policy().floor
    found = [(await examples.find(text)).ranked[0].scores.relevance for text in UNRELATED]
    assert sum(value >= floor for value in found) <= 2
    assert sum(value >= Policy().factual for value in found) == 0


async def test_related_questions_come_over_it(examples: Shelf) -> None:
    """The other side: a floor that stops everything would pass the test above."""
    for text in (
        "waybill API high latency, what first",
        "how do I restore a backup",
        "пул соединений waybill исчерпан",
        "what does the on-call policy say about swapping shifts",
    ):
        assert (await examples.find(text)).ranked[0].scores.relevance >= Policy().floor


async def test_an_index_of_a_few_dozen_chunks_mixes_its_own_anchors_with_shipped_ones(
    examples: Shelf,
) -> None:
    calibration = (await examples.index.profile()).calibration
    base = shipped(builtin().name, builtin().name)
    assert calibration.chunks >= SMALLEST
    assert calibration.origin == "blended"
    assert calibration.final != base.final
    assert calibration.lexical != base.lexical


async def test_statistics_are_a_recount_of_what_is_stored(examples: Shelf) -> None:
    statistics = (await examples.index.profile()).statistics
    seen: dict[int, int] = {}
    lengths = []
    async for _, _, counts in examples.index.chunks():
        lengths.append(counts.length)
        for item in counts.hashes.tolist():
            seen[item] = seen.get(item, 0) + 1
    assert statistics.chunks == len(lengths)
    assert statistics.mean_length == pytest.approx(sum(lengths) / len(lengths), rel=1e-5)
    kept = zip(statistics.hashes.tolist(), statistics.frequencies.tolist(), strict=True)
    assert dict(kept) == seen


async def test_under_thirty_chunks_the_shipped_anchors_are_used_as_they_are(tmp_path: Path) -> None:
    shelf = await indexed(tmp_path, pages(SMALLEST - 1))
    calibration = (await shelf.index.profile()).calibration
    base = shipped(builtin().name, builtin().name)
    assert calibration.origin == "shipped"
    for language in LANGUAGES:
        assert calibration.final[language] == base.final_for(language, SMALLEST - 1)
    assert calibration.lexical == base.lexical
    assert calibration.dense == base.dense
    for language in LANGUAGES:
        assert np.allclose(calibration.question_means[language], base.question_means[language])
    await shelf.index.close()


def test_the_best_of_few_chunks_may_score_lower_than_the_best_of_many() -> None:
    base = shipped(builtin().name, builtin().name)
    for language in LANGUAGES:
        anchors = [base.final_for(language, chunks) for chunks in (1, 10, 100, REFERENCE)]
        medians = [anchor.m for anchor in anchors]
        assert medians == sorted(set(medians))
        assert {anchor.g for anchor in anchors} == {base.final[language].g}
        assert base.final_for(language, REFERENCE) == base.final[language]
        assert base.final_for(language, 10 * REFERENCE) == base.final[language]


@pytest.mark.parametrize("count", [3, 40])
async def test_an_embedder_without_a_shipped_profile_is_calibrated_too(
    tmp_path: Path, count: int
) -> None:
    embedder = HashEmbedder(128)
    shelf = await indexed(tmp_path, pages(count), embedder=embedder, words=embedder)
    profile = await shelf.index.profile()
    assert profile.embedder == embedder.name
    assert profile.dimension == 128
    for anchors in (profile.calibration.dense, profile.calibration.lexical):
        assert all(anchor.g > 0 for anchor in anchors.values())
    found = await shelf.find("who restarts w2b at night")
    assert found.ranked[0].passage.document == "p2.md"
    assert (await shelf.find("how many teeth does a shark have")).ranked[0].scores.relevance < 0.75
    await shelf.index.close()


async def test_anchors_are_kept_until_the_index_has_grown_by_a_fifth(tmp_path: Path) -> None:
    embedder = HashEmbedder(64)
    folder = write(tmp_path / "docs", pages(20))
    shelf = await shelved(tmp_path, folder, embedder=embedder, words=embedder)
    first = await shelf.index.profile()

    async def after(count: int) -> Profile:
        write(folder, pages(count, 20))
        assert await resync(shelf, tmp_path, folder)
        return await shelf.index.profile()

    less = await after(3)
    assert less.calibration.fitted_at == first.calibration.fitted_at
    assert less.calibration.chunks == 20
    assert less.statistics.chunks == 23
    assert less.statistics.known("w21b") or less.statistics.frequency(term_hashes(["w21"]))[0] > 0
    enough = await after(4)
    assert enough.calibration.fitted_at > first.calibration.fitted_at
    assert enough.calibration.chunks == 24
    await shelf.index.close()


@pytest.mark.parametrize(
    ("chunks", "refit"), [(100, False), (119, False), (120, True), (81, False), (80, True)]
)
async def test_growing_and_shrinking_by_a_fifth_outgrows_the_anchors(
    examples: Shelf, chunks: int, refit: bool
) -> None:
    profile = await examples.index.profile()
    calibration = replace(profile.calibration, chunks=100)
    assert outgrown(calibration, profile.embedder, profile, chunks) is refit
    assert outgrown(calibration, "another embedder", profile, chunks)
    before_coverage_counted = replace(profile.calibration, chunks=chunks, coverage=0.0)
    assert outgrown(before_coverage_counted, profile.embedder, profile, chunks)


async def test_another_embedder_refits(tmp_path: Path) -> None:
    first, second = HashEmbedder(64), HashEmbedder(96)
    shelf = await indexed(tmp_path, pages(5), embedder=first, words=first)
    before = await shelf.index.profile()
    await shelf.index.reset()
    again = Shelf(shelf.index, second, first)
    assert await resync(again, tmp_path, tmp_path / "docs")
    after = await shelf.index.profile()
    assert (before.embedder, after.embedder) == (first.name, second.name)
    assert after.calibration.passage_means["en"].shape == (96,)
    await shelf.index.close()


async def test_an_unchanged_index_is_left_alone(tmp_path: Path) -> None:
    embedder = Counted(HashEmbedder(64))
    shelf = await indexed(tmp_path, pages(5), embedder=embedder, words=embedder)
    before = (await shelf.index.profile()).to_bytes()
    embedder.texts.clear()
    assert not await refresh(shelf.index, embedder, embedder)
    assert not await resync(shelf, tmp_path, tmp_path / "docs")
    assert embedder.texts == []
    assert (await shelf.index.profile()).to_bytes() == before
    assert await refresh(shelf.index, embedder, embedder, force=True)
    await shelf.index.close()


async def test_an_empty_index_is_not_calibrated() -> None:
    embedder = RandomEmbedder()
    assert not await refresh(MemoryIndex(), embedder, embedder, force=True)


def test_probes_are_pairs_of_everyday_questions() -> None:
    assert len(probes()["en"]) == len(probes()["ru"]) == 60
    assert len(set(probes()["en"])) == 60
