"""An event while the desk works on it."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from enum import StrEnum

from bot.delivery import LeaseLost, TrackedConversation
from bot.errors import AnswerRefused, DeliveryFailed, PlatformGone, StorageError
from bot.meter import Trouble
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


_TROUBLES: tuple[tuple[type[Exception], Trouble], ...] = (
    (PlatformGone, Trouble.GONE),
    (AnswerRefused, Trouble.REFUSED),
    (DeliveryFailed, Trouble.UNREACHABLE),
    (StorageError, Trouble.STORAGE),
)


def trouble_of(error: Exception) -> Trouble | None:
    """None when another worker goes on with the event."""
    if isinstance(error, LeaseLost):
        return None
    return next((word for kind, word in _TROUBLES if isinstance(error, kind)), Trouble.UNEXPECTED)


def cause(raised: Exception) -> Exception:
    """The one exception inside the groups that task groups wrap around it."""
    while isinstance(raised, ExceptionGroup) and len(raised.exceptions) == 1:
        raised = raised.exceptions[0]
    return raised
