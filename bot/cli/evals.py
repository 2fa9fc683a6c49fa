"""`belay eval`: figures on labelled questions, as tables, as JSON and as an HTML report."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import typer

from bot.errors import SettingsError, StorageError
from bot.settings import Settings
from bot.terminal import Terminal

_USAGE = (
    "belay eval QUESTIONS.jsonl --docs DIR, belay eval types FILE.jsonl, "
    "belay eval followups FILE.jsonl [--docs DIR], or belay eval access DIR CASES.jsonl"
)
_FAILED = 1
_SUBJECTS = ("types", "followups")  # measured without asking the questions


@dataclass(frozen=True, slots=True)
class Files:
    """Where the figures also go."""

    json: Path | None = None
    report: Path | None = None


async def evaluate(
    settings: Settings, terminal: Terminal, words: Sequence[str], docs: Path | None, files: Files
) -> None:
    if words[0] == "access" and len(words) == 3:  # noqa: PLR2004 - and a folder, and a file
        await _access(settings, terminal, Path(words[1]), Path(words[2]), files)
        return
    subject = words[0] if len(words) == 2 and words[0] in _SUBJECTS else ""  # noqa: PLR2004 - and a file
    if not subject and (len(words) != 1 or docs is None):
        missing = "it needs --docs" if len(words) == 1 else "these words are not understood"
        raise SettingsError(f"belay eval {' '.join(words)}: {missing}", f"use {_USAGE}")
    if subject and files.report is not None:
        raise SettingsError(
            f"belay eval {subject} makes no --report.", "leave it out, or use --json"
        )
    await asyncio.to_thread(_check_folders, files)
    path = Path(words[-1])
    if subject == "types":
        figures = await _types(settings, terminal, path)
    elif subject == "followups" or docs is None:
        figures = await _followups(settings, terminal, path, docs)
    else:
        figures = await _questions(settings, terminal, path, docs, files.report)
    await _kept(figures, terminal, files)


async def _kept(figures: dict[str, Any], terminal: Terminal, files: Files) -> None:
    if files.json is not None:
        text = json.dumps(figures, ensure_ascii=False, indent=2)
        await asyncio.to_thread(_write, files.json, text + "\n")
        terminal.note(f"written: {files.json}")


async def _access(
    settings: Settings, terminal: Terminal, folder: Path, cases: Path, files: Files
) -> None:
    """Ends with code 1 when anything was shown to somebody who may not see it."""
    from bot.evals.access import access_report, access_table, play_all

    if files.report is not None:
        raise SettingsError("belay eval access makes no --report.", "leave it out, or use --json")
    await asyncio.to_thread(_check_folders, files)
    figures = access_report(await play_all(settings, folder, cases, terminal.progress()))
    table = access_table(figures)
    terminal.table(table.columns, table.rows)
    for item in figures["wrong"]:
        line = f"{item['id']} ({item['category']}): {item['question']} -> {item['outcome']}"
        terminal.plain(line)
    for item in figures["leaked"]:
        terminal.note(f"leaked in {item['id']}: {', '.join(item['leaks'])}")
    await _kept(figures, terminal, files)
    if figures["leaked"]:
        raise typer.Exit(_FAILED)


async def _types(settings: Settings, terminal: Terminal, path: Path) -> dict[str, Any]:
    from bot.evals.tables import share
    from bot.evals.types import types_report
    from bot.registry import factory

    figures = await types_report(path, factory("embedder.builtin")())
    rows = [("all", figures["n"], figures["accuracy"])]
    for group in ("by_type", "by_lang"):
        rows += [(name, block["n"], block["accuracy"]) for name, block in figures[group].items()]
    cells = [(name, str(n), share(value)) for name, n, value in rows]
    terminal.table(("query type", "n", "accuracy"), cells)
    return figures


async def _followups(
    settings: Settings, terminal: Terminal, path: Path, docs: Path | None
) -> dict[str, Any]:
    from bot.evals.conversations import load_conversations
    from bot.evals.followups import followups_report, followups_table, resolve_all
    from bot.evals.run import CountedWeb, scratch, without_documents

    rows = load_conversations(path)
    web, progress = CountedWeb(), terminal.progress()
    opening = scratch(settings, docs, web, progress) if docs else without_documents(settings, web)
    async with opening as app:
        results = await resolve_all(app, rows, progress, search=docs is not None)
    figures = followups_report(results)
    table = followups_table(figures)
    terminal.table(table.columns, table.rows)
    for item in figures["wrong"]:
        terminal.plain(f"{item['id']} ({item['kind']}): {item['last']} -> {item['resolved']}")
    return figures


async def _questions(
    settings: Settings, terminal: Terminal, path: Path, docs: Path, report_file: Path | None
) -> dict[str, Any]:
    from bot.evals.html import About, page
    from bot.evals.report import report
    from bot.evals.rows import load_rows
    from bot.evals.run import CountedWeb, ask_all, scratch
    from bot.evals.tables import summary, tables

    rows = load_rows(path)
    web, progress = CountedWeb(), terminal.progress()
    async with scratch(settings, docs, web, progress) as app:
        results = await ask_all(app, rows, web, progress)
        policy, model, embedder = app.machine.policy, app.model, app.embedder.name
    figures = report(results, policy)
    for table in tables(figures):
        terminal.table(table.columns, table.rows)
    for line in summary(figures):
        terminal.plain(line)
    if report_file is not None:
        about = About(
            questions=path.name,
            documents=docs.name or str(docs),
            embedder=embedder,
            model=model.name if model else "",
            policy=policy,
            made_at=datetime.now(UTC),
        )
        await asyncio.to_thread(_write, report_file, page(results, figures, about))
        terminal.note(f"written: {report_file}")
    return figures


def _check_folders(files: Files) -> None:
    """Minutes of measuring should not end in a file that cannot be written."""
    for option, file in (("--json", files.json), ("--report", files.report)):
        if file is not None and (file.is_dir() or not file.parent.is_dir()):
            raise SettingsError(
                f"{option}: {str(file)!r} cannot be written.", "name a file in an existing folder"
            )


def _write(file: Path, text: str) -> None:
    try:
        file.write_text(text, encoding="utf-8", errors="replace")
    except OSError as error:
        raise StorageError(
            f"{str(file)!r} cannot be written: {error.strerror or error}.",
            "name a file in a folder that can be written to",
        ) from None
