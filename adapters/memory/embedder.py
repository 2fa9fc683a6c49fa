"""An embedder without a model: hashed words and pieces of words."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence

import numpy as np

from adapters.embedding_text import embedding_text
from graph.ports import Embedder, Matrix, Vector
from graph.terms import term_hash
from graph.text import WORD, fold, tokens

_GRAM = 4  # characters
_GRAM_WEIGHT = 0.3  # of a piece beside 1 for a stem


class HashEmbedder(Embedder):
    """Texts that share words are near each other; nothing is known of meaning.

    Each stem and each run of four characters adds to one place, with a sign, both from a fixed
    hash (feature hashing, Weinberger et al. 2009): the same text has the same vector in every
    process. A text without words has a vector made of its characters.
    """

    def __init__(self, dimension: int = 256) -> None:
        self._dimension = dimension

    @property
    def name(self) -> str:
        return f"hash-{self._dimension}"

    @property
    def dimension(self) -> int:
        return self._dimension

    async def embed_questions(self, texts: Sequence[str]) -> Matrix:
        return self._embed(texts)

    async def embed_passages(self, texts: Sequence[str]) -> Matrix:
        return self._embed(texts)

    def _embed(self, texts: Sequence[str]) -> Matrix:
        rows = np.zeros((len(texts), self._dimension), np.float32)
        for row, text in zip(rows, texts, strict=True):
            row[:] = self._vector(embedding_text(text))
        return rows

    def _vector(self, text: str) -> Vector:
        row = np.zeros(self._dimension, np.float32)
        for piece, weight in _pieces(text):
            self._add(row, piece, weight)
        length = np.linalg.norm(row)
        if not length:
            self._add(row, f"text {text.strip()}", 1.0)
            length = np.linalg.norm(row)
        return np.asarray(row / length, dtype=np.float32)

    def _add(self, row: Vector, piece: str, weight: float) -> None:
        place = term_hash(piece)
        row[place % self._dimension] += weight if place >> 63 else -weight


def _pieces(text: str) -> Iterator[tuple[str, float]]:
    """Stems and character runs with their weights, which grow with the logarithm of the count."""
    for stem, count in Counter(tokens(text)).items():
        yield stem, 1 + math.log(count)
    for gram, count in Counter(_grams(text)).items():
        yield f"gram {gram}", _GRAM_WEIGHT * (1 + math.log(count))


def _grams(text: str) -> Iterator[str]:
    for word in WORD.findall(text):
        padded = f"<{fold(word)}>"
        for at in range(max(1, len(padded) - _GRAM + 1)):
            yield padded[at : at + _GRAM]


def create() -> HashEmbedder:
    """A hashing embedder of 256 dimensions."""
    return HashEmbedder()
