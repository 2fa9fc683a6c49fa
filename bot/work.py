"""An event while the desk works on it."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol

from bot.chat import Incoming
from bot.delivery import LeaseLost, TrackedConversation
from bot.errors import AnswerRefused, DeliveryFailed, PlatformGone, StorageError
from bot.meter import Trouble
from bot.pending import Joining, continues, lane
from bot.ports import Conversation, Taken


class Ending(StrEnum):
    """Why the desk cut an event's work short."""

    STOPPED = "stopped"  # by the asker
    JOINED = "joined"  # what its asker forwarded belongs to it
    LOST = "lost"  # another worker has it
    DRAINED = "drained"  # the process ends


class Handler(Protocol):
    """What is done about an event: `conversation.answer` at most once, `say` at will.

    `late` marks a question that waited too long: the answer says so. `attempt` counts from 1.
    Exceptions are the desk's business; a cancelled handler cleans up and lets it through.
    """

    async def __call__(
        self, event: Incoming, conversation: Conversation, attempt: int, *, late: bool
    ) -> None: ...


@dataclass(slots=True, eq=False)
class Work:
    taken: Taken
    conversation: TrackedConversation
    task: asyncio.Task[None] | None = None
    ending: Ending | None = None

    @property
    def sending(self) -> bool:
        return self.conversation.journal.sending > 0

    def takes(self, forward: Incoming, rule: Joining) -> bool:
        """Whether what was forwarded belongs to this question, and nothing of its answer is on the
        way yet."""
        event = self.taken.event
        beside = lane(event) == lane(forward) and continues(event, forward, rule.forwards)
        return beside and not self.conversation.journal.begun

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
