"""What `belay calibration` says, on samples small enough to count by hand."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

import numpy as np
import pytest

from bot.calibration import Kind, Overview, Sample, hints, overview, thresholds, to_json
from bot.calibration_plot import picture
from bot.ingest.shipped import probes
from graph.model import LANGUAGES, Language
from graph.policy import Policy
from graph.profile import EMPTY_STATISTICS, Anchor, Calibration, Profile, Vocabulary
from graph.relevance import relevance

PAIRS = [(asked, held) for asked in LANGUAGES for held in LANGUAGES]
NOTHING = np.zeros(0, np.float32)


def profile(
    foreign: Sequence[float] = (),
    everyday: float | Sequence[float] = -2.0,
    *,
    chunks: int = 400,
    origin: str = "fitted",
) -> Profile:
    """An index whose negatives reach these u, in both languages: snippets first, probes last."""
    count = len(probes()["en"])
    last = [everyday] * count if isinstance(everyday, float) else list(everyday)
    negatives = np.array([*foreign, *last], np.float32)
    calibration = Calibration(
        passage_means=dict.fromkeys(LANGUAGES, NOTHING),
        question_means=dict.fromkeys(LANGUAGES, NOTHING),
        dense=dict.fromkeys(PAIRS, Anchor(0.2, 0.1)),
        lexical=dict.fromkeys(PAIRS, Anchor(2.0, 1.0)),
        final=dict.fromkeys(LANGUAGES, Anchor(0.0, 0.6)),
        chunks=chunks,
        fitted_at=datetime(2026, 3, 2, tzinfo=UTC),
        origin=origin,
        negatives=dict.fromkeys(LANGUAGES, negatives),
    )
    words = dict.fromkeys(LANGUAGES, Vocabulary((), NOTHING, NOTHING))
    return Profile("some-embedder", 0, 1, EMPTY_STATISTICS, calibration, words)


def trace(*u: float, language: str = "en") -> dict[str, Any]:
    return {"language": language, "candidates": [{"u": value} for value in u]}


def sample(view: Overview, kind: Kind, language: Language = "en") -> Sample:
    return next(s for s in view.samples if s.kind is kind and s.language == language)


def test_a_threshold_lets_through_what_reaches_it() -> None:
    # relevance of u = 0.5 is 0.44, of u = 1 it is 0.60, of u = 2 it is 0.85
    four = Sample("en", Kind.ASKED, (-1.0, 0.6, 1.1, 2.1))
    assert [four.reaching(t) for t in (0.0, 0.44, 0.60, 0.85, 0.999)] == [1, 0.75, 0.5, 0.25, 0]


def test_quantiles_lie_between_the_questions() -> None:
    values = Sample("en", Kind.ASKED, (0.0, 1.0, 2.0, 3.0, 4.0))
    assert values.quantile(0.5) == 2.0
    assert values.quantile(0.25) == 1.0
    assert values.quantile(0.95) == pytest.approx(3.8)


def test_nothing_asked_has_no_share_and_no_quantile() -> None:
    empty = Sample("ru", Kind.ASKED, ())
    assert empty.reaching(0.5) is None
    assert empty.quantile(0.5) is None


def test_thresholds_come_in_order_and_know_their_u() -> None:
    lines = thresholds(Policy(factual=0.5, certain=1.0, floor=0.0))
    assert [line.name for line in lines] == [
        "floor",
        "factual",
        "synthesis",
        "analytical",
        "certain",
    ]
    assert relevance(lines[1].u) == pytest.approx(0.5)
    assert (lines[0].u, lines[-1].u) == (-np.inf, np.inf)


def test_negatives_are_told_apart_into_everyday_and_foreign() -> None:
    view = overview(profile(foreign=(3.0, 0.5, 1.5)), 400, [], Policy())
    assert sample(view, Kind.FOREIGN).u == (0.5, 1.5, 3.0)
    assert set(sample(view, Kind.EVERYDAY, "ru").u) == {-2.0}


def test_a_small_index_has_everyday_questions_only() -> None:
    view = overview(profile(origin="shipped", chunks=12), 12, [], Policy())
    assert sample(view, Kind.FOREIGN).u == ()
    assert len(sample(view, Kind.EVERYDAY).u) == len(probes()["en"])


def test_an_index_of_before_negatives_were_kept_still_shows_what_was_asked() -> None:
    view = overview(profile(everyday=()), 400, [trace(1.0)], Policy())
    assert sample(view, Kind.EVERYDAY).u == ()
    assert sample(view, Kind.ASKED).u == (1.0,)


def test_asked_questions_count_by_their_best_passage_in_their_language() -> None:
    traces = [trace(2.0, 1.0), trace(0.5, language="ru"), trace(-1.0, -2.0), trace(), {}]
    view = overview(profile(), 400, traces, Policy())
    assert sample(view, Kind.ASKED, "en").u == (-1.0, 2.0)
    assert sample(view, Kind.ASKED, "ru").u == (0.5,)
    assert view.asked == 3


def test_hints_say_when_too_few_questions_were_asked() -> None:
    few = hints(overview(profile(), 400, [trace(2.0)] * 19, Policy()))
    assert len(few) == 1
    assert "asked here so far: 19" in few[0]
    assert hints(overview(profile(), 400, [trace(2.0)] * 20, Policy())) == []


@pytest.mark.parametrize(("chunks", "told"), [(400, False), (430, False), (520, True), (300, True)])
def test_hints_say_when_the_index_has_outgrown_its_scale(chunks: int, told: bool) -> None:
    said = hints(overview(profile(), chunks, [trace(2.0)] * 20, Policy()))
    assert any("belay sync" in hint for hint in said) is told


@pytest.mark.parametrize("origin", ["blended", "shipped"])
def test_hints_say_that_a_small_index_borrows_its_scale(origin: str) -> None:
    said = hints(overview(profile(origin=origin), 400, [trace(2.0)] * 20, Policy()))
    assert "ships with Belay" in " ".join(said)


def test_hints_name_thresholds_that_everyday_questions_reach() -> None:
    # 12 of 60 reach u = 1.2: 0.66, over synthesis and analytical, under factual
    view = overview(profile(everyday=[-2.0] * 48 + [1.2] * 12), 400, [trace(2.0)] * 20, Policy())
    said = hints(view)
    assert len(said) == 2  # one for each language
    assert "`floor` 0.44, `synthesis` 0.60, `analytical` 0.65: more than 10%" in said[0]
    assert "`factual`" not in said[0]
    assert "English" in said[0]
    assert "Russian" in said[1]


def test_hints_say_when_hardly_any_asked_question_gets_through() -> None:
    traces = [trace(0.0)] * 15 + [trace(2.0)] * 5
    said = hints(overview(profile(), 400, traces, Policy()))
    assert len(said) == 1
    assert "Only 25% of the English questions asked here reach `synthesis`" in said[0]
    assert "75% stay under the floor" in said[0]


def test_json_holds_anchors_thresholds_and_shares() -> None:
    view = overview(profile(foreign=(3.0,)), 500, [trace(2.1), trace(0.0)], Policy())
    data = to_json(view)
    assert data["embedder"] == "some-embedder"
    assert (data["chunks"], data["fitted_chunks"], data["outgrown"]) == (500, 400, True)
    assert data["anchors"]["cosine"]["en-ru"] == {"m": 0.2, "g": 0.1}
    assert data["anchors"]["fused"]["ru"] == {"m": 0.0, "g": 0.6}
    asked = data["questions"]["en"]["asked"]
    assert asked["n"] == 2
    assert asked["reaching"] == {
        "floor": 0.5, "synthesis": 0.5, "analytical": 0.5, "factual": 0.5, "certain": 0.5
    }  # fmt: skip
    assert data["questions"]["ru"]["asked"]["u"] == {
        "0.25": None, "0.5": None, "0.75": None, "0.95": None
    }  # fmt: skip


def test_picture_has_a_panel_a_language_and_a_share_beside_every_line() -> None:
    plot = picture(overview(profile(), 400, [trace(2.1), trace(0.0)], Policy()))
    assert [panel.title for panel in plot.panels] == [
        "Questions in English",
        "Questions in Russian",
    ]
    english = plot.panels[0]
    assert [line.label for line in english.lines] == [
        "floor 0.44", "synthesis 0.60", "analytical 0.65", "factual 0.75", "certain 0.85"
    ]  # fmt: skip
    assert english.lines[0].beside == ("0%", "", "50%")
    assert all(0 <= value <= 1 for ridge in english.ridges for value in ridge.values)


def test_picture_draws_equal_thresholds_once() -> None:
    view = overview(profile(), 400, [], Policy(analytical=0.6, synthesis=0.6))
    labels = [line.label for line in picture(view).panels[0].lines]
    assert labels == ["floor 0.44", "synthesis, analytical 0.60", "factual 0.75", "certain 0.85"]
