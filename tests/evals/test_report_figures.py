"""The arithmetic behind the HTML report, on examples that can be counted by hand."""

from __future__ import annotations

import re

import pytest

from bot.evals.markup import Html, element, joined
from bot.evals.risk import Point, point, risk_coverage
from bot.evals.svg import Curve, Dot, Mark, Row, curves, histograms, stacked
from bot.evals.worst import Fault, misses
from graph.model import Outcome
from tests.evals.evaluated import result

SIX = [(0.9, True), (0.8, True), (0.7, False), (0.6, True), (0.6, False), (0.1, False)]


def test_risk_and_coverage_of_six_questions() -> None:
    assert risk_coverage(SIX) == [
        Point(0.9, pytest.approx(1 / 6), 0.0),
        Point(0.8, pytest.approx(2 / 6), 0.0),
        Point(0.7, pytest.approx(3 / 6), pytest.approx(1 / 3)),
        Point(0.6, pytest.approx(5 / 6), pytest.approx(2 / 5)),  # two questions, one score
        Point(0.1, 1.0, pytest.approx(3 / 6)),
    ]


@pytest.mark.parametrize(
    ("at", "coverage", "risk"),
    [(0.75, 2 / 6, 0.0), (0.7, 3 / 6, 1 / 3), (0.0, 1.0, 0.5), (0.95, 0.0, 0.0)],
)
def test_a_threshold_is_a_point_of_the_curve(at: float, coverage: float, risk: float) -> None:
    assert point(SIX, at) == Point(at, pytest.approx(coverage), pytest.approx(risk))


def test_no_questions_have_no_curve() -> None:
    assert risk_coverage([]) == []
    assert point([], 0.5) == Point(0.5, 0.0, 0.0)


def test_questions_that_were_never_looked_up_come_last_on_the_curve() -> None:
    last = risk_coverage([(float("-inf"), False), (2.0, True)])[-1]
    assert (last.coverage, last.risk) == (1.0, 0.5)


RIGHT = result("right", expected=["a.md"], ranked=[("a.md", 0.9)], cited=["a.md"])
HONEST = result("honest", Outcome.NOT_FOUND, ranked=[("a.md", 0.3)])


def test_right_answers_and_honest_refusals_are_no_mistakes() -> None:
    half = result("half", Outcome.PARTIAL, expected=["a.md"], ranked=[("a.md", 0.6)])
    assert misses([RIGHT, HONEST, half]) == []


def test_mistakes_are_told_apart_and_the_surest_false_answer_comes_first() -> None:
    others = [(f"{n}.md", 0.6) for n in range(6)]
    found = misses(
        [
            RIGHT,
            result("late", Outcome.PARTIAL, expected=["a.md"], ranked=[*others, ("a.md", 0.1)]),
            result("refused", Outcome.NOT_FOUND, expected=["a.md"], ranked=[("a.md", 0.4)]),
            result("elsewhere", expected=["a.md"], ranked=[("b.md", 0.9)], cited=["b.md"]),
            result("unsure", ranked=[("b.md", 0.76)], cited=["b.md"]),
            result("sure", ranked=[("b.md", 0.99)], cited=["b.md"]),
            HONEST,
        ]
    )
    assert [(miss.result.row.question, miss.fault) for miss in found] == [
        ("sure", Fault.FALSE_ANSWER),
        ("unsure", Fault.FALSE_ANSWER),
        ("elsewhere", Fault.OTHER_SOURCE),
        ("refused", Fault.REFUSED),
        ("late", Fault.MISSED),
    ]


def test_a_question_of_two_documents_needs_both() -> None:
    one = result("both", expected=["a.md", "b.md"], ranked=[("a.md", 0.9)], cited=["a.md"])
    assert [miss.fault for miss in misses([one])] == [Fault.MISSED]
    assert [item.place for item in misses([one])[0].expected] == [1, None]


def test_a_mistake_shows_the_three_best_documents_each_once() -> None:
    ranked = [("x.md", 0.9), ("x.md", 0.8), ("a.md", 0.7), ("y.md", 0.6), ("z.md", 0.5)]
    miss = misses([result("q", Outcome.NOT_FOUND, expected=["a.md"], ranked=ranked)])[0]
    shown = [(item.document, item.relevance, item.expected) for item in miss.retrieved]
    assert shown == [("x.md", 0.9, False), ("a.md", 0.7, True), ("y.md", 0.6, False)]
    assert miss.expected[0].place == 2


def test_text_is_escaped_and_markup_is_not() -> None:
    built = element("p", "<b>", element("i", "a & b"), title='"', class_="x")
    assert built == '<p title="&quot;" class="x">&lt;b&gt;<i>a &amp; b</i></p>'
    assert joined("<", Html("<br>")) == "&lt;<br>"


def test_bars_of_a_histogram_stand_under_their_values() -> None:
    rows = [Row("one <row>", (0.0, 0.01, 0.51, 1.0), "known")]
    drawn = histograms("What it shows", rows, [Mark("limit", 0.5)], "relevance")
    places = [float(x) for x in re.findall(r'<rect x="([\d.]+)"', drawn)]
    heights = [float(h) for h in re.findall(r'<rect [^>]*height="([\d.]+)"', drawn)]
    line = float(re.findall(r'<line x1="([\d.]+)"[^>]*class="mark"', drawn)[0])
    assert len(places) == 3  # 1.0 belongs to the last bin, not beyond it
    assert places[0] < line <= places[1] < places[2] < 560
    assert heights[0] == 2 * heights[1] == 2 * heights[2]
    assert "one &lt;row&gt;" in drawn
    assert 'aria-label="What it shows"' in drawn


def test_curves_start_and_end_at_the_edges_of_the_chart() -> None:
    line = Curve("risk", ((0.0, 0.0), (0.5, 0.2), (1.0, 0.4)), "first")
    drawn = curves("Risk", [line], [Dot("1", 0.5, 0.2)], "answered", "false")
    points = re.findall(r'points="([^"]+)"', drawn)[0].split()
    (x0, y0), (x1, y1), (x2, y2) = (tuple(map(float, item.split(","))) for item in points)
    assert x0 < x1 < x2
    assert y0 > y1 > y2  # higher risk is higher up
    circle = re.findall(r'<circle cx="([\d.]+)" cy="([\d.]+)"', drawn)[0]
    assert (float(circle[0]), float(circle[1])) == pytest.approx((x1, y1), abs=0.1)


def test_a_wild_beginning_of_a_curve_stays_inside_the_chart() -> None:
    line = Curve("risk", ((0.01, 1.0), (0.2, 0.1), (1.0, 0.1)), "first")
    drawn = curves("Risk", [line], [], "answered", "false")
    heights = [
        float(item.split(",")[1]) for item in re.findall(r'points="([^"]+)"', drawn)[0].split()
    ]
    assert min(heights) >= 0


def test_a_stacked_bar_is_shared_out_by_counts() -> None:
    drawn = stacked("Ends", {"kind": {"answered": 3, "failed": 1}}, ("answered", "web", "failed"))
    widths = [float(w) for w in re.findall(r'<rect [^>]*width="([\d.]+)"', drawn)]
    assert len(widths) == 2
    assert widths[0] == pytest.approx(3 * widths[1], rel=0.05)


def test_charts_of_nothing_can_be_drawn() -> None:
    assert histograms("none", [], [], "x").startswith("<svg")
    assert curves("none", [], [], "x", "y").startswith("<svg")
    assert stacked("none", {}, ()).startswith("<svg")
