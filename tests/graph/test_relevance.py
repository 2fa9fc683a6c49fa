"""The scorer: what a relevance means, and that nothing but the evidence moves a ranking."""

from __future__ import annotations

import json
import math
import random
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from importlib.resources import files

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.ingest.postings import Postings
from graph.environment import asked_environments
from graph.model import LANGUAGES, Language, Ranked
from graph.policy import Policy
from graph.ports import Candidate, Vector
from graph.profile import COVERAGE, Anchor, Calibration, Profile, Statistics, Vocabulary
from graph.relevance import rank, relevance, search_terms
from graph.text import content_words, tokens, whole_words
from graph.view import QuestionView, Word
from tests.contract.index_chunks import DIMENSION, chunk_of, vector_of
from tests.graph.retrieval_kit import FITTED_AT

PLAIN = Policy()
RRF = Policy(fusion="rrf")


def profile_of(candidates: Sequence[Candidate]) -> Profile:
    """Real statistics; anchors that leave scores as they are (m = 0, g = 1), no vocabulary."""
    zero = np.zeros(DIMENSION, np.float32)
    plain = {(asked, held): Anchor(0.0, 1.0) for asked in LANGUAGES for held in LANGUAGES}
    calibration = Calibration(
        dict.fromkeys(LANGUAGES, zero),
        dict.fromkeys(LANGUAGES, zero),
        plain,
        plain,
        dict.fromkeys(LANGUAGES, Anchor(0.0, 1.0)),
        len(candidates),
        FITTED_AT,
    )
    nothing = Vocabulary((), np.zeros((0, DIMENSION), np.float32), zero)
    statistics = Postings([item.terms for item in candidates]).statistics()
    return Profile("toy", DIMENSION, 1, statistics, calibration, dict.fromkeys(LANGUAGES, nothing))


def candidate(
    text: str, path: str = "a.md", *, heading: str = "", vector: Vector | None = None
) -> Candidate:
    chunk = chunk_of(text, path, heading=heading, vector=vector)
    return Candidate(chunk.passage, chunk.vector, chunk.terms)


def view_of(
    text: str, statistics: Statistics, *, vector: Vector | None = None, language: Language = "en"
) -> QuestionView:
    """A question whose words stand for themselves alone, with weights that differ."""
    words = tuple(
        Word(low, item, 1.0 + len(low) / 10, statistics.known(item), reach_of((item, 1.0)))
        for low, item in content_words(text)
    )
    wholes = tuple(token for token in whole_words(text))
    environments = asked_environments(text)
    return QuestionView(text, language, vector, words, wholes, environments=environments)


def reach_of(*pairs: tuple[str, float]) -> dict[Language, tuple[tuple[str, float], ...]]:
    return dict.fromkeys(LANGUAGES, pairs)


def ids(ranked: Sequence[Ranked]) -> list[str]:
    return [item.passage.id for item in ranked]


def paths(ranked: Sequence[Ranked]) -> list[str]:
    return [item.passage.document for item in ranked]


def test_one_negative_spread_reads_sixty_percent_and_two_read_eighty_five() -> None:
    assert relevance(1) == pytest.approx(0.60, abs=0.005)
    assert relevance(2) == pytest.approx(0.85, abs=0.005)
    assert relevance(0.695) == pytest.approx(0.5)
    for u in (-3.0, 0.0, 0.5, 4.0):
        assert relevance(u) == pytest.approx(1 / (1 + math.exp(-1.33 * (u - 0.695))))


@given(st.floats(-1e6, 1e6), st.floats(-1e6, 1e6))
def test_relevance_grows_with_u_and_stays_between_nothing_and_certainty(a: float, b: float) -> None:
    low, high = sorted((a, b))
    assert 0 <= relevance(low) <= relevance(high) <= 1


VOCABULARY = (
    "gateway", "ledger", "quorum", "replica", "disk", "restart", "parcel", "db-02", "ERR-44",
    "узел", "шлюз", "очередь", "alert", "KubePodDown", "timeout",
)  # fmt: skip
TEXTS = st.lists(st.sampled_from(VOCABULARY), min_size=1, max_size=12).map(" ".join)
PATHS = st.sampled_from(("a.md", "disk.md", "ops/gateway.md", "шлюз.md"))
CORPORA = st.lists(st.tuples(TEXTS, PATHS, TEXTS), min_size=1, max_size=8)


def built(corpus: Sequence[tuple[str, str, str]]) -> list[Candidate]:
    made = [
        chunk_of(text, path, heading=heading, ordinal=number, language="en")
        for number, (text, path, heading) in enumerate(corpus)
    ]
    return [Candidate(item.passage, item.vector, item.terms) for item in made]


def plain_bm25(question: str, row: int, corpus: Sequence[tuple[str, str, str]]) -> float:
    """Field-weighted BM25 per root of content words, written down from the documentation."""
    documents = []
    for text, path, heading in corpus:
        folder, _, name = path.rpartition("/")
        body, head = Counter(tokens(text)), Counter(tokens(heading))
        title, place = Counter(tokens(name.removesuffix(".md"))), Counter(tokens(folder))
        terms = {*body, *head, *title, *place}
        counts = {t: body[t] + 2 * head[t] + 2 * title[t] + 0.5 * place[t] for t in terms}
        length = body.total() + head.total() + title.total() + 0.5 * place.total()
        documents.append((counts, length))
    common = json.loads(files("graph").joinpath("words/common.json").read_text("utf-8"))
    mean = sum(length for _, length in documents) / len(documents)
    counts, length = documents[row]
    words = [item for _, item in content_words(question)]
    total = 0.0
    for term in [*words, *whole_words(question)]:
        seen = sum(term in held for held, _ in documents)
        share = common.get(term, 0.002)
        probability = (seen + 0.5 + 30 * share) / (len(documents) + 1 + 30)
        scale = math.log(1530) / math.log(len(documents) + 31)
        idf = -math.log(min(probability, 0.9)) * scale
        count = counts.get(term, 0)
        saturation = 1.5 * (1 - 0.6 + 0.6 * length / max(mean, 1))
        total += idf * count / (count + saturation)
    return total / math.sqrt(max(len(words), 1))


@settings(deadline=None)
@given(CORPORA, TEXTS)
def test_bm25_is_the_documented_formula(corpus: list[tuple[str, str, str]], question: str) -> None:
    candidates = built(corpus)
    profile = profile_of(candidates)
    places = {item.passage.id: row for row, item in enumerate(candidates)}
    for item in rank(view_of(question, profile.statistics), candidates, profile, PLAIN):
        expected = plain_bm25(question, places[item.passage.id], corpus)
        assert item.scores.bm25 == pytest.approx(expected, rel=1e-3, abs=1e-4)


@settings(deadline=None)
@given(CORPORA, TEXTS)
def test_coverage_in_a_ranking_is_the_coverage_of_the_view(
    corpus: list[tuple[str, str, str]], question: str
) -> None:
    candidates = built(corpus)
    profile = profile_of(candidates)
    view = view_of(question, profile.statistics)
    held = {
        item.passage.id: tokens(" ".join((text, heading, path.removesuffix(".md"))))
        for item, (text, path, heading) in zip(candidates, corpus, strict=True)
    }
    for item in rank(view, candidates, profile, PLAIN):
        expected = view.coverage(held[item.passage.id], "en")
        assert item.scores.coverage == pytest.approx(expected, abs=1e-5)


@settings(deadline=None, max_examples=40)
@given(CORPORA, TEXTS, st.randoms(use_true_random=False), st.sampled_from((PLAIN, RRF)))
def test_the_order_of_candidates_does_not_matter(
    corpus: list[tuple[str, str, str]], question: str, chance: random.Random, policy: Policy
) -> None:
    candidates = built(corpus)
    profile = profile_of(candidates)
    view = view_of(question, profile.statistics, vector=vector_of(question))
    shuffled = list(candidates)
    chance.shuffle(shuffled)
    assert ids(rank(view, shuffled, profile, policy)) == ids(
        rank(view, candidates, profile, policy)
    )


@settings(deadline=None)
@given(CORPORA, TEXTS)
def test_best_first_by_u_and_relevance_follows_u(
    corpus: list[tuple[str, str, str]], question: str
) -> None:
    candidates = built(corpus)
    profile = profile_of(candidates)
    view = view_of(question, profile.statistics, vector=vector_of(question))
    ranked = rank(view, candidates, profile, PLAIN)
    values = [item.scores.u for item in ranked]
    assert values == sorted(values, reverse=True)
    assert [item.scores.relevance for item in ranked] == [relevance(u) for u in values]
    cosines = {item.passage.id: float(item.vector @ vector_of(question)) for item in candidates}
    for item in ranked:
        assert item.scores.cosine == pytest.approx(cosines[item.passage.id], abs=1e-5)


@settings(deadline=None)
@given(CORPORA, TEXTS, st.sampled_from((0.0, COVERAGE)))
def test_u_is_the_documented_formula(
    corpus: list[tuple[str, str, str]], question: str, weight: float
) -> None:
    """With a weight of 0, as an index has whose anchors were fitted before coverage counted, it is
    the formula of that time."""
    candidates = built(corpus)
    profile = anchored(profile_of(candidates), coverage=weight)
    view = view_of(question, profile.statistics, vector=vector_of(question))
    assert view.words
    for item in rank(view, candidates, profile, PLAIN):
        scores = item.scores
        assert scores.cosine is not None
        x, y = (scores.cosine - 0.2) / 0.1, (scores.bm25 - 3.0) / 2.0
        expected = ((x + max(y, -1)) / 2 + weight * scores.coverage**2 - 0.4) / 0.8
        assert scores.u == pytest.approx(expected, abs=1e-4)


def anchored(profile: Profile, *, coverage: float) -> Profile:
    """Anchors that are no round numbers, so that each of them matters."""
    old = profile.calibration
    calibration = replace(
        old,
        dense=dict.fromkeys(old.dense, Anchor(0.2, 0.1)),
        lexical=dict.fromkeys(old.lexical, Anchor(3.0, 2.0)),
        final=dict.fromkeys(old.final, Anchor(0.4, 0.8)),
        coverage=coverage,
    )
    return replace(profile, calibration=calibration)


def test_what_speaks_of_most_of_a_question_comes_before_one_rare_word_that_is_repeated() -> None:
    """A symptom is told in usual words, all over a long page; a short one repeats the rare word."""
    loud = candidate("quorum " * 4, "loud.md", vector=axis(0.5))
    prose = " ".join(f"word{number}" for number in range(30))
    broad = candidate(f"members get alerts twice, {prose}", "broad.md", vector=axis(0.5))
    others = [candidate(f"members get alerts twice, note {n}", f"{n}.md") for n in range(8)]
    candidates = [loud, broad, *others]
    profile = anchored(profile_of(candidates), coverage=COVERAGE)
    view = view_of("members get alerts twice, quorum", profile.statistics, vector=axis(1.0))
    first, second = rank(view, [loud, broad], profile, PLAIN)
    assert paths([first, second]) == ["broad.md", "loud.md"]
    assert first.scores.bm25 < second.scores.bm25


def axis(*values: float) -> Vector:
    row = np.zeros(DIMENSION, np.float32)
    row[: len(values)] = values
    row[-1] = math.sqrt(max(0.0, 1 - sum(value * value for value in values)))
    return row


def test_reciprocal_ranks_are_added_and_a_missing_leg_adds_nothing() -> None:
    near = candidate("nothing in common", "near.md", vector=axis(0.9))
    both = candidate("parcel ledger", "both.md", vector=axis(0.8))
    words = candidate("parcel parcel ledger", "words.md", vector=axis(0.1))
    far = candidate("something else entirely", "far.md", vector=axis(0.05))
    candidates = [near, both, words, far]
    profile = profile_of(candidates)
    view = view_of("parcel ledger", profile.statistics, vector=axis(1.0))
    ranked = rank(view, candidates, profile, RRF)
    dense = ["near.md", "both.md", "words.md", "far.md"]
    lexical = sorted(
        (item for item in ranked if item.scores.bm25 > 0), key=lambda item: -item.scores.bm25
    )
    points: Counter[str] = Counter()
    for leg in (dense, paths(lexical)):
        for place, path in enumerate(leg, 1):
            points[path] += 1 / (60 + place)  # type: ignore[assignment]
    assert paths(ranked) == sorted(points, key=lambda path: -points[path])
    assert set(paths(lexical)) == {"both.md", "words.md"}


def test_reciprocal_ranks_work_with_keywords_alone() -> None:
    candidates = [candidate("ledger", "a.md"), candidate("parcel parcel", "b.md")]
    profile = profile_of(candidates)
    ranked = rank(view_of("parcel", profile.statistics), candidates, profile, RRF)
    assert paths(ranked) == ["b.md", "a.md"]
    assert all(item.scores.cosine is None for item in ranked)


def test_a_passage_without_a_shared_word_is_not_buried_under_a_frequent_word() -> None:
    """RT-13: what the words leave out may not count as a bad rank."""
    notes = [
        candidate(f"the gateway was quiet, note {number}", f"n{number}.md", vector=axis(0.30))
        for number in range(20)
    ]
    others = [
        candidate(f"page {number}", f"o{number}.md", vector=axis(0.1)) for number in range(40)
    ]
    right = candidate("labels are printed again", "right.md", vector=axis(0.38))
    candidates = [*notes, *others, right]
    profile = profile_of(candidates)
    calibration = replace(
        profile.calibration,  # here an unrelated question's best words reach 2
        lexical=dict.fromkeys(profile.calibration.lexical, Anchor(2.0, 1.0)),
        dense=dict.fromkeys(profile.calibration.dense, Anchor(0.3, 0.1)),
    )
    profile = replace(profile, calibration=calibration)
    question = "gateway stickers of parcels come out empty"
    view = view_of(question, profile.statistics, vector=axis(1.0))
    ranked = rank(view, candidates, profile, PLAIN)
    assert paths(ranked)[0] == "right.md"
    assert ranked[1].scores.bm25 < 2  # the frequent word is no evidence here


def test_without_a_vector_words_rank_and_are_never_more_than_words() -> None:
    candidates = [candidate("parcel ledger", "a.md"), candidate("parcel", "b.md")]
    profile = profile_of(candidates)
    by_words = rank(view_of("parcel ledger", profile.statistics), candidates, profile, PLAIN)
    assert paths(by_words) == ["a.md", "b.md"]
    assert all(item.scores.cosine is None for item in by_words)
    best = by_words[0].scores
    # words stand in for the vector up to x = 1
    assert best.u <= (1 + best.bm25) / 2 + best.coverage**2 + 1e-6


def test_an_identifier_counts_beside_its_pieces() -> None:
    whole = candidate("see ERR-4471 first", "whole.md")
    pieces = candidate("err and 4471 far apart", "pieces.md")
    profile = profile_of([whole, pieces])
    view = view_of("ERR-4471", profile.statistics)
    assert paths(rank(view, [pieces, whole], profile, PLAIN)) == ["whole.md", "pieces.md"]


def test_a_stand_in_is_worth_less_than_the_word_itself() -> None:
    own, other = candidate("parcel", "own.md"), candidate("posylka", "other.md")
    profile = profile_of([own, other])
    word = Word("parcel", "parcel", 1.0, True, reach_of(("parcel", 1.0), ("posylka", 0.6)))
    view = QuestionView("parcel", "en", None, (word,))
    ranked = rank(view, [other, own], profile, PLAIN)
    assert paths(ranked) == ["own.md", "other.md"]
    assert ranked[1].scores.bm25 > 0


def test_keyword_search_looks_for_identifiers_first_then_telling_words_then_stand_ins() -> None:
    rare = Word("quorum", "quorum", 5.0, True, reach_of(("quorum", 1.0), ("кворум", 0.9)))
    usual = Word("alert", "alert", 1.0, True, reach_of(("alert", 1.0), ("алерт", 0.9)))
    view = QuestionView("?", "en", None, (usual, rare), wholes=("=err-44",))
    assert search_terms(view) == ("=err-44", "quorum", "alert", "кворум", "алерт")


@pytest.mark.parametrize(
    ("question", "right", "wrong"),
    [
        ("backup window on staging", ("db-staging.md", ""), ("db-prod.md", "")),
        ("backup window in prod", ("db-prod.md", ""), ("db-staging.md", "")),
        ("backup window of the test database", ("test/db.md", ""), ("prod/db.md", "")),
        ("backup window on dev", ("db.md", "Development"), ("db.md", "Production")),
        ("окно на стейдже", ("db.md", "Стейдж"), ("db.md", "Прод")),
        ("окно на проде", ("db-prod.md", ""), ("db-stg.md", "")),
        ("окно в тестовом окружении", ("mq-test.md", ""), ("mq-production.md", "")),
        ("окно в песочнице", ("sandbox.md", ""), ("prod.md", "")),
    ],
)
def test_a_document_of_another_environment_is_put_back_by_one_negative_spread(
    question: str, right: tuple[str, str], wrong: tuple[str, str]
) -> None:
    """RT-16: near-equal texts; file name, folder or heading names the environment."""
    made = [
        candidate("nothing in common", path, heading=heading, vector=axis(0.5))
        for path, heading in (wrong, right)
    ]
    neutral = candidate("nothing in common", "neutral.md", vector=axis(0.5))
    profile = profile_of([*made, neutral])
    view = QuestionView(question, "en", axis(1.0), (), environments=asked_environments(question))
    assert view.environments
    scores = {
        (item.passage.document, *item.passage.heading): item.scores.u
        for item in rank(view, [*made, neutral], profile, PLAIN)
    }
    keys = [tuple(part for part in place if part) for place in (right, wrong)]
    assert scores[keys[0]] == pytest.approx(scores["neutral.md",])
    assert scores[keys[0]] - scores[keys[1]] == pytest.approx(1.0, abs=1e-5)


def test_a_question_that_names_no_environment_puts_nothing_back() -> None:
    made = [candidate("same", path, vector=axis(0.5)) for path in ("db-prod.md", "db-test.md")]
    profile = profile_of(made)
    question = "how do I test the backups"
    view = QuestionView(question, "en", axis(1.0), (), environments=asked_environments(question))
    first, second = rank(view, made, profile, PLAIN)
    assert first.scores.u == pytest.approx(second.scores.u)


def test_a_question_without_words_is_ranked_by_its_vector() -> None:
    made = [candidate("one", "a.md", vector=axis(0.2)), candidate("two", "b.md", vector=axis(0.9))]
    view = QuestionView("what about it", "en", axis(1.0), ())
    assert paths(rank(view, made, profile_of(made), PLAIN)) == ["b.md", "a.md"]


def test_nothing_found_ranks_nothing() -> None:
    view = QuestionView("parcel", "en", axis(1.0), ())
    assert rank(view, [], profile_of([]), PLAIN) == ()
