"""What people thought of answers. One vote for each person and question: the last one counts."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Protocol

FEEDBACK_FILE = "feedback.db"

KEPT = 10_000
"""Votes that a log keeps by default; the oldest go."""


class Vote(StrEnum):
    UP = "up"
    DOWN = "down"


@dataclass(frozen=True, slots=True)
class Feedback:
    question_id: str
    person: str  # their key, "telegram:42"
    vote: Vote
    at: datetime


class FeedbackLog(Protocol):
    """Keeps a bounded number of votes. All methods raise StorageError."""

    async def save(self, feedback: Feedback) -> None:
        """Replaces an earlier vote of the same person on the same question."""

    async def of(self, question_id: str) -> list[Feedback]:
        """The votes on one question, by person."""

    async def recent(self, limit: int) -> list[Feedback]:
        """The last `limit` votes, newest first."""

    async def forget(self, person: str) -> int:
        """Deletes the votes of `person`; how many they were."""
