"""The report of `belay eval` as one HTML file: no script, nothing loaded from elsewhere. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from bot.calibration import thresholds
from bot.evals import svg
from bot.evals.markup import Html, element, joined
from bot.evals.report import is_answered, score
from bot.evals.risk import Point, point, risk_coverage
from bot.evals.run import Result
from bot.evals.style import STYLE
from bot.evals.tables import Table, summary, tables
from bot.evals.worst import Fault, Miss, misses
from bot.evals.worst_html import article
from graph.policy import Policy

SHOWN = 20  # questions listed under each fault
_ENDS = {  # CSS class and word
    "answered": "answered",
    "false_answer": "answered without an answer in the documents",
    "partial": "in part",
    "web": "from the web",
    "not_found": "not found",
    "failed": "failed",
}


@dataclass(frozen=True, slots=True)
class About:
    """What was measured, and with what."""

    questions: str
    documents: str
    embedder: str
    model: str  # empty: quoted answers
    policy: Policy
    made_at: datetime


def page(results: Sequence[Result], figures: dict[str, Any], about: About) -> str:
    """`figures`: of the same results, from bot/evals/report.py."""
    body = element(
        "main",
        element("h1", f"How Belay answered {about.questions}"),
        _sentences(results, figures),
        _setting(about),
        element("div", _distributions(results, about), _risk(results, about), class_="pair"),
        _outcomes(results),
        _worst(results),
        _tables(figures),
    )
    head = joined(
        Html('<meta charset="utf-8">'),
        Html('<meta name="viewport" content="width=device-width, initial-scale=1">'),
        Html(
            '<meta http-equiv="Content-Security-Policy" '
            "content=\"default-src 'none'; style-src 'unsafe-inline'\">"
        ),
        element("title", f"Belay: {about.questions}"),
        element("style", Html(STYLE)),
    )
    document = element("html", element("head", head), element("body", body), lang="en")
    return f"<!doctype html>\n{document}\n"


def _sentences(results: Sequence[Result], figures: dict[str, Any]) -> Html:
    known = [item for item in results if item.row.answerable]
    unknown = [item for item in results if not item.row.answerable]
    noun = "question" if len(results) == 1 else "questions"
    lines = [
        f"{len(results)} {noun}: {len(known)} with an answer in the documents, "
        f"{len(unknown)} without."
    ]
    if known:
        counts, recall = figures["outcomes"]["answerable"], figures["overall"]
        lines.append(
            f"Of those with an answer: {_answered(known)}, {counts.get('partial', 0)} in part, "
            f"{counts.get('not_found', 0)} refused. An expected document came first for "
            f"{recall['recall_at_1']:.0%} and was among the first five for "
            f"{recall['recall_at_5']:.0%}."
        )
    if unknown:
        lines.append(f"Of those without: {_answered(unknown)} all the same: false answers.")
    return element("p", " ".join(lines), class_="lead")


def _answered(results: Sequence[Result]) -> str:
    count = sum(map(is_answered, results))
    return f"{count} answered ({count / len(results):.0%})"


def _setting(about: About) -> Html:
    policy = about.policy
    facts = {
        "Questions": about.questions,
        "Documents": about.documents,
        "Embedder": about.embedder,
        "Chat model": about.model or "none: answers are quoted from the documents",
        "Thresholds": ", ".join(f"{t.name} {t.relevance:.2f}" for t in thresholds(policy)),
        "Measured": f"{about.made_at:%Y-%m-%d %H:%M} UTC",
    }
    pairs = [joined(element("dt", name), element("dd", text)) for name, text in facts.items()]
    return element("dl", *pairs, class_="facts")


def _distributions(results: Sequence[Result], about: About) -> Html:
    rows = [
        svg.Row(
            f"{name}: {len(group)}",
            tuple(item.trace.relevance for item in group),
            "known" if known else "unknown",
        )
        for known, name, group in _groups(results)
    ]
    marks = [svg.Mark(f"{t.name} {t.relevance:.2f}", t.relevance) for t in thresholds(about.policy)]
    chart = svg.histograms(
        "Relevance of the best passage of each question, from 0 to 1, a row for each category, "
        "with the thresholds as lines",
        rows,
        marks,
        "relevance of the best passage",
    )
    return _figure(
        "How well do questions match the documents?",
        "Each question counts once, by its best passage. Answerable ones belong right of their "
        "threshold, unanswerable ones left of the floor.",
        chart,
        (("known", "answerable"), ("unknown", "unanswerable")),
    )


def _groups(results: Sequence[Result]) -> list[tuple[bool, str, list[Result]]]:
    """(answerable, category, questions): first what the documents answer, then the rest."""
    groups: dict[tuple[bool, str], list[Result]] = {}
    for item in results:
        name = item.row.category or "without a category"
        groups.setdefault((not item.row.answerable, name), []).append(item)
    return [(not missing, name, group) for (missing, name), group in sorted(groups.items())]


def _risk(results: Sequence[Result], about: About) -> Html:
    by_score = [(score(item), item.row.answerable) for item in results]
    by_relevance = [(item.trace.relevance, item.row.answerable) for item in results]
    now = [(float(is_answered(item)), item.row.answerable) for item in results]
    named = [
        (t.name, t.relevance, point(by_relevance, t.relevance)) for t in thresholds(about.policy)
    ]
    chosen = point(now, 1.0)
    dots = [svg.Dot(str(n), p.coverage, p.risk) for n, (_, _, p) in enumerate(named, 1)]
    chart = svg.curves(
        "Share of questions answered against the share of answers that are false, for every "
        "possible threshold; the present thresholds are numbered",
        [_curve("relevance", by_relevance, "second"), _curve("answerability", by_score, "first")],
        [*dots, svg.Dot("B", chosen.coverage, chosen.risk, apart=True)],
        "share of questions answered",
        "share of answers that are false",
    )
    rows = [
        (str(n), f"{name} {value:.2f}", f"{p.coverage:.0%}", f"{p.risk:.0%}")
        for n, (name, value, p) in enumerate(named, 1)
    ]
    rows.append(("B", "Belay's answers", f"{chosen.coverage:.0%}", f"{chosen.risk:.0%}"))
    caption = Table(
        "The marked points", ("point", "if the line were", "answered", "false"), tuple(rows)
    )
    return _figure(
        "What would answering more cost?",
        "Answering only the questions that score highest, then more and more of them. Lower is "
        "better. Numbers are the present thresholds on relevance; B is what Belay did answer, "
        "with its other checks.",
        joined(chart, _table(caption)),
        (("first", "by answerability"), ("second", "by relevance alone")),
    )


def _curve(label: str, scored: list[tuple[float, bool]], tone: str) -> svg.Curve:
    points: list[Point] = risk_coverage(scored)
    return svg.Curve(label, tuple((p.coverage, p.risk) for p in points), tone)


def _outcomes(results: Sequence[Result]) -> Html:
    rows = {
        f"{name}: {len(group)}{'' if known else ', without an answer'}": _ends(group)
        for known, name, group in _groups(results)
    }
    chart = svg.stacked(
        "How the questions of each category ended; the numbers are in the table of outcomes",
        rows,
        tuple(_ENDS),
    )
    return _figure("How did each category end?", "", chart, tuple(_ENDS.items()))


def _ends(group: Sequence[Result]) -> Counter[str]:
    return Counter(
        "false_answer" if is_answered(item) and not item.row.answerable else item.answer.outcome
        for item in group
    )


def _figure(title: str, note: str, chart: Html, legend: Sequence[tuple[str, str]]) -> Html:
    keys = [
        element("li", element("span", "", class_=f"key {tone}", aria_hidden="true"), name)
        for tone, name in legend
    ]
    return element(
        "section",
        element("h2", title),
        *([element("p", note)] if note else []),
        element("ul", *keys, class_="legend"),
        element("div", chart, class_="chart"),
    )


def _worst(results: Sequence[Result]) -> Html:
    found = misses(results)
    parts: list[Html] = [element("h2", "The questions that went worst")]
    if not found:
        parts.append(element("p", "None went wrong."))
    for fault in Fault:
        parts += _listed(fault, [miss for miss in found if miss.fault is fault])
    return element("section", *parts, class_="worst")


def _listed(fault: Fault, group: Sequence[Miss]) -> list[Html]:
    if not group:
        return []
    shown = [article(miss) for miss in group[:SHOWN]]
    if len(group) > SHOWN:
        shown.append(element("p", f"… and {len(group) - SHOWN} more."))
    title = f"{fault.value[0].upper()}{fault.value[1:]} ({len(group)})"
    return [element("h3", title), *shown]


def _tables(figures: dict[str, Any]) -> Html:
    lines = element("ul", *(element("li", line) for line in summary(figures)))
    return element("section", element("h2", "All figures"), *map(_table, tables(figures)), lines)


def _table(table: Table) -> Html:
    heads = [element("th", name, scope="col") for name in table.columns]
    rows = [
        element(
            "tr", element("th", row[0], scope="row"), *(element("td", cell) for cell in row[1:])
        )
        for row in table.rows
    ]
    drawn = element(
        "table",
        element("caption", table.caption),
        element("thead", element("tr", *heads)),
        element("tbody", *rows),
    )
    return element(
        "div", drawn, class_="scroll", tabindex="0", role="region", aria_label=table.caption
    )
