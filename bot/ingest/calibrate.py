"""Fits the scale of relevance to one embedder and index, from negatives alone (DESIGN section 5).

For every question language the negatives are up to 240 prose snippets of the corpus, each asked
of the other documents, and 60 probe questions that no runbook answers; both halves weigh the
same. The best score a negative reaches says what an unrelated question looks like here: anchors
are its median `m` and `g`, an upper quantile minus m. Under 30 chunks nothing is fitted; between,
fitted and shipped anchors are mixed by the number of snippets.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime

import numpy as np

from bot.ingest.postings import Postings
from bot.ingest.shipped import Shipped, probes
from bot.ingest.snippets import Copies, Snippet, sample
from graph.lexicon import Lexicon
from graph.look import look
from graph.model import LANGUAGES, Language, Passage
from graph.ports import Embedder, Matrix
from graph.profile import Anchor, Calibration, Floats, Pair, Profile
from graph.relevance import WordTable, centre, fused
from graph.text import spaced

SMALLEST = 30  # chunks; below, the shipped profile is used as it is
ENOUGH = 120  # snippets from which fitted anchors stand alone
GROWTH = 0.2  # refit when the index has grown or shrunk by this share
_PAIR = 0.85  # quantile of the negatives that is x = 1 and y = 1
_FINAL = 0.75  # and u = 1; snippets are harder than the questions people really ask in vain
_WALK = 64  # best chunks of a snippet that are tried before it is given up
_LEAST_G = {"dense": 0.02, "lexical": 0.3, "final": 0.2}  # a narrower scale is a sampling accident


@dataclass(frozen=True, slots=True)
class Corpus:
    """The chunks of an index, side by side: row i of everything belongs to `passages[i]`."""

    passages: Sequence[Passage]
    vectors: Matrix
    postings: Postings

    def rows(self, language: Language) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
        return np.array(
            [i for i, item in enumerate(self.passages) if item.language == language], dtype=np.int64
        )


@dataclass(frozen=True, slots=True)
class Negative:
    text: str
    language: Language
    snippet: Snippet | None  # None for a probe


async def calibrate(
    profile: Profile, corpus: Corpus, embedder: Embedder, lexicon: Lexicon, shipped: Shipped
) -> Calibration:
    """Anchors and means for `corpus`. `profile` brings its statistics and vocabularies.

    Raises EmbedderError.
    """
    fitter = _Fitter(profile, corpus, embedder, lexicon, shipped)
    return await fitter.fit()


def outgrown(calibration: Calibration, embedder: str, profile: Profile, chunks: int) -> bool:
    """True when the anchors no longer describe an index of `chunks` chunks under `embedder`."""
    if profile.embedder != embedder:
        return True
    return abs(chunks - calibration.chunks) >= GROWTH * max(calibration.chunks, 1)


class _Fitter:
    def __init__(
        self,
        profile: Profile,
        corpus: Corpus,
        embedder: Embedder,
        lexicon: Lexicon,
        shipped: Shipped,
    ) -> None:
        self._profile, self._corpus, self._shipped = profile, corpus, shipped
        self._embedder, self._lexicon = embedder, lexicon
        self._copies = Copies(corpus.passages)
        self._rows = {language: corpus.rows(language) for language in LANGUAGES}

    async def fit(self) -> Calibration:
        negatives, vectors = await self._negatives()
        counts = {lang: sum(n.snippet is not None for n in negatives[lang]) for lang in LANGUAGES}
        calibration = self._means(negatives, vectors, counts)
        scores = {
            lang: await self._raw(negatives[lang], vectors[lang], calibration) for lang in LANGUAGES
        }
        calibration = self._pair_anchors(calibration, negatives, scores, counts)
        return self._final_anchors(calibration, negatives, scores, counts)

    async def _negatives(
        self,
    ) -> tuple[dict[Language, list[Negative]], dict[Language, Matrix]]:
        small = len(self._corpus.passages) < SMALLEST
        snippets = {} if small else sample(self._corpus.passages)
        found: dict[Language, list[Negative]] = {}
        vectors: dict[Language, Matrix] = {}
        for lang in LANGUAGES:
            found[lang] = [Negative(s.text, lang, s) for s in snippets.get(lang, [])]
            found[lang] += [Negative(text, lang, None) for text in probes()[lang]]
            texts = [spaced(negative.text) for negative in found[lang]]
            vectors[lang] = await self._embedder.embed_questions(texts)
        return found, vectors

    def _means(
        self,
        negatives: dict[Language, list[Negative]],
        vectors: dict[Language, Matrix],
        counts: dict[Language, int],
    ) -> Calibration:
        passage_means: dict[Language, Floats] = {}
        question_means: dict[Language, Floats] = {}
        for lang in LANGUAGES:
            asked = np.array([negative.snippet is None for negative in negatives[lang]])
            probe_mean = vectors[lang][asked].mean(axis=0)
            shipped_passages = self._shipped.passage_means[lang]
            shipped_questions = self._shipped.question_means[lang]
            own = self._corpus.vectors[self._rows[lang]]
            passage_means[lang] = _mix(
                own.mean(axis=0) if len(own) else probe_mean,
                probe_mean if shipped_passages is None else shipped_passages,
                min(1.0, len(own) / 100),
            )
            snippet_mean = vectors[lang][~asked].mean(axis=0) if counts[lang] else probe_mean
            question_means[lang] = _mix(
                (probe_mean + snippet_mean) / 2,
                probe_mean if shipped_questions is None else shipped_questions,
                min(1.0, counts[lang] / ENOUGH),
            )
        return Calibration(
            passage_means,
            question_means,
            {},
            self._shipped.lexical,
            self._shipped.final,
            len(self._corpus.passages),
            datetime.now(UTC),
            _origin(len(self._corpus.passages), counts),
        )

    async def _raw(
        self, negatives: list[Negative], vectors: Matrix, calibration: Calibration
    ) -> list[tuple[Floats, Floats]]:
        """(centred cosine, BM25/sqrt(n)) of each negative against every chunk."""
        means = calibration.passage_means
        chunks = np.zeros_like(self._corpus.vectors)
        for lang in LANGUAGES:
            rows = self._rows[lang]
            chunks[rows] = centre(self._corpus.vectors[rows], means[lang])
        found: list[tuple[Floats, Floats]] = []
        for negative, vector in zip(negatives, vectors, strict=True):
            question = centre(vector[None, :], calibration.question_means[negative.language])[0]
            view = await look(
                negative.text, negative.language, self._profile, self._lexicon, vector
            )
            bm25 = np.zeros(len(chunks), dtype=np.float32)
            for lang in LANGUAGES:
                table = WordTable(
                    view,
                    lang,
                    self._profile,
                    self._corpus.postings.counts,
                    self._corpus.postings.lengths,
                )
                bm25[self._rows[lang]] = table.bm25()[self._rows[lang]]
            found.append((chunks @ question, bm25))
            await asyncio.sleep(0)  # questions are answered meanwhile
        return found

    def _pair_anchors(
        self,
        calibration: Calibration,
        negatives: dict[Language, list[Negative]],
        scores: dict[Language, list[tuple[Floats, Floats]]],
        counts: dict[Language, int],
    ) -> Calibration:
        dense: dict[Pair, Anchor] = {}
        lexical: dict[Pair, Anchor] = {}
        for asked in LANGUAGES:
            for held in LANGUAGES:
                rows = self._rows[held]
                share = min(1.0, counts[asked] / ENOUGH, len(rows) / ENOUGH)
                by_cosine, by_words = zip(*scores[asked], strict=True)
                cosines = self._anchor(negatives[asked], by_cosine, rows, "dense")
                words = self._anchor(negatives[asked], by_words, rows, "lexical")
                shipped = self._shipped.dense
                dense[asked, held] = _mix_anchor(
                    cosines, shipped[asked, held] if shipped else cosines, share
                )
                lexical[asked, held] = _mix_anchor(words, self._shipped.lexical[asked, held], share)
        return replace(calibration, dense=dense, lexical=lexical)

    def _final_anchors(
        self,
        calibration: Calibration,
        negatives: dict[Language, list[Negative]],
        scores: dict[Language, list[tuple[Floats, Floats]]],
        counts: dict[Language, int],
    ) -> Calibration:
        final: dict[Language, Anchor] = {}
        reached: dict[Language, Floats] = {}
        everything = np.arange(len(self._corpus.passages))
        for asked in LANGUAGES:
            together = [self._fuse(asked, *pair, calibration) for pair in scores[asked]]
            own = self._anchor(negatives[asked], together, everything, "final")
            share = min(1.0, counts[asked] / ENOUGH)
            final[asked] = _mix_anchor(own, self._shipped.final[asked], share)
            best = self._best(negatives[asked], together, everything)[0]
            reached[asked] = (best - final[asked].m) / final[asked].g
        return replace(calibration, final=final, negatives=reached)

    def _fuse(
        self, asked: Language, cosines: Floats, bm25: Floats, calibration: Calibration
    ) -> Floats:
        scores = np.zeros(len(cosines), dtype=np.float32)
        for held in LANGUAGES:
            rows = self._rows[held]
            x, y = calibration.dense[asked, held], calibration.lexical[asked, held]
            scores[rows] = fused((cosines[rows] - x.m) / x.g, (bm25[rows] - y.m) / y.g)
        return scores

    def _anchor(
        self,
        negatives: list[Negative],
        scores: Sequence[Floats],
        rows: np.ndarray[tuple[int], np.dtype[np.int64]],
        kind: str,
    ) -> Anchor:
        best, weights = self._best(negatives, scores, rows)
        if not len(best):
            return Anchor(0.0, 1.0)
        middle, upper = _quantiles(best, weights, (0.5, _FINAL if kind == "final" else _PAIR))
        return Anchor(middle, max(upper - middle, _LEAST_G[kind]))

    def _best(
        self,
        negatives: list[Negative],
        scores: Sequence[Floats],
        rows: np.ndarray[tuple[int], np.dtype[np.int64]],
    ) -> tuple[Floats, Floats]:
        """The best score of each negative among `rows`, and weights that make both halves equal."""
        best: list[float] = []
        from_snippet: list[bool] = []
        for negative, values in zip(negatives, scores, strict=True):
            score = self._top(negative.snippet, values, rows)
            if score is not None:
                best.append(score)
                from_snippet.append(negative.snippet is not None)
        mask = np.array(from_snippet, dtype=bool)
        weights = np.where(mask, 1 / max(mask.sum(), 1), 1 / max((~mask).sum(), 1))
        return np.array(best, dtype=np.float32), weights.astype(np.float32)

    def _top(
        self,
        snippet: Snippet | None,
        values: Floats,
        rows: np.ndarray[tuple[int], np.dtype[np.int64]],
    ) -> float | None:
        if not len(rows):
            return None
        here = values[rows]
        if snippet is None:
            return float(here.max())
        for place in np.argsort(-here)[:_WALK]:
            if not self._copies.excluded(snippet, int(rows[place])):
                return float(here[place])
        return None


def _origin(chunks: int, counts: dict[Language, int]) -> str:
    if chunks < SMALLEST:
        return "shipped"
    return "fitted" if max(counts.values()) >= ENOUGH else "blended"


def _mix(own: Floats, other: Floats, share: float) -> Floats:
    return np.asarray(share * own + (1 - share) * other, dtype=np.float32)


def _mix_anchor(own: Anchor, other: Anchor, share: float) -> Anchor:
    return Anchor(share * own.m + (1 - share) * other.m, share * own.g + (1 - share) * other.g)


def _quantiles(values: Floats, weights: Floats, shares: Sequence[float]) -> list[float]:
    order = np.argsort(values)
    places = (np.cumsum(weights[order]) - weights[order] / 2) / weights.sum()
    return [float(np.interp(share, places, values[order])) for share in shares]
