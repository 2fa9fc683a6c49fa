"""An event while the desk works on it."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from enum import StrEnum

from bot.delivery import TrackedConversation
from bot.ports import Taken


class Ending(StrEnum):
    """Why the desk cut an event's work short."""

    STOPPED = "stopped"  # by the asker
    LOST = "lost"  # another worker has it
    DRAINED = "drained"  # the process ends


@dataclass(slots=True, eq=False)
class Work:
    taken: Taken
    conversation: TrackedConversation
    task: asyncio.Task[None] | None = None
    ending: Ending | None = None

    @property
    def sending(self) -> bool:
        return self.conversation.journal.sending > 0

    def end(self, ending: Ending) -> None:
        if self.ending is None and self.task is not None:
            self.ending = ending
            self.task.cancel()
