"""Texts that mean the same, found by the vectors of sentences and of their words.

Sentence vectors alone take "restart redis" and "restart kafka" for the same question. So two texts
lose similarity when each has a word that means nothing in the other, and most of it when such a
word is all that tells them apart.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from graph.environment import asked_environments
from graph.ports import Embedder, Matrix
from graph.text import content_words, spaced

_Bools = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Likeness:
    """Cosines of the builtin embedder. Chosen on 63 questions about operations in 28 meanings, en
    and ru: all pairs that were put together belong together, and 86 % of those that belong together
    were."""

    texts: float = 0.5  # mean similarity from which groups are joined
    words: float = 0.5  # from here on two words mean the same
    apart: float = 0.1  # lost when each text has a word of its own
    replaced: float = 0.4  # lost when one word stands for another in the same sentence
    shared: float = 0.5  # of the words of both, in the same sentence


async def alike(
    texts: Sequence[str], embedder: Embedder, likeness: Likeness | None = None
) -> list[list[int]]:
    """The groups of `texts` by their positions, by average linkage. Raises EmbedderError."""
    likeness = likeness or Likeness()
    if not texts:
        return []
    vectors = await embedder.embed_questions([spaced(text) for text in texts])
    lost = await _lost(texts, embedder, likeness)
    return _joined(vectors @ vectors.T - lost, likeness.texts)


async def _lost(texts: Sequence[str], embedder: Embedder, likeness: Likeness) -> Matrix:
    """What each pair of texts loses: shape (texts, texts)."""
    words = [dict(content_words(text)) for text in texts]
    stems = {word: _stem(word, stem) for each in words for word, stem in each.items()}
    if not stems:
        return np.zeros((len(texts), len(texts)), np.float32)
    known = {word: place for place, word in enumerate(stems)}
    same = await _same_words(stems, embedder, likeness.words)
    has = np.zeros((len(texts), len(known)), np.float32)
    for place, each in enumerate(words):
        has[place, [known[word] for word in each]] = 1
    covered = (has @ same.astype(np.float32)) > 0
    own = has @ (~covered).astype(np.float32).T  # words of the row's text foreign to the column's
    share = 1 - own / np.maximum(has.sum(axis=1), 1)[:, None]
    apart = (own > 0) & (own.T > 0)
    replaced = (own == 1) & (own.T == 1) & (np.minimum(share, share.T) >= likeness.shared)
    lost = np.where(replaced, likeness.replaced, np.where(apart, likeness.apart, 0))
    return lost.astype(np.float32)


async def _same_words(stems: dict[str, str], embedder: Embedder, least: float) -> _Bools:
    """Which words mean the same. A code (it has a digit) is like none but itself, and an
    environment like none but its own names, in whatever language."""
    vectors = await embedder.embed_questions(list(stems))
    same: _Bools = (vectors @ vectors.T) >= least
    codes = np.array([any(ch.isdigit() for ch in item) for item in stems.values()])
    same[codes, :] = False
    same[:, codes] = False
    names = np.array(list(stems.values()))
    both: _Bools = same | (names[:, None] == names[None, :])
    return both


def _stem(word: str, stem: str) -> str:
    """The stem of a word; of the name of an environment, one code for all of its names."""
    environments = sorted(asked_environments(word))
    return f"0 {environments[0]}" if environments else stem


def _joined(similarity: Matrix, least: float) -> list[list[int]]:
    """Joins the two most similar groups again and again, while they are similar enough."""
    near = similarity.astype(np.float64)
    np.fill_diagonal(near, -np.inf)
    groups = [[place] for place in range(len(near))]
    for _ in range(len(near) - 1):
        kept, gone = divmod(int(near.argmax()), len(near))
        if near[kept, gone] < least:
            break
        sizes = len(groups[kept]), len(groups[gone])
        mean = (sizes[0] * near[kept] + sizes[1] * near[gone]) / sum(sizes)
        near[kept], near[:, kept] = mean, mean
        near[kept, kept] = -np.inf
        near[gone], near[:, gone] = -np.inf, -np.inf
        groups[kept] += groups[gone]
        groups[gone] = []
    return [sorted(group) for group in groups if group]
