"""Who of several processes does what only one may do: schedules, syncs, indexing of sessions."""

from __future__ import annotations

from typing import Protocol


class Leadership(Protocol):
    """A lead in a task, held for some time. All methods raise StorageError."""

    async def lead(self, task: str, seconds: float) -> bool:
        """True for one process at a time: whoever asks first, or asks again while it leads, leads
        for `seconds` from now. False for the others until that time is over."""

    async def leave(self, task: str) -> None:
        """Gives the lead up early; nothing happens when this process does not have it."""
