"""Candidates in, calibrated relevance out: the one scorer behind every store.

For a question and a chunk (m, g: the anchors of their languages, see graph/profile.py):

    x = (cos(q - mu_q, v - mu_p) - m_x) / g_x      vectors minus the mean of their language
    y = (BM25 / sqrt(n) - m_y) / g_y               n: content words of the question; y >= -1
    u = ((x + y) / 2 + c^2 - m_u) / g_u            c: QuestionView.coverage; rank by this
    relevance = 1 / (1 + exp(-1.33 (u - 0.695)))

so u = 1 (one negative in four reaches it) is a relevance of 0.60 and u = 2 is 0.85, on any
embedding model. A question's word counts in a chunk through its best stand-in: itself, slang, or
a translation weighted by its cosine. Sharing no word with a passage says little against it, so y
never falls under -1: else a paraphrase in new words would lose to whatever shares a frequent one.
One rare word that is repeated wins BM25; c asks how much of the question the chunk speaks of. It is
squared because a small share, like no shared word, says little (docs/decisions/0008).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import tanh
from operator import attrgetter
from typing import Any

import numpy as np
import numpy.typing as npt

from graph.environment import named_environments
from graph.idf import idf
from graph.model import LANGUAGES, Language, Passage, Ranked, Scores
from graph.policy import Policy
from graph.ports import Candidate, Matrix
from graph.profile import COVERAGE, Floats, Profile
from graph.terms import Hashes, counts_of, term_hashes
from graph.view import QuestionView

K1, B = 1.5, 0.6  # BM25: term saturation, length normalisation
LEAST_Y = -1.0
STEEPNESS, MIDDLE = 1.33, 0.695  # u = 1 -> 0.60, u = 2 -> 0.85
ENVIRONMENT_PENALTY = 1.0  # in u, for a document about another environment than the asked one


def relevance(u: float) -> float:
    """Calibrated relevance, 0 to 1, of a fused score."""
    return (1 + tanh(STEEPNESS * (u - MIDDLE) / 2)) / 2  # the logistic curve; no overflow


def search_terms(view: QuestionView) -> tuple[str, ...]:
    """What keyword search looks for, most telling first: identifiers, own words, stand-ins."""
    own = sorted(view.words, key=lambda word: -word.idf)
    others = [
        (-worth * word.idf, item)
        for word in own
        for pairs in word.reach.values()
        for item, worth in pairs
    ]
    ordered = [*view.wholes, *(word.stem for word in own), *(item for _, item in sorted(others))]
    return tuple(dict.fromkeys(ordered))


def rank(
    view: QuestionView, candidates: Sequence[Candidate], profile: Profile, policy: Policy
) -> tuple[Ranked, ...]:
    """All candidates with their scores, best first. Ties keep the order of passage ids."""
    # Sorted first: the last bit of a matrix product depends on where a row stands.
    ordered = sorted(candidates, key=attrgetter("passage.id"))
    found: list[Ranked] = []
    for language in LANGUAGES:
        group = [item for item in ordered if item.passage.language == language]
        if group:
            found.extend(_score(view, group, language, profile))
    found.sort(key=attrgetter("passage.id"))
    if policy.fusion == "rrf":
        return tuple(_by_rrf(found, policy.rrf_k))
    found.sort(key=attrgetter("scores.u"), reverse=True)  # stable: ties stay as they are
    return tuple(found)


def _by_rrf(found: list[Ranked], k: int) -> list[Ranked]:
    """Reciprocal rank fusion; a chunk that one list lacks gets nothing from it."""
    points = dict.fromkeys(range(len(found)), 0.0)
    dense = [i for i in points if found[i].scores.cosine is not None]
    lexical = [i for i in points if found[i].scores.bm25 > 0]
    dense.sort(key=lambda i: -(found[i].scores.cosine or 0.0))
    lexical.sort(key=lambda i: -found[i].scores.bm25)
    for places in (dense, lexical):
        for place, i in enumerate(places, 1):
            points[i] += 1.0 / (k + place)
    return [found[i] for i in sorted(points, key=lambda i: -points[i])]


def _score(
    view: QuestionView, group: list[Candidate], language: Language, profile: Profile
) -> list[Ranked]:
    calibration = profile.calibration
    terms = [item.terms for item in group]
    lengths = np.array([item.length for item in terms], dtype=np.float32)
    words = WordTable(view, language, profile, lambda wanted: counts_of(wanted, terms), lengths)
    bm25 = words.bm25()
    pair = (view.language, language)
    y = (bm25 - calibration.lexical[pair].m) / calibration.lexical[pair].g
    cosines, x = _dense(view, group, language, profile)
    if x is None:  # no embedder: words alone decide, and never beyond "one in seven unrelated"
        x = np.minimum(y, 1.0)
    if not view.words and not view.wholes:
        y = x
    coverage = words.coverage()
    final = calibration.final[view.language]
    u = (fused(x, y, coverage, calibration.coverage) - final.m) / final.g - _penalties(view, group)
    raw = [None] * len(group) if cosines is None else cosines.tolist()
    columns = zip(group, raw, bm25.tolist(), u.tolist(), coverage.tolist(), strict=True)
    return [
        Ranked(item.passage, Scores(cosine, score, fused_, relevance(fused_), covered))
        for item, cosine, score, fused_, covered in columns
    ]


def fused(x: Floats, y: Floats, coverage: Floats, weight: float = COVERAGE) -> Floats:
    """The mean of both signals plus the squared coverage, before the final anchor scales it."""
    return np.asarray((x + np.maximum(y, LEAST_Y)) / 2 + weight * coverage**2, dtype=np.float32)


def _dense(
    view: QuestionView, group: list[Candidate], language: Language, profile: Profile
) -> tuple[Floats | None, Floats | None]:
    """Raw cosines, and x: cosines of centred vectors in units of their anchors."""
    if view.vector is None:
        return None, None
    calibration = profile.calibration
    vectors = np.concatenate([item.vector for item in group]).reshape(len(group), -1)
    question = centre(view.vector[None, :], calibration.question_means[view.language])[0]
    cosines = _centred_cosines(vectors, calibration.passage_means[language], question)
    anchor = calibration.dense[view.language, language]
    return vectors @ view.vector, (cosines - anchor.m) / anchor.g


def _centred_cosines(vectors: Matrix, mean: Floats, question: Floats) -> Floats:
    """cos(v - mean, question) of each row v for a unit `question`, without a moved copy of them:
    |v - mean|^2 = |v|^2 - 2 v mean + |mean|^2."""
    squares = np.einsum("ij,ij->i", vectors, vectors) - 2 * (vectors @ mean) + mean @ mean
    return np.asarray((vectors @ question - mean @ question) / np.sqrt(np.maximum(squares, 1e-18)))


def centre(vectors: Matrix, mean: Floats) -> Matrix:
    """Unit rows of `vectors` minus `mean`."""
    moved = vectors - mean
    norms = np.maximum(np.linalg.norm(moved, axis=1, keepdims=True), 1e-9)
    return np.asarray(moved / norms, dtype=np.float32)


def _penalties(view: QuestionView, group: list[Candidate]) -> Floats:
    penalties = np.zeros(len(group), dtype=np.float32)
    if view.environments:
        for row, item in enumerate(group):
            named = _environments_of(item.passage)
            if named and not named & view.environments:
                penalties[row] = ENVIRONMENT_PENALTY
    return penalties


def _environments_of(passage: Passage) -> frozenset[str]:
    name = " ".join((passage.document.rsplit(".", 1)[0], passage.title, *passage.heading))
    return named_environments(name)


class WordTable:
    """Counts of a question's words, and of their stand-ins, in chunks of one language.

    `counts` gives the field-weighted counts of term hashes: shape (chunks, terms). `lengths`:
    BM25 lengths of the chunks.
    """

    def __init__(
        self,
        view: QuestionView,
        language: Language,
        profile: Profile,
        counts: Callable[[Hashes], Floats],
        lengths: Floats,
    ) -> None:
        self._view, self._language = view, language
        self._worths = [word.worths(language) for word in view.words]
        terms = dict.fromkeys(view.wholes)
        for worths in self._worths:
            terms.update(dict.fromkeys(worths))
        self._places = {term: place for place, term in enumerate(terms)}
        table = counts(term_hashes(terms))
        saturation = K1 * (1 - B + B * lengths / max(profile.statistics.mean_length, 1.0))
        self._present = table > 0
        weights = idf(list(terms), profile.statistics)
        self._weighted = np.asarray(table / (table + saturation[:, None]) * weights, np.float32)

    def bm25(self) -> Floats:
        """Field-weighted BM25 per square root of content words. Shape: (chunks,)."""
        wholes = [self._places[token] for token in self._view.wholes]
        total = self._weighted[:, wholes].sum(axis=1)
        reach = [word.reach[self._language] for word in self._view.words]
        if reach:
            total = total + self._best(self._weighted, reach).sum(axis=1)
        return np.asarray(total / np.sqrt(max(len(reach), 1)), dtype=np.float32)

    def coverage(self, rows: npt.NDArray[np.int64] | None = None) -> Floats:
        """QuestionView.coverage of every chunk, or of those in `rows`. Shape: (chunks,)."""
        present = self._present if rows is None else self._present[rows]
        idfs = np.array([word.idf for word in self._view.words], dtype=np.float32)
        if not idfs.any():
            return np.zeros(len(present), dtype=np.float32)
        covered = self._best(present, [tuple(worths.items()) for worths in self._worths])
        return np.asarray((covered * idfs).sum(axis=1) / idfs.sum(), dtype=np.float32)

    def _best(
        self, table: npt.NDArray[Any], words: Sequence[Sequence[tuple[str, float]]]
    ) -> Floats:
        """For each word its best stand-in in each chunk, by worth. Shape: (chunks, words)."""
        places = [self._places[item] for pairs in words for item, _ in pairs]
        worths = np.array([worth for pairs in words for _, worth in pairs], dtype=np.float32)
        starts = np.cumsum([0, *(len(pairs) for pairs in words[:-1])])
        best = np.maximum.reduceat(table[:, places] * worths, starts, axis=1)
        return np.asarray(best, dtype=np.float32)
