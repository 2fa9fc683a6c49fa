"""The corpus words of each language with their vectors: the bridge between languages."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from bot.ingest.shipped import Shipped
from graph.look import script
from graph.model import LANGUAGES, Language
from graph.ports import Embedder, Matrix
from graph.profile import Vocabulary
from graph.text import WORD, fold, parts, stem, stop_words

_PLAIN = re.compile(r"[^\W\d_]{3,}")
SMALL_INDEX = 200  # chunks; below, a word counts from its first chunk on
_ENOUGH_WORDS = 400  # a language with fewer words borrows part of the shipped mean
_BATCH = 512


class WordCounter:
    """Collects, over chunk texts, how many chunks hold each stem and how it is mostly spelt."""

    def __init__(self) -> None:
        self._spellings: dict[Language, dict[str, Counter[str]]] = {
            language: defaultdict(Counter) for language in LANGUAGES
        }
        self._chunks = 0
        self._pieces: dict[str, tuple[tuple[Language, str, str], ...]] = {}  # of words met before

    def add(self, text: str) -> None:
        self._chunks += 1
        found: set[tuple[Language, str, str]] = set()
        for word in set(WORD.findall(text)):
            if word not in self._pieces:
                self._pieces[word] = tuple(_pieces(word))
            found.update(self._pieces[word])
        for language, item, spelling in found:
            self._spellings[language][item][spelling] += 1

    def words(self, language: Language) -> dict[str, str]:
        """stem -> its commonest spelling, for stems that enough chunks hold."""
        least = 1 if self._chunks < SMALL_INDEX else 2
        return {
            item: min(spellings, key=lambda word: (-spellings[word], word))
            for item, spellings in sorted(self._spellings[language].items())
            if sum(spellings.values()) >= least
        }


def _pieces(word: str) -> Iterator[tuple[Language, str, str]]:
    """(language, stem, spelling) of each piece of `word` that is worth a vector."""
    for piece in {fold(piece) for piece in parts(word)} - stop_words():
        if _PLAIN.fullmatch(piece):
            yield script(piece), stem(piece), piece


async def vocabularies(
    counter: WordCounter, words: Embedder, shipped: Shipped
) -> dict[Language, Vocabulary]:
    """Vectors for all counted words, minus the mean of their language. Raises EmbedderError."""
    built: dict[Language, Vocabulary] = {}
    for language in LANGUAGES:
        spelt = counter.words(language)
        raw = await _embed(list(spelt.values()), words)
        mean = _mean(raw, shipped.word_means[language])
        built[language] = Vocabulary(tuple(spelt), _unit(raw - mean), mean)
    return built


async def extended(
    previous: Mapping[Language, Vocabulary], counter: WordCounter, words: Embedder
) -> dict[Language, Vocabulary]:
    """`previous` plus the counted words it lacks, under its own means. Raises EmbedderError."""
    built: dict[Language, Vocabulary] = {}
    for language in LANGUAGES:
        old = previous[language]
        known = frozenset(old.stems)
        spelt = {item: word for item, word in counter.words(language).items() if item not in known}
        fresh = _unit(await _embed(list(spelt.values()), words) - old.mean)
        built[language] = Vocabulary(
            (*old.stems, *spelt), np.concatenate([old.vectors, fresh]), old.mean
        )
    return built


async def _embed(spellings: Sequence[str], words: Embedder) -> Matrix:
    rows = [np.zeros((0, words.dimension), np.float32)]
    for start in range(0, len(spellings), _BATCH):
        rows.append(await words.embed_questions(spellings[start : start + _BATCH]))
    return np.concatenate(rows)


def _mean(vectors: Matrix, shipped: Matrix | None) -> Matrix:
    own = vectors.mean(axis=0) if len(vectors) else np.zeros(vectors.shape[1], np.float32)
    if shipped is None or shipped.shape != own.shape:
        return np.asarray(own, dtype=np.float32)
    share = min(1.0, len(vectors) / _ENOUGH_WORDS)
    return np.asarray(share * own + (1 - share) * shipped, dtype=np.float32)


def _unit(vectors: Matrix) -> Matrix:
    norms = np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-9)
    return np.asarray(vectors / norms, dtype=np.float32)
