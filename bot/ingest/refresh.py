"""Keeps an index's profile in step with its chunks: statistics always, anchors when outgrown."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

import numpy as np

from bot.ingest.calibrate import Corpus, calibrate, outgrown
from bot.ingest.glossary import WordCounter, extended, vocabularies
from bot.ingest.postings import Postings
from bot.ingest.shipped import Shipped, shipped
from bot.ports import KnowledgeIndex
from graph.errors import StoreError
from graph.lexicon import Lexicon
from graph.model import Passage
from graph.ports import Embedder, Vector
from graph.profile import Calibration, Profile
from graph.terms import TermCounts


async def refresh(
    index: KnowledgeIndex, embedder: Embedder, words: Embedder, *, force: bool = False
) -> bool:
    """Brings the profile up to date with the index; False when there was nothing to do.

    `words` is the builtin embedder (glossary). Raises EmbedderError, StorageError.
    """
    info = await index.info()
    if not info.chunks or (info.profile_revision == info.revision and not force):
        return False
    passages, corpus = await _read(index, embedder.dimension)
    previous = None if force else await _previous(index, embedder.name)
    base = shipped(embedder.name, words.name)
    if previous is None or outgrown(previous.calibration, embedder.name, previous, len(passages)):
        profile = await _fresh(info.revision, corpus, embedder, words, base)
    else:
        profile = await _updated(info.revision, corpus, previous, words)
    await index.save_profile(profile)
    return True


async def _read(index: KnowledgeIndex, dimension: int) -> tuple[list[Passage], Corpus]:
    passages: list[Passage] = []
    vectors: list[Vector] = []
    terms: list[TermCounts] = []
    async for passage, vector, counts in index.chunks():
        passages.append(passage)
        vectors.append(vector)
        terms.append(counts)
    matrix = np.stack(vectors) if vectors else np.zeros((0, dimension), np.float32)
    return passages, Corpus(passages, matrix, Postings(terms))


async def _previous(index: KnowledgeIndex, embedder: str) -> Profile | None:
    try:
        profile = await index.profile()
    except StoreError:
        return None
    return profile if profile.embedder == embedder else None


async def _fresh(
    revision: int, corpus: Corpus, embedder: Embedder, words: Embedder, base: Shipped
) -> Profile:
    counter = WordCounter()
    for passage in corpus.passages:
        counter.add(_words_of(passage))
    profile = Profile(
        embedder=embedder.name,
        dimension=embedder.dimension,
        revision=revision,
        statistics=corpus.postings.statistics(),
        calibration=_UNFITTED,
        vocabularies=await vocabularies(counter, words, base),
    )
    calibration = await calibrate(profile, corpus, embedder, Lexicon(words), base)
    return replace(profile, calibration=calibration)


async def _updated(revision: int, corpus: Corpus, previous: Profile, words: Embedder) -> Profile:
    """New statistics, and the glossary of chunks that bring words the index did not have."""
    counter = WordCounter()
    for row, passage in enumerate(corpus.passages):
        if (previous.statistics.frequency(corpus.postings.terms(row)) == 0).any():
            counter.add(_words_of(passage))
    return Profile(
        embedder=previous.embedder,
        dimension=previous.dimension,
        revision=revision,
        statistics=corpus.postings.statistics(),
        calibration=previous.calibration,
        vocabularies=await extended(previous.vocabularies, counter, words),
    )


def _words_of(passage: Passage) -> str:
    return " ".join((passage.title, *passage.heading, passage.text))


_UNFITTED = Calibration({}, {}, {}, {}, {}, 0, datetime(1970, 1, 1, tzinfo=UTC), "unfitted")
