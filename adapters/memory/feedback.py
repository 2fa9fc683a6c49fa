"""Votes in memory: for tests, and for a bot without a data folder."""

from __future__ import annotations

from bot.feedback import KEPT, Feedback, FeedbackLog


class MemoryFeedback(FeedbackLog):
    def __init__(self, kept: int = KEPT) -> None:
        self._votes: dict[tuple[str, str], Feedback] = {}
        self._kept = kept

    async def save(self, feedback: Feedback) -> None:
        key = (feedback.question_id, feedback.person)
        self._votes.pop(key, None)
        self._votes[key] = feedback
        while len(self._votes) > self._kept:
            del self._votes[next(iter(self._votes))]

    async def of(self, question_id: str) -> list[Feedback]:
        votes = (vote for vote in self._votes.values() if vote.question_id == question_id)
        return sorted(votes, key=lambda vote: vote.person)

    async def recent(self, limit: int) -> list[Feedback]:
        return list(reversed(self._votes.values()))[:limit]

    async def forget(self, person: str) -> int:
        gone = [key for key, vote in self._votes.items() if vote.person == person]
        for key in gone:
            del self._votes[key]
        return len(gone)
