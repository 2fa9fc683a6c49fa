"""`belay audit`: who asked what, where, what was found for it, and how it ended."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

from bot.audit import AuditQuery, AuditRecord
from bot.audit_rows import FORMATS, export, row
from bot.auditor import open_audit
from bot.chat import Place
from bot.cli.output import to_json
from bot.errors import SettingsError
from bot.settings import Settings
from bot.terminal import Terminal
from bot.votes import Tallies, Tally, tallies
from graph.model import Outcome

SHOWN = 50  # questions, unless told otherwise; a file gets all
NOTHING = "No such questions were asked."
_QUESTION = 100  # characters of a question in a table
_AGO = re.compile(r"(\d{1,5})\s?([mhdw])")
_UNITS = {"m": "minutes", "h": "hours", "d": "days", "w": "weeks"}
_CHAT = re.compile(r":(?:chat|shared)$")


@dataclass(frozen=True, slots=True)
class Wanted:
    """The options as they were typed; what is empty does not narrow."""

    since: str = ""
    person: str = ""
    place: str = ""
    outcomes: tuple[str, ...] = ()
    contains: str = ""
    limit: int | None = None

    def query(self, now: datetime) -> AuditQuery:
        """Raises SettingsError, naming the option."""
        return AuditQuery(
            moment(self.since, now) if self.since else None,
            self.person.strip(),
            _CHAT.sub("", self.place.strip()),
            frozenset(_outcome(value) for value in self.outcomes),
            self.contains,
            self.limit,
        )


async def audit(
    settings: Settings, terminal: Terminal, wanted: Wanted, file: Path | None, as_json: bool
) -> None:
    if file is not None and file.suffix.lower() not in FORMATS:
        raise SettingsError(f"--export {str(file)!r}", f"end the name in {' or '.join(FORMATS)}")
    query = wanted.query(datetime.now(UTC))
    found = await open_audit(settings.home, settings.audit).find(query)
    votes = await tallies(settings.home)
    rows = [row(record, votes.get(record.question_id, Tally())) for record in found]
    if file is not None:
        export(file, rows)
        terminal.note(f"{len(rows)} questions written to {file}")
    elif as_json:
        terminal.plain(to_json(rows))
    elif found:
        _show(terminal, found[: query.limit or SHOWN], votes)
        if query.limit is None and len(found) > SHOWN:
            terminal.note(f"{SHOWN} of {len(found)}: --limit shows more, --export writes all")
    else:
        terminal.note(NOTHING)


def moment(text: str, now: datetime) -> datetime:
    """What "24h", "7d", "2026-11-30" or "2026-11-30T18:00" means; a time without a zone is local.

    Raises SettingsError.
    """
    text = text.strip()
    if ago := _AGO.fullmatch(text):
        return now - timedelta(**{_UNITS[ago[2]]: int(ago[1])})
    try:
        found = datetime.fromisoformat(text)
        return found.astimezone(UTC)
    except (ValueError, OverflowError):
        raise SettingsError(
            f"--since {text!r} is no time", "write 90m, 24h, 7d, 2026-11-30 or 2026-11-30T18:00"
        ) from None


def where(place: Place) -> str:
    """A place in words, without the name or id of a person."""
    if place.platform == "console":
        return "terminal"
    if place.kind == "private":
        return f"{place.platform}, in private"
    return one_line(place.title) or f"{place.platform}:{place.id}"


def one_line(text: str) -> str:
    """Text of strangers for a terminal: no line breaks, and nothing that steers it."""
    return " ".join("".join(ch if ch.isprintable() else " " for ch in text).split())


def _outcome(value: str) -> Outcome:
    try:
        return Outcome(value.strip().lower().replace("-", "_"))
    except ValueError:
        known = ", ".join(Outcome)
        raise SettingsError(f"--outcome {value!r} is no outcome", f"one of: {known}") from None


def _show(terminal: Terminal, found: list[AuditRecord], votes: Tallies) -> None:
    columns = ("when", "who", "where", "outcome", "top", "ms", "votes", "question")
    rows = [
        (
            record.at.astimezone().strftime("%Y-%m-%d %H:%M"),
            record.person,
            where(record.place),
            record.outcome.value,
            f"{record.relevance:.2f}",
            f"{record.milliseconds:.0f}",
            str(votes.get(record.question_id, "")),
            _cut(one_line(record.question)),
        )
        for record in found
    ]
    terminal.table(columns, rows)


def _cut(text: str) -> str:
    return text if len(text) <= _QUESTION else f"{text[:_QUESTION]}…"
