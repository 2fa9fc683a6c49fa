"""What `belay eval` reports, as plain data: the same numbers for the terminal and for --json."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from bot.evals.metrics import all_parts_at, any_part_at, auroc, quantile, share
from bot.evals.run import Result
from graph.model import Outcome
from graph.policy import Policy

Block = dict[str, Any]


def report(results: Sequence[Result], policy: Policy) -> Block:
    """All figures. Recall is over answerable questions, by document.

    `recall_at_k`: a row counts when any document that holds one of its facts is among the first
    k; `all_parts_at_8`: all its facts are. AUROC compares fully answerable questions with
    unanswerable ones by the answerability score.
    """
    answerable = [item for item in results if item.row.answerable]
    single = [item for item in answerable if len(item.row.parts) == 1 and item.row.full]
    return {
        "overall": _recall(answerable),
        "single_document": _recall(single),
        "by_category": _by(answerable, lambda item: item.row.category),
        "by_lang": _by(answerable, lambda item: item.row.lang),
        "auroc": _auroc(results),
        "passing": _passing(results, policy),
        "outcomes": _outcomes(results),
        "types": _types(results),
        "gate": _gate(results),
        "model_calls": _model_calls(results),
        "web_calls_on_answerable": sum(item.web_calls for item in answerable),
        "web_calls_by_category": {
            name: sum(item.web_calls for item in group)
            for name, group in _grouped(answerable, lambda item: item.row.category).items()
        },
        "ms": {
            "p50": quantile([item.trace.total_ms for item in results], 0.5),
            "p99": quantile([item.trace.total_ms for item in results], 0.99),
        },
    }


def _recall(results: Sequence[Result]) -> Block:
    def found(check: Callable[..., bool], k: int) -> float | None:
        return share([check(item.row.parts, item.ranking, k) for item in results])

    return {
        "n": len(results),
        "recall_at_1": found(any_part_at, 1),
        "recall_at_5": found(any_part_at, 5),
        "all_parts_at_8": found(all_parts_at, 8),
    }


def _by(results: Sequence[Result], key: Callable[[Result], str]) -> Block:
    return {name: _recall(group) for name, group in _grouped(results, key).items()}


def _grouped(results: Iterable[Result], key: Callable[[Result], str]) -> dict[str, list[Result]]:
    groups: dict[str, list[Result]] = {}
    for item in results:
        if key(item):
            groups.setdefault(key(item), []).append(item)
    return dict(sorted(groups.items()))


def score(item: Result) -> float:
    """Answerability, which orders questions; the lowest there is when nothing was looked up."""
    value = item.trace.answerability
    return float("-inf") if value is None else value


def _auroc(results: Sequence[Result]) -> Block:
    positive = [score(item) for item in results if item.row.full]
    unanswerable = [item for item in results if not item.row.answerable]
    figures: Block = {"all": auroc(positive, [score(item) for item in unanswerable])}
    for name, group in _grouped(unanswerable, lambda item: item.row.category).items():
        figures[name] = auroc(positive, [score(item) for item in group])
    return figures


def _passing(results: Sequence[Result], policy: Policy) -> Block:
    """The share of questions whose best passage reaches each threshold, by category."""
    lines = {
        "floor": policy.floor,
        "synthesis": policy.synthesis,
        "analytical": policy.analytical,
        "factual": policy.factual,
        "certain": policy.certain,
    }
    figures: Block = {}
    for name, line in lines.items():
        figures[name] = {"threshold": line}
        for group, items in _passing_groups(results).items():
            figures[name][group] = share([item.trace.relevance >= line for item in items])
    return figures


def _passing_groups(results: Sequence[Result]) -> dict[str, list[Result]]:
    groups = {
        "answerable": [item for item in results if item.row.answerable],
        "unanswerable": [item for item in results if not item.row.answerable],
    }
    groups |= _grouped(results, lambda item: item.row.category)
    return {name: items for name, items in groups.items() if items}


def _outcomes(results: Sequence[Result]) -> Block:
    answerable = [item for item in results if item.row.answerable]
    unanswerable = [item for item in results if not item.row.answerable]
    return {
        "answerable": _count(answerable),
        "unanswerable": _count(unanswerable),
        "by_category": {
            name: _count(group)
            for name, group in _grouped(results, lambda item: item.row.category).items()
        },
        "false_answers": share([is_answered(item) for item in unanswerable]),
        "false_refusals": share([item.answer.outcome is Outcome.NOT_FOUND for item in answerable]),
    }


def is_answered(item: Result) -> bool:
    return item.answer.outcome is Outcome.ANSWERED


def _count(results: Sequence[Result]) -> Block:
    return dict(sorted(Counter(item.answer.outcome.value for item in results).items()))


def _types(results: Sequence[Result]) -> Block:
    typed = [item for item in results if item.row.type and item.trace.query_type]
    return {
        "n": len(typed),
        "accuracy": share([item.row.type == item.trace.query_type for item in typed]),
    }


def _gate(results: Sequence[Result]) -> Block:
    """Questions that a release may not get wrong, and the ids of those it did."""
    answer = [item for item in results if item.row.gate == "must_answer"]
    abstain = [item for item in results if item.row.gate == "must_abstain"]
    return {
        "must_answer": len(answer),
        "must_abstain": len(abstain),
        "failed": [item.row.id for item in answer if not is_right(item)]
        + [item.row.id for item in abstain if is_answered(item)],
    }


def is_right(item: Result) -> bool:
    """Answered, and at least one citation is from a document that holds a needed fact."""
    cited = {citation.passage.document for citation in item.answer.citations}
    return is_answered(item) and any(part.documents & cited for part in item.row.parts)


def _model_calls(results: Sequence[Result]) -> Block:
    counts = [len(item.trace.calls) for item in results]
    return {
        "total": sum(counts),
        "max": max(counts, default=0),
        "tokens": sum(
            call.prompt_tokens + call.completion_tokens
            for item in results
            for call in item.trace.calls
        ),
    }
