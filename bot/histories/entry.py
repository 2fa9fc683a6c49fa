"""What every history is made of: a message, who said it, and where it may be recalled."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from hashlib import blake2b

from bot.ingest.secrets import mask
from bot.sessions import Role, SessionTurn
from graph.followup import cut
from graph.model import Document, Scope

CHARACTERS = 4000  # of one message; more is cut in the middle


@dataclass(frozen=True, slots=True)
class Entry:
    """A message of a history. `talk` is as bot/access.py names it, "slack:C012AB3CD:chat"."""

    talk: str
    person: str  # their key, "slack:U012AB3CD"
    text: str
    at: datetime
    thread: str = ""
    role: Role = "message"
    link: str = ""
    behind: tuple[Document, ...] = ()
    answers: int = -1  # the place of the question among the entries, for an answer of the bot


def turns_of(entries: Iterable[Entry], tenant: str) -> list[SessionTurn]:
    """The turns of a history, secrets masked. Reading it again gives the same ids."""
    turns: list[SessionTurn] = []
    for entry in entries:
        platform, place, _ = entry.talk.split(":", 2)
        question = turns[entry.answers].id if entry.answers >= 0 else ""
        name = _name(entry)
        turns.append(
            SessionTurn(
                name,
                entry.role,
                f"{platform}:{place}:{entry.thread}",
                entry.talk,
                turns[entry.answers].person if question else entry.person,
                mask(cut(entry.text, CHARACTERS)),
                entry.at,
                question_id=question or (name if entry.role == "question" else ""),
                scope=Scope(tenant=tenant, now=entry.at, place=entry.talk),
                verified=entry.role == "answer" and bool(entry.behind),
                behind=entry.behind,
                link=entry.link,
            )
        )
    return turns


def _name(entry: Entry) -> str:
    parts = (entry.talk, entry.thread, entry.person, entry.at.isoformat(), entry.text)
    return blake2b("\x1f".join(parts).encode(), digest_size=12).hexdigest()
