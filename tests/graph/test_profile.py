"""What is known of an index as a whole survives being stored, and damage is noticed."""

from __future__ import annotations

import io
import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.ingest.postings import Postings
from graph.model import LANGUAGES
from graph.profile import (
    COVERAGE,
    EMPTY_STATISTICS,
    Anchor,
    Calibration,
    Profile,
    Statistics,
    Vocabulary,
)
from graph.terms import Fields, TermCounts, term_hash, term_hashes
from tests.graph.retrieval_kit import FITTED_AT


def profile(stems: tuple[str, ...] = ("backup", "узел")) -> Profile:
    rng = np.random.default_rng(5)

    def floats(*shape: int) -> np.ndarray:
        return rng.standard_normal(shape).astype(np.float32)

    pairs = [(asked, held) for asked in LANGUAGES for held in LANGUAGES]
    return Profile(
        "embedder/1",
        4,
        17,
        Statistics(3, 12.5, np.sort(term_hashes(["a", "b"])), np.array([1, 3], np.float32)),
        Calibration(
            {lang: floats(4) for lang in LANGUAGES},
            {lang: floats(4) for lang in LANGUAGES},
            {pair: Anchor(number, 0.1) for number, pair in enumerate(pairs)},
            {pair: Anchor(-number, 0.3) for number, pair in enumerate(pairs)},
            {"en": Anchor(0.1, 0.2), "ru": Anchor(0.3, 0.4)},
            3,
            FITTED_AT,
            "blended",
            {"en": floats(5), "ru": floats(0)},
        ),
        {lang: Vocabulary(stems, floats(len(stems), 4), floats(4)) for lang in LANGUAGES},
    )


def test_a_profile_survives_storage() -> None:
    before = profile()
    after = Profile.from_bytes(before.to_bytes())
    assert (after.embedder, after.dimension, after.revision) == ("embedder/1", 4, 17)
    assert after.statistics.chunks == 3
    assert after.statistics.mean_length == 12.5
    assert after.calibration.dense == before.calibration.dense
    assert after.calibration.lexical == before.calibration.lexical
    assert after.calibration.final == before.calibration.final
    assert after.calibration.fitted_at == FITTED_AT
    assert after.calibration.origin == "blended"
    assert after.calibration.coverage == before.calibration.coverage == COVERAGE
    assert after.calibration.chunks == 3
    for lang in LANGUAGES:
        assert after.vocabularies[lang].stems == ("backup", "узел")
        for name in ("passage_means", "question_means", "negatives"):
            kept, was = getattr(after.calibration, name), getattr(before.calibration, name)
            assert np.array_equal(kept[lang], was[lang])
        assert np.array_equal(after.vocabularies[lang].vectors, before.vocabularies[lang].vectors)


def test_coverage_weighs_nothing_where_the_anchors_were_fitted_without_it() -> None:
    """A profile of before coverage counted does not name its weight."""
    with np.load(io.BytesIO(profile().to_bytes())) as stored:
        arrays = dict(stored)
    meta = json.loads(arrays["meta"].tobytes())
    del meta["coverage"]
    arrays["meta"] = np.frombuffer(json.dumps(meta).encode(), np.uint8)
    assert Profile.from_bytes(archive(**arrays)).calibration.coverage == 0


def test_an_empty_vocabulary_survives_too() -> None:
    after = Profile.from_bytes(profile(stems=()).to_bytes())
    assert after.vocabularies["ru"].stems == ()
    assert after.vocabularies["ru"].vectors.shape == (0, 4)


def archive(**arrays: np.ndarray) -> bytes:
    buffer = io.BytesIO()
    np.savez(buffer, **arrays)
    return buffer.getvalue()


def one_array() -> bytes:
    buffer = io.BytesIO()
    np.save(buffer, np.zeros(3))
    return buffer.getvalue()


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"not a profile",
        b"PK\x03\x04cut",
        profile().to_bytes()[:500],
        one_array(),
        archive(other=np.zeros(2)),
        archive(meta=np.frombuffer(b"{}", np.uint8)),
        archive(meta=np.frombuffer(b"{", np.uint8)),
    ],
    ids=["empty", "text", "junk", "cut", "array", "other", "no meta", "no json"],
)
def test_what_is_no_profile_is_refused(data: bytes) -> None:
    with pytest.raises((ValueError, KeyError)):
        Profile.from_bytes(data)


TOKENS = st.lists(st.sampled_from("abcdefgh"), max_size=8).map(tuple)


@given(st.lists(TOKENS, max_size=6))
def test_statistics_equal_a_plain_count(documents: list[tuple[str, ...]]) -> None:
    counted = Postings([TermCounts.of(Fields(tokens)) for tokens in documents]).statistics()
    assert counted.chunks == len(documents)
    wanted = [*"abcdefgh", "missing"]
    seen = [sum(word in tokens for tokens in documents) for word in wanted]
    assert list(counted.frequency(term_hashes(wanted))) == seen
    assert [counted.known(word) for word in wanted] == [count > 0 for count in seen]
    if documents:
        mean = sum(map(len, documents)) / len(documents)
        assert counted.mean_length == pytest.approx(mean)


@given(st.lists(TOKENS, min_size=1, max_size=6), st.lists(st.sampled_from("abcxyz"), unique=True))
def test_postings_count_as_the_documents_do(
    documents: list[tuple[str, ...]], wanted: list[str]
) -> None:
    made = Postings([TermCounts.of(Fields(tokens, heading=tokens)) for tokens in documents])
    table = made.counts(term_hashes(wanted))
    for row, tokens in enumerate(documents):
        assert list(table[row]) == [3 * tokens.count(word) for word in wanted]
        assert set(made.terms(row).tolist()) == {term_hash(word) for word in tokens}


def test_an_empty_index_knows_nothing() -> None:
    assert not EMPTY_STATISTICS.known("backup")
    assert EMPTY_STATISTICS.frequency(term_hashes([])).shape == (0,)


def test_an_anchor_puts_scores_on_the_scale_of_negatives() -> None:
    anchor = Anchor(0.2, 0.1)
    assert anchor.scale(0.2) == 0
    assert anchor.scale(0.3) == pytest.approx(1)


@given(st.lists(st.sampled_from(["a", "b", "c", "d"]), max_size=4))
def test_known_among_many_is_known_one_by_one(terms: list[str]) -> None:
    statistics = profile().statistics
    assert statistics.known_among(terms) == set(filter(statistics.known, terms))
    assert EMPTY_STATISTICS.known_among(terms) == frozenset()
