"""`belay gaps`: what the documents lack, by what was asked."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from bot.audit import AuditQuery
from bot.auditor import open_audit
from bot.cli.audit import moment, one_line, where
from bot.cli.output import to_json
from bot.gaps import Gap
from bot.gaps import gaps as found_in
from bot.registry import factory
from bot.settings import Settings
from bot.terminal import Terminal
from bot.votes import tallies
from graph.ports import Embedder

NOTHING = "Nothing is missing that was asked for."
_OTHERS = 3  # wordings that are shown beside the first
_INDENT = " " * 6


async def gaps(
    settings: Settings, terminal: Terminal, since: str, limit: int, as_json: bool
) -> None:
    query = AuditQuery(since=moment(since, datetime.now(UTC)) if since else None)
    records = await open_audit(settings.home, settings.audit).find(query)
    votes = await tallies(settings.home)
    embedder: Embedder = factory("embedder.builtin")()
    found = await found_in(records, votes, embedder)
    if as_json:
        terminal.plain(to_json([_plain(gap) for gap in found[:limit]]))
        return
    for gap in found[:limit]:
        for line in _lines(gap):
            terminal.plain(line)
    if len(found) > limit:
        terminal.note(f"{limit} of {len(found)} gaps: --limit shows more")
    if not found:
        terminal.note(NOTHING)


def _lines(gap: Gap) -> list[str]:
    reasons = ", ".join(f"{count} {reason.replace('_', ' ')}" for reason, count in gap.reasons)
    people = f"{gap.people} {'person' if gap.people == 1 else 'people'}"
    lines = [
        f"{gap.count:>4}× {one_line(gap.question)}",
        *(f"{_INDENT}also: {one_line(other)}" for other in gap.others[:_OTHERS]),
        f"{_INDENT}{reasons}; {people} in {', '.join(_places(gap))}; last on {_day(gap.newest)}",
    ]
    if gap.documents:
        nearest = ", ".join(f"{name} ({relevance:.2f})" for name, relevance in gap.documents)
        lines.append(f"{_INDENT}nearest: {nearest}")
    return lines


def _places(gap: Gap) -> list[str]:
    return list(dict.fromkeys(where(place) for place in gap.places))


def _day(at: datetime) -> str:
    return at.astimezone().date().isoformat()


def _plain(gap: Gap) -> dict[str, Any]:
    return {
        "question": gap.question,
        "others": list(gap.others),
        "count": gap.count,
        "people": gap.people,
        "reasons": dict(gap.reasons),
        "places": _places(gap),
        "documents": [
            {"document": name, "relevance": round(relevance, 4)}
            for name, relevance in gap.documents
        ],
        "newest": gap.newest,
    }
