"""Votes joined to the questions that they are about."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from bot.feedback import FEEDBACK_FILE, KEPT, Feedback, FeedbackLog, Vote
from bot.registry import factory


@dataclass(frozen=True, slots=True)
class Tally:
    """How many people found an answer good and bad."""

    up: int = 0
    down: int = 0

    def __str__(self) -> str:
        parts = [f"+{self.up}"] if self.up else []
        return " ".join([*parts, f"-{self.down}"] if self.down else parts)


Tallies = Mapping[str, Tally]
"""By question id; questions that nobody voted on are not in it."""


def counted(votes: Iterable[Feedback]) -> Tallies:
    found: dict[str, Tally] = defaultdict(Tally)
    for vote in votes:
        old = found[vote.question_id]
        good = vote.vote is Vote.UP
        found[vote.question_id] = Tally(old.up + good, old.down + (not good))
    return dict(found)


async def tallies(home: Path) -> Tallies:
    """Of all votes that are kept. Raises StorageError."""
    log: FeedbackLog = factory("feedback.sqlite")(home / FEEDBACK_FILE)
    return counted(await log.recent(KEPT))
