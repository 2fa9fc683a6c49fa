"""A history as JSON lines, a session each:

{"place": "slack:C012AB3CD", "thread": "…", "at": "2026-03-02T03:00:00Z", "turns": [
    {"who": "slack:U012AB3CD", "text": "…", "at": "…", "docs": ["runbooks/failover.md"]}]}

`who` is a person's key, or "bot". `thread`, `at` of a turn and `docs` may be left out; `docs` are
the documents that a turn was drawn from, by their paths. What was said
in private has the place "slack:U012AB3CD:private", with the key of the person.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from bot.errors import SourceError
from bot.histories.entry import Entry
from graph.model import Document

BOT = "bot"
_BETWEEN = timedelta(seconds=1)  # turns of which only the session's time is known
_PLACE = 2  # colons of a place that says what it is

Resolve = Callable[[str], tuple[Document, ...]]
"""The documents of a path."""


def sessions(path: Path, resolve: Resolve) -> Iterator[list[Entry]]:
    """The sessions of a file. Raises SourceError naming the line that cannot be read."""
    with path.open(encoding="utf-8-sig") as file:
        for number, line in enumerate(file, start=1):
            if line.strip():
                try:
                    yield _session(json.loads(line), number, resolve)
                except (ValueError, KeyError, TypeError, AttributeError) as error:
                    raise SourceError(
                        f"{path.name}, line {number}, is no session: {_told(error)}.",
                        "Each line is a JSON object with place, at and turns of who and text.",
                    ) from error


def _told(error: Exception) -> str:
    """What is wrong with a line, for whoever wrote it."""
    if isinstance(error, KeyError):
        return f"{error.args[0]!r} is missing"
    return str(error) if isinstance(error, ValueError) else "its parts are not of the right kind"


def _session(row: dict[str, Any], number: int, resolve: Resolve) -> list[Entry]:
    place = str(row["place"])
    talk = place if place.count(":") == _PLACE else f"{place}:chat"
    if talk.count(":") != _PLACE:
        raise ValueError(f"{place!r} is no place such as slack:C012AB3CD")
    thread = str(row.get("thread") or row.get("id") or f"import-{number}")
    entries: list[Entry] = []
    question = -1
    for count, turn in enumerate(row["turns"]):
        said = turn.get("at")
        at = moment(said) if said else moment(row["at"]) + count * _BETWEEN
        who, answer = str(turn["who"]), turn["who"] == BOT
        entries.append(
            Entry(
                talk,
                who,
                str(turn["text"]),
                at,
                thread,
                "answer" if answer else "message",
                str(turn.get("link") or ""),
                tuple(item for path in turn.get("docs") or () for item in resolve(str(path))),
                question if answer else -1,
            )
        )
        question = count if not answer else question
    return _with_questions(entries)


def _with_questions(entries: list[Entry]) -> list[Entry]:
    """What the bot answered is a question."""
    asked = {entry.answers for entry in entries if entry.answers >= 0}
    return [
        replace(entry, role="question") if place in asked else entry
        for place, entry in enumerate(entries)
    ]


def moment(text: str) -> datetime:
    """Raises ValueError. A time without a zone is UTC."""
    found = datetime.fromisoformat(text)
    return found if found.tzinfo else found.replace(tzinfo=UTC)
