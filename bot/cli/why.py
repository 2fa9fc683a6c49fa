"""`belay why`: how an answer came about."""

from __future__ import annotations

import json
import re
from typing import Any

from bot.auditor import TERMINAL, TERMINAL_PLACE, Auditor, open_audit
from bot.cli.output import to_json
from bot.errors import SourceError
from bot.settings import Settings
from bot.terminal import Terminal
from bot.traces import TraceLog

_ID = re.compile(r"[0-9a-f]{12}")


async def why(settings: Settings, terminal: Terminal, question: str, as_json: bool) -> None:
    trace = await _trace(settings, question)
    if as_json:
        terminal.plain(to_json(trace))
        return
    for line in head_lines(trace):
        terminal.plain(line)
    _candidates(terminal, trace)
    for line in tail_lines(trace):
        terminal.plain(line)


async def _trace(settings: Settings, question: str) -> dict[str, Any]:
    log = TraceLog(settings.home)
    if not question:
        found = await log.last()
        if found is None:
            raise SourceError("Nothing was asked yet.", 'Try: belay why "your question"')
        return found
    if _ID.fullmatch(question):
        found = await log.by_id(question)
        if found is None:
            raise SourceError(f"There is no question {question}.", "Only the last 200 are kept.")
        return found
    from bot.app import opened

    async with opened(settings) as app:
        asked = app.question(question)
        finished = await app.machine.answer(asked)
        await log.add(finished.trace)
        audit = Auditor(open_audit(settings.home, settings.audit))
        await audit(finished, asked, TERMINAL, TERMINAL_PLACE, "why")
        row: dict[str, Any] = json.loads(json.dumps(finished.trace.to_json()))
        return row


def head_lines(trace: dict[str, Any]) -> list[str]:
    lines = [
        f"question    {trace['question']}",
        f"id          {trace['question_id']}",
        f"outcome     {trace['outcome']} ({trace['language']})",
    ]
    if trace["resolved"] != trace["question"]:
        lines.append(f"resolved    {trace['resolved']}")
    if trace["query_type"]:
        shares = ", ".join(
            f"{name} {share:.2f}"
            for name, share in zip(
                ("factual", "analytical", "synthesis"), trace["probabilities"], strict=True
            )
        )
        lines.append(
            f"type        {trace['query_type']}, decided by {trace['decided_by']} ({shares})"
        )
        limits = f"relevant from {trace['threshold']:.2f}, nothing under {trace['floor']:.2f}"
        lines.append(f"thresholds  {limits}")
    if trace["verdict"]:
        lines.append(f"verdict     {trace['verdict']}: {trace['reason']}")
        spread = "-" if trace["spread"] is None else f"{trace['spread']:.3f}"
        lines.append(
            f"signals     relevance {trace['relevance']:.2f}, coverage {trace['coverage']:.2f}, "
            f"spread {spread}, unknown terms: {', '.join(trace['unknown_terms']) or 'none'}"
        )
    return lines


def _candidates(terminal: Terminal, trace: dict[str, Any]) -> None:
    rows = [
        (
            row["document"],
            row["heading"],
            "-" if row["cosine"] is None else f"{row['cosine']:.3f}",
            f"{row['bm25']:.2f}",
            f"{row['u']:.2f}",
            f"{row['relevance']:.2f}",
            f"{row['coverage']:.2f}",
            row["verdict"] + (f" (by: {row['origin']})" if row["origin"] else ""),
        )
        for row in trace["candidates"]
    ]
    if rows:
        columns = ("document", "section", "cosine", "bm25", "u", "relevance", "coverage", "verdict")
        terminal.table(columns, rows)


def tail_lines(trace: dict[str, Any]) -> list[str]:
    lines = [
        f"part        {part['text']}: {part['verdict']} ({part['query_type']}; {part['reason']})"
        for part in trace["parts"]
    ]
    query = f", sent: {trace['web_query']}" if trace["web_query"] else ""
    lines.append(f"web         {trace['web']}{query}")
    lines += [f"removed     {text!r}: {reason}" for text, reason in trace["removed"]]
    if trace["notes"]:
        lines.append(f"notes       {', '.join(trace['notes'])}")
    times = ", ".join(f"{name} {ms:.1f}" for name, ms in trace["milliseconds"])
    lines.append(f"ms          {trace['total_ms']:.1f} in all ({times})")
    tokens = sum(c["prompt_tokens"] + c["completion_tokens"] for c in trace["calls"])
    calls = ", ".join(
        f"{call['purpose']} {call['milliseconds']:.0f} ms"
        + (f" {call['error']}" if call["error"] else "")
        for call in trace["calls"]
    )
    lines.append(
        f"model calls {len(trace['calls'])}, {tokens} tokens" + (f" ({calls})" if calls else "")
    )
    return lines
