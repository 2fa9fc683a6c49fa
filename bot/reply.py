"""An Answer as one canonical Markdown text: what every platform renders in its own way."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta

from bot.texts import text
from graph.model import Answer, Citation, Language, Passage, SourceType
from graph.phrases import say

_WORD = re.compile(r"\w+")


def to_markdown(answer: Answer, *, stale_days: int = 365, now: datetime | None = None) -> str:
    """The answer's text, its confidence, and the list of its sources with owner and age."""
    pieces = [answer.text.strip()]
    pieces += [f"*{say(note, answer.language)}*" for note in answer.notes]
    if answer.citations:
        pieces.append(_sources(answer, stale_days, now or datetime.now(UTC)))
    return "\n\n".join(piece for piece in pieces if piece)


def _sources(answer: Answer, stale_days: int, now: datetime) -> str:
    language = answer.language
    head = text("sources", language)
    if answer.confidence is not None:
        head += f" · {text('confidence', language).lower()}: {text(answer.confidence, language)}"
    lines = [f"**{head}**", ""]
    lines += [f"- {source_line(item, language, stale_days, now)}" for item in answer.citations]
    return "\n".join(lines)


def source_line(citation: Citation, language: Language, stale_days: int, now: datetime) -> str:
    """`[1] Title › Heading — path:12 (updated 2026-05-01, owner payments)`."""
    passage = citation.passage
    heading = [part for part in passage.heading if _words(part) != _words(passage.title)]
    title = " › ".join([passage.title, *heading])
    place = passage.uri or passage.document
    if passage.source_type is SourceType.SESSION:
        return f"[{citation.number}] {_said(passage, language)}"
    if passage.source_type is SourceType.WEB:
        return f"[{citation.number}] {title} — {place} ({text('web', language)})"
    facts: list[str] = []
    if passage.updated_at is not None:
        facts.append(text("updated", language, date=passage.updated_at.date().isoformat()))
        if now - passage.updated_at > timedelta(days=stale_days):
            facts.append(text("stale", language))
    if passage.owner:
        facts.append(text("owner", language, owner=passage.owner))
    if passage.also_at:
        facts.append(text("also_at", language, places=", ".join(passage.also_at)))
    tail = f" ({', '.join(facts)})" if facts else ""
    return f"[{citation.number}] {title} — {place}{tail}"


def _said(passage: Passage, language: Language) -> str:
    """When it was said, with the way there where the platform has one."""
    date = passage.updated_at.date().isoformat() if passage.updated_at else "?"
    line = text("said_before", language, date=date)
    return f"{line} — {passage.uri}" if passage.uri else line


def _words(heading: str) -> list[str]:
    """What two spellings of one heading share: `Backups - db` and `Backups: DB`."""
    return _WORD.findall(heading.casefold())
