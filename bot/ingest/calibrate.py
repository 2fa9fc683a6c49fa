"""Fits the scale of relevance to one embedder and index, from negatives alone (DESIGN section 5).

For every question language the negatives are up to 240 prose snippets of the corpus, each asked
of the other documents, and 60 probe questions that no runbook answers; both halves weigh the
same. The best score a negative reaches says what an unrelated question looks like here: anchors
are its median `m` and `g`, an upper quantile minus m. Under 30 chunks nothing is fitted; between,
fitted and shipped anchors are mixed by the number of snippets.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime

import numpy as np
import numpy.typing as npt

from bot.ingest.postings import Postings
from bot.ingest.shipped import Shipped, probes
from bot.ingest.snippets import Copies, Snippet, sample
from graph.lexicon import Lexicon
from graph.look import look
from graph.model import LANGUAGES, Language, Passage
from graph.ports import Embedder, Matrix, Vector
from graph.profile import Anchor, Calibration, Floats, Pair, Profile
from graph.relevance import WordTable, centre, fused
from graph.text import spaced

Rows = npt.NDArray[np.int64]

SMALLEST = 30  # chunks; below, the shipped profile is used as it is
ENOUGH = 120  # snippets from which fitted anchors stand alone
GROWTH = 0.2  # refit when the index has grown or shrunk by this share
_PAIR = 0.85  # quantile of the negatives that is x = 1 and y = 1
_FINAL = 0.75  # and u = 1; snippets are harder than the questions people really ask in vain
_KEPT = 64  # chunks of each language that a negative is remembered with, by either score
_ENOUGH_FOR_MEAN = 100  # chunks from which a language's mean vector is its own
_DRAWN = 0.5  # how far a dense anchor moves to the mean of its question language's anchors
_LEAST_G = {"dense": 0.02, "lexical": 0.3, "final": 0.2}  # a narrower scale is a sampling accident


@dataclass(frozen=True, slots=True)
class Corpus:
    """The chunks of an index, side by side: row i of everything belongs to `passages[i]`."""

    passages: Sequence[Passage]
    vectors: Matrix
    postings: Postings

    def rows(self, language: Language) -> Rows:
        return np.array(
            [i for i, item in enumerate(self.passages) if item.language == language], dtype=np.int64
        )


@dataclass(frozen=True, slots=True)
class Negative:
    text: str
    snippet: Snippet | None  # None for a probe


@dataclass(frozen=True, slots=True)
class Reached:
    """The chunks that a negative reaches best: `rows` of the corpus, with their raw scores."""

    rows: Rows
    cosines: Floats  # of centred vectors
    bm25: Floats  # per square root of content words
    coverage: Floats


@dataclass(frozen=True, slots=True)
class Asked:
    """The negatives of one question language; row i of everything belongs to `negatives[i]`."""

    negatives: Sequence[Negative]
    vectors: Matrix
    reached: Sequence[Reached] = ()

    @property
    def probes(self) -> npt.NDArray[np.bool_]:
        return np.array([negative.snippet is None for negative in self.negatives])

    @property
    def snippets(self) -> int:
        return len(self.negatives) - int(self.probes.sum())


async def calibrate(
    profile: Profile, corpus: Corpus, embedder: Embedder, lexicon: Lexicon, shipped: Shipped
) -> Calibration:
    """Anchors and means for `corpus`. `profile` brings its statistics and vocabularies.

    Raises EmbedderError.
    """
    fitter = _Fitter(profile, corpus, embedder, lexicon, shipped)
    return await fitter.fit()


def outgrown(calibration: Calibration, embedder: str, profile: Profile, chunks: int) -> bool:
    """True when the anchors no longer describe an index of `chunks` chunks under `embedder`, or
    were fitted to another formula."""
    if profile.embedder != embedder or calibration.outdated:
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
        self._chunks: dict[Language, Matrix] = {}  # centred, once they are needed

    async def fit(self) -> Calibration:
        small = len(self._corpus.passages) < SMALLEST
        snippets = {} if small else sample(self._corpus.passages)
        asked = {lang: await self._asked(lang, snippets.get(lang, ())) for lang in LANGUAGES}
        calibration = self._means(asked)
        for language, one in asked.items():
            reached = [
                await self._reach(language, negative.text, vector, calibration)
                for negative, vector in zip(one.negatives, one.vectors, strict=True)
            ]
            asked[language] = replace(one, reached=reached)
        return self._final_anchors(asked, self._pair_anchors(asked, calibration))

    async def _asked(self, language: Language, snippets: Sequence[Snippet]) -> Asked:
        negatives = [Negative(snippet.text, snippet) for snippet in snippets]
        negatives += [Negative(text, None) for text in probes()[language]]
        texts = [spaced(negative.text) for negative in negatives]
        return Asked(negatives, await self._embedder.embed_questions(texts))

    def _means(self, asked: Mapping[Language, Asked]) -> Calibration:
        passages: dict[Language, Floats] = {}
        questions: dict[Language, Floats] = {}
        for language, one in asked.items():
            probe_mean = one.vectors[one.probes].mean(axis=0)
            own = self._corpus.vectors[self._rows[language]]
            base = self._shipped.passage_means[language]
            passages[language] = _mix(
                own.mean(axis=0) if len(own) else probe_mean,
                probe_mean if base is None else base,
                min(1.0, len(own) / _ENOUGH_FOR_MEAN),
            )
            snippet_mean = one.vectors[~one.probes].mean(axis=0) if one.snippets else probe_mean
            base = self._shipped.question_means[language]
            questions[language] = _mix(
                (probe_mean + snippet_mean) / 2,
                probe_mean if base is None else base,
                min(1.0, one.snippets / ENOUGH),
            )
        chunks = len(self._corpus.passages)
        return Calibration(
            passages,
            questions,
            {},
            self._shipped.lexical,
            self._shipped.final,
            chunks,
            datetime.now(UTC),
            _origin(chunks, max(one.snippets for one in asked.values())),
        )

    async def _reach(
        self, language: Language, text: str, vector: Vector, calibration: Calibration
    ) -> Reached:
        """Scores every chunk and keeps the best of each chunk language by either score."""
        question = centre(vector[None, :], calibration.question_means[language])[0]
        view = await look(text, language, self._profile, self._lexicon, vector)
        postings = self._corpus.postings
        found: list[Reached] = []
        for held in LANGUAGES:
            rows = self._rows[held]
            table = WordTable(view, held, self._profile, postings.counts, postings.lengths)
            cosines, bm25 = self._centred(held, calibration) @ question, table.bm25()[rows]
            best = _best_of(cosines, bm25)
            rows = rows[best]
            found.append(Reached(rows, cosines[best], bm25[best], table.coverage(rows)))
        await asyncio.sleep(0)  # questions are answered meanwhile
        return Reached(
            np.concatenate([one.rows for one in found]),
            np.concatenate([one.cosines for one in found]),
            np.concatenate([one.bm25 for one in found]),
            np.concatenate([one.coverage for one in found]),
        )

    def _centred(self, language: Language, calibration: Calibration) -> Matrix:
        if language not in self._chunks:
            own = self._corpus.vectors[self._rows[language]]
            self._chunks[language] = centre(own, calibration.passage_means[language])
        return self._chunks[language]

    def _pair_anchors(
        self, asked: Mapping[Language, Asked], calibration: Calibration
    ) -> Calibration:
        dense: dict[Pair, Anchor] = {}
        lexical: dict[Pair, Anchor] = {}
        shipped = self._shipped
        for language, one in asked.items():
            near = self._dense_anchors(one)
            for held, x in near.items():
                share = min(1.0, one.snippets / ENOUGH, len(self._rows[held]) / ENOUGH)
                y = self._anchor(one, [item.bm25 for item in one.reached], "lexical", held)
                base = shipped.dense[language, held] if shipped.dense else x
                dense[language, held] = _mix_anchor(x, base, share)
                lexical[language, held] = _mix_anchor(y, shipped.lexical[language, held], share)
        return replace(calibration, dense=dense, lexical=lexical)

    def _dense_anchors(self, one: Asked) -> dict[Language, Anchor]:
        """By chunk language, each halfway to their mean: where the chunks of one language are about
        little, negatives reach less, and on that scale alone they would intrude everywhere."""
        cosines = [item.cosines for item in one.reached]
        own = {held: self._anchor(one, cosines, "dense", held) for held in LANGUAGES}
        sizes = [min(1.0, len(self._rows[held]) / ENOUGH) for held in own]
        m, g = np.average([(a.m, a.g) for a in own.values()], axis=0, weights=sizes).tolist()
        return {held: _mix_anchor(Anchor(m, g), anchor, _DRAWN) for held, anchor in own.items()}

    def _final_anchors(
        self, asked: Mapping[Language, Asked], calibration: Calibration
    ) -> Calibration:
        final: dict[Language, Anchor] = {}
        negatives: dict[Language, Floats] = {}
        for language, one in asked.items():
            scores = [self._fuse(language, item, calibration) for item in one.reached]
            own = self._anchor(one, scores, "final")
            share = min(1.0, one.snippets / ENOUGH)
            base = self._shipped.final_for(language, len(self._corpus.passages))
            final[language] = _mix_anchor(own, base, share)
            best = self._best(one, scores)[0]
            negatives[language] = (best - final[language].m) / final[language].g
        return replace(calibration, final=final, negatives=negatives)

    def _fuse(self, asked: Language, reached: Reached, calibration: Calibration) -> Floats:
        scores = np.zeros(len(reached.rows), dtype=np.float32)
        for held in LANGUAGES:
            own = self._in(held, reached.rows)
            x, y = calibration.dense[asked, held], calibration.lexical[asked, held]
            scores[own] = fused(
                (reached.cosines[own] - x.m) / x.g,
                (reached.bm25[own] - y.m) / y.g,
                reached.coverage[own],
            )
        return scores

    def _in(self, language: Language, rows: Rows) -> npt.NDArray[np.bool_]:
        return np.isin(rows, self._rows[language], assume_unique=True)

    def _anchor(
        self, asked: Asked, scores: Sequence[Floats], kind: str, held: Language | None = None
    ) -> Anchor:
        best, weights = self._best(asked, scores, held)
        if not len(best):
            return Anchor(0.0, 1.0)
        middle, upper = _quantiles(best, weights, (0.5, _FINAL if kind == "final" else _PAIR))
        return Anchor(middle, max(upper - middle, _LEAST_G[kind]))

    def _best(
        self, asked: Asked, scores: Sequence[Floats], held: Language | None = None
    ) -> tuple[Floats, Floats]:
        """The best score of each negative, and weights that make snippets and probes equal.

        Probes stand last, as they do among the negatives.
        """
        best: list[float] = []
        from_snippet: list[bool] = []
        for negative, reached, values in zip(asked.negatives, asked.reached, scores, strict=True):
            own = slice(None) if held is None else self._in(held, reached.rows)
            score = self._top(negative.snippet, values[own], reached.rows[own])
            if score is not None:
                best.append(score)
                from_snippet.append(negative.snippet is not None)
        mask = np.array(from_snippet, dtype=bool)
        weights = np.where(mask, 1 / max(mask.sum(), 1), 1 / max((~mask).sum(), 1))
        return np.array(best, dtype=np.float32), weights.astype(np.float32)

    def _top(self, snippet: Snippet | None, values: Floats, rows: Rows) -> float | None:
        """The best score outside the snippet's own document and its copies."""
        for place in np.argsort(-values):
            if snippet is None or not self._copies.excluded(snippet, int(rows[place])):
                return float(values[place])
        return None


def _best_of(cosines: Floats, bm25: Floats) -> Rows:
    """Places of the best by either score, so that memory does not grow with the index."""
    if len(cosines) <= 2 * _KEPT:
        return np.arange(len(cosines), dtype=np.int64)
    by_cosine = np.argpartition(-cosines, _KEPT)[:_KEPT]
    by_words = np.argpartition(-bm25, _KEPT)[:_KEPT]
    return np.union1d(by_cosine, by_words)


def _origin(chunks: int, snippets: int) -> str:
    if chunks < SMALLEST:
        return "shipped"
    return "fitted" if snippets >= ENOUGH else "blended"


def _mix(own: Floats, other: Floats, share: float) -> Floats:
    return np.asarray(share * own + (1 - share) * other, dtype=np.float32)


def _mix_anchor(own: Anchor, other: Anchor, share: float) -> Anchor:
    return Anchor(share * own.m + (1 - share) * other.m, share * own.g + (1 - share) * other.g)


def _quantiles(values: Floats, weights: Floats, shares: Sequence[float]) -> list[float]:
    order = np.argsort(values)
    places = (np.cumsum(weights[order]) - weights[order] / 2) / weights.sum()
    return [float(np.interp(share, places, values[order])) for share in shares]
