"""`belay eval`: figures on labelled questions, as tables and as JSON."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from bot.errors import SettingsError
from bot.settings import Settings
from bot.terminal import Terminal

_USAGE = "belay eval QUESTIONS.jsonl --docs DIR, or belay eval types FILE.jsonl"


async def evaluate(
    settings: Settings,
    terminal: Terminal,
    words: Sequence[str],
    docs: Path | None,
    json_file: Path | None,
) -> None:
    if words[0] == "types" and len(words) == 2:  # noqa: PLR2004 - the word and the file
        figures = await _types(settings, terminal, Path(words[1]))
    elif len(words) == 1 and docs is not None:
        figures = await _questions(settings, terminal, Path(words[0]), docs)
    else:
        missing = "it needs --docs" if len(words) == 1 else "these words are not understood"
        raise SettingsError(f"belay eval {' '.join(words)}: {missing}", f"use {_USAGE}")
    if json_file is not None:
        text = json.dumps(figures, ensure_ascii=False, indent=2)
        await asyncio.to_thread(json_file.write_text, text + "\n", encoding="utf-8")


async def _types(settings: Settings, terminal: Terminal, path: Path) -> dict[str, Any]:
    from bot.evals.types import types_report
    from bot.registry import factory

    figures = await types_report(path, factory("embedder.builtin")())
    rows = [("all", figures["n"], figures["accuracy"])]
    for group in ("by_type", "by_lang"):
        rows += [(name, block["n"], block["accuracy"]) for name, block in figures[group].items()]
    cells = [(name, str(n), _share(value)) for name, n, value in rows]
    terminal.table(("query type", "n", "accuracy"), cells)
    return figures


async def _questions(
    settings: Settings, terminal: Terminal, path: Path, docs: Path
) -> dict[str, Any]:
    from bot.evals.report import report
    from bot.evals.rows import load_rows
    from bot.evals.run import CountedWeb, ask_all, scratch

    rows = load_rows(path)
    web, progress = CountedWeb(), terminal.progress()
    async with scratch(settings, docs, web, progress) as app:
        results = await ask_all(app, rows, web, progress)
        figures = report(results, app.machine.policy)
    _show(terminal, figures)
    return figures


def _show(terminal: Terminal, figures: dict[str, Any]) -> None:
    blocks = {"overall": figures["overall"], "single document": figures["single_document"]}
    blocks |= figures["by_category"] | {f"lang {k}": v for k, v in figures["by_lang"].items()}
    columns = ("answerable", "n", "recall@1", "recall@5", "all parts@8")
    keys = ("recall_at_1", "recall_at_5", "all_parts_at_8")
    terminal.table(
        columns,
        [(name, str(b["n"]), *(_share(b[key]) for key in keys)) for name, b in blocks.items()],
    )
    terminal.table(
        ("AUROC of answerable against", "value"),
        [(name, _share(value)) for name, value in figures["auroc"].items()],
    )
    _show_passing(terminal, figures["passing"])
    _show_outcomes(terminal, figures["outcomes"])
    for line in _summary(figures):
        terminal.plain(line)


def _show_passing(terminal: Terminal, passing: dict[str, Any]) -> None:
    groups = [name for name in next(iter(passing.values())) if name != "threshold"]
    columns = ("share passing", *(f"{name} {b['threshold']:.2f}" for name, b in passing.items()))
    rows = [(group, *(_share(block[group]) for block in passing.values())) for group in groups]
    terminal.table(columns, rows)


def _show_outcomes(terminal: Terminal, outcomes: dict[str, Any]) -> None:
    names = ("answered", "partial", "web", "not_found", "failed")
    groups = {"answerable": outcomes["answerable"], "unanswerable": outcomes["unanswerable"]}
    groups |= outcomes["by_category"]
    rows = [
        (group, *(str(counts.get(name, 0)) for name in names)) for group, counts in groups.items()
    ]
    terminal.table(("outcomes", *names), rows)


def _summary(figures: dict[str, Any]) -> list[str]:
    outcomes, gate, calls = figures["outcomes"], figures["gate"], figures["model_calls"]
    lines = [
        f"false answers {_share(outcomes['false_answers'])} of unanswerable, "
        f"false refusals {_share(outcomes['false_refusals'])} of answerable",
        f"query types {_share(figures['types']['accuracy'])} of {figures['types']['n']}",
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


def _share(value: float | None) -> str:
    return "-" if value is None else f"{value:.3f}"
