"""The corpus words of each language with their vectors."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from bot.ingest.glossary import SMALL_INDEX, WordCounter, extended, vocabularies
from bot.ingest.shipped import shipped
from graph.model import LANGUAGES
from graph.text import stem
from tests.graph.retrieval_kit import (
    Counted,
    RandomEmbedder,
    builtin,
    indexed,
    resync,
    write,
)

BASE = shipped("random", "random")


def counted(*texts: str) -> WordCounter:
    counter = WordCounter()
    for text in texts:
        counter.add(text)
    return counter


def test_words_are_counted_by_stem_and_kept_in_their_commonest_spelling() -> None:
    counter = counted("Backups of the backup", "one backup", "two backups", "Backup!")
    assert counter.words("en")["backup"] == "backup"
    assert "the" not in counter.words("en")


def test_scripts_are_kept_apart() -> None:
    counter = counted("Сертификат nginx истёк")
    assert set(counter.words("ru")) == {stem("сертификат"), stem("истек")}
    assert set(counter.words("en")) == {"nginx"}


def test_identifiers_are_taken_apart_and_numbers_left_out() -> None:
    assert set(counted("KubePodCrashLooping on db-02, sha256, a1").words("en")) == {
        "kube", "pod", "crash", "loop",
    }  # fmt: skip


def test_in_a_large_index_one_chunk_is_not_enough_for_a_word() -> None:
    once = counted("gatekeeper", "steward", "steward", *["filler"] * (SMALL_INDEX - 4))
    assert "gatekeep" in once.words("en")
    many = counted("gatekeeper", "steward", "steward", *["filler"] * SMALL_INDEX)
    assert "gatekeep" not in many.words("en")
    assert "steward" in many.words("en")


def test_a_word_counts_once_for_a_chunk() -> None:
    counter = counted("gatekeeper gatekeeper gatekeeper", *["filler"] * SMALL_INDEX)
    assert "gatekeep" not in counter.words("en")


async def test_vectors_are_of_unit_length_and_centred() -> None:
    counter = counted("backup database gateway certificate storage", "узел сертификат шлюз")
    made = await vocabularies(counter, RandomEmbedder(), BASE)
    for language in LANGUAGES:
        vocabulary = made[language]
        assert len(vocabulary.stems) == len(vocabulary.vectors)
        assert np.allclose(np.linalg.norm(vocabulary.vectors, axis=1), 1, atol=1e-5)
        assert np.linalg.norm(vocabulary.vectors.mean(axis=0)) < 0.5


async def test_an_index_in_one_language_has_an_empty_glossary_of_the_other() -> None:
    made = await vocabularies(counted("backup"), RandomEmbedder(dimension=8), BASE)
    assert made["ru"].stems == ()
    assert made["ru"].vectors.shape == (0, 8)


async def test_extending_embeds_only_new_words() -> None:
    embedder = Counted(RandomEmbedder())
    first = await vocabularies(counted("backup database", "шлюз"), embedder, BASE)
    embedder.texts.clear()
    more = await extended(first, counted("backup gateway", "шлюз сертификат"), embedder)
    assert sorted(embedder.texts) == ["gateway", "сертификат"]
    for language in LANGUAGES:
        old, new = first[language], more[language]
        assert new.stems[: len(old.stems)] == old.stems
        assert np.array_equal(new.vectors[: len(old.stems)], old.vectors)
        assert np.array_equal(new.mean, old.mean)
    assert await extended(more, counted("backup"), embedder) is not None
    assert sorted(embedder.texts) == ["gateway", "сертификат"]


async def test_a_sync_embeds_the_words_it_brings_and_no_others(tmp_path: Path) -> None:
    embedder, words = RandomEmbedder(), Counted(RandomEmbedder())
    files = {f"p{n}.md": f"# Page\n\nThe gateway{'abcdefghij'[n]} is up.\n" for n in range(10)}
    shelf = await indexed(tmp_path, files, embedder=embedder, words=words)
    words.texts.clear()
    folder = write(tmp_path / "docs", {"new.md": "# Page\n\nThe locksmith is up.\n"})
    assert await resync(shelf, tmp_path, folder)
    assert words.texts == ["locksmith"]
    profile = await shelf.index.profile()
    assert "locksmith" in profile.vocabularies["en"].stems
    await shelf.index.close()


@pytest.mark.parametrize(
    ("word", "translation"),
    [("сертификат", "certificate"), ("хранилище", "storage"), ("backup", "резервная")],
)
async def test_a_translation_is_nearer_than_other_words(word: str, translation: str) -> None:
    """Centred per language, the builtin embedder's word vectors cross languages."""
    counter = counted(
        "certificate storage backup pancake violin sunset",
        "сертификат хранилище резервная копия блины скрипка закат",
    )
    made = await vocabularies(counter, builtin(), shipped(builtin().name, builtin().name))
    table = {
        item: vector
        for vocabulary in made.values()
        for item, vector in zip(vocabulary.stems, vocabulary.vectors, strict=True)
    }
    others = [table[stem(item)] for item in ("pancake", "violin", "блины", "скрипка")]
    near = float(table[stem(word)] @ table[stem(translation)])
    assert near > max(float(table[stem(word)] @ other) for other in others)
