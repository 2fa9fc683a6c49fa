"""The figures of an evaluation as sentences and tables, for the terminal and the HTML report."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

OUTCOMES = ("answered", "partial", "web", "not_found", "failed")


@dataclass(frozen=True, slots=True)
class Table:
    """`columns` and every row have the same length; the first cell names the row."""

    caption: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


def tables(figures: dict[str, Any]) -> list[Table]:
    """`figures` as bot/evals/report.py makes them."""
    return [
        _recall(figures),
        _auroc(figures["auroc"]),
        _passing(figures["passing"]),
        _outcomes(figures["outcomes"]),
    ]


def summary(figures: dict[str, Any]) -> list[str]:
    outcomes, gate, calls = figures["outcomes"], figures["gate"], figures["model_calls"]
    lines = [
        f"false answers {share(outcomes['false_answers'])} of unanswerable, "
        f"false refusals {share(outcomes['false_refusals'])} of answerable",
        f"query types {share(figures['types']['accuracy'])} of {figures['types']['n']}",
        f"web calls on answerable questions {figures['web_calls_on_answerable']}",
        f"model calls {calls['total']}, at most {calls['max']} a question, "
        f"{calls['tokens']} tokens",
        f"milliseconds p50 {figures['ms']['p50']:.1f}, p99 {figures['ms']['p99']:.1f}",
    ]
    if gate["must_answer"] or gate["must_abstain"]:
        failed = ", ".join(gate["failed"]) or "none"
        lines.append(
            f"gate: {gate['must_answer']} must answer, {gate['must_abstain']} must abstain; "
            f"failed: {failed}"
        )
    return lines


def _recall(figures: dict[str, Any]) -> Table:
    blocks = {"overall": figures["overall"], "single document": figures["single_document"]}
    blocks |= figures["by_category"] | {f"lang {k}": v for k, v in figures["by_lang"].items()}
    keys = ("recall_at_1", "recall_at_5", "all_parts_at_8")
    return Table(
        "Is the right document found?",
        ("answerable", "n", "recall@1", "recall@5", "all parts@8"),
        tuple((name, str(b["n"]), *(share(b[key]) for key in keys)) for name, b in blocks.items()),
    )


def _auroc(values: dict[str, float | None]) -> Table:
    return Table(
        "Do answerable questions score higher than these?",
        ("AUROC of answerable against", "value"),
        tuple((name, share(value)) for name, value in values.items()),
    )


def _passing(passing: dict[str, Any]) -> Table:
    groups = [name for name in next(iter(passing.values())) if name != "threshold"]
    return Table(
        "How many reach each threshold?",
        ("share passing", *(f"{name} {b['threshold']:.2f}" for name, b in passing.items())),
        tuple((group, *(share(block[group]) for block in passing.values())) for group in groups),
    )


def _outcomes(outcomes: dict[str, Any]) -> Table:
    groups = {"answerable": outcomes["answerable"], "unanswerable": outcomes["unanswerable"]}
    groups |= outcomes["by_category"]
    return Table(
        "How did the questions end?",
        ("outcomes", *OUTCOMES),
        tuple(
            (group, *(str(counts.get(name, 0)) for name in OUTCOMES))
            for group, counts in groups.items()
        ),
    )


def share(value: float | None) -> str:
    return "-" if value is None else f"{value:.3f}"
