"""Threads that the bot takes part in: after one mention, later messages need no other."""

from __future__ import annotations

from datetime import timedelta
from typing import Protocol

from bot.chat import Place

LIFE = timedelta(days=14)
"""How long a thread is followed after the last mention."""

KEPT = 10_000
"""Threads that are followed at a time; those that were mentioned longest ago go first."""


class FollowedThreads(Protocol):
    """A bounded list of threads by conversation, shared by the processes of one data folder.

    All methods raise StorageError.
    """

    async def follow(self, place: Place) -> None:
        """The bot was mentioned here: it listens from now on, for another `LIFE`."""

    async def mute(self, place: Place) -> None:
        """The bot listens here no more, until it is mentioned again."""

    async def follows(self, place: Place) -> bool:
        """Whether what is said here without a mention is said to the bot."""
