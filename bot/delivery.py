"""The way of an answer out of the house: kept first, then sent once, whatever dies in between.

No messenger accepts a key that makes sending twice harmless. So each call that shows something
is marked before it goes out and again when the platform confirmed it. A process that finds a mark
without its confirmation cannot know whether the message was shown: it sends that part not again,
and says instead that sending was interrupted. What remains is one call in flight per answer: when
the process dies between the mark and the platform's acceptance, the asker gets that sentence in
place of the part. No part is ever sent twice.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from enum import StrEnum
from typing import Protocol, runtime_checkable

from bot.chat import Incoming, Reply
from bot.errors import DeliveryFailed, PlatformGone
from bot.pending import Joining, language_of
from bot.ports import Conversation, Inbox, Taken
from graph.model import Language

_INTERRUPTED: dict[Language, str] = {
    "en": "I was interrupted while sending this answer. "
    "If you do not see all of it, please ask again.",
    "ru": "Отправка этого ответа прервалась. Если вы видите его не целиком, спросите ещё раз.",
}

CLOSING = -1
"""The part that stands for a sentence in place of an answer; answers count from 0."""


class LeaseLost(Exception):
    """Another worker has the event by now: this one must not show anything more."""


class PartState(StrEnum):
    OPEN = "open"  # not shown: send it
    SENT = "sent"  # the platform confirmed it
    UNCERTAIN = "uncertain"  # begun and never confirmed


class Outbox(Protocol):
    """What was said, or begun to be said, to each event. All methods raise StorageError."""

    async def keep(self, taken: Taken, reply: Reply) -> Reply:
        """Keeps the answer to an event and returns the one that counts: an earlier one, if there
        is one. A Reply read back has no `answer`. Raises LeaseLost."""

    async def kept(self, taken: Taken) -> Reply | None: ...

    async def begin(self, taken: Taken, part: int) -> PartState:
        """OPEN marks the part as begun, and it is to be sent now. Raises LeaseLost."""

    async def end(self, taken: Taken, part: int, *, sent: bool) -> None:
        """What became of a begun part: shown, or certainly not. The lease does not matter."""


class Mailbox(Inbox, Outbox, Protocol):
    """Both directions in one store, so that they agree after a crash."""

    async def join(self, taken: Taken, rule: Joining) -> Taken:
        """Takes the waiting pieces of a long paste into the event: one question, answered once.
        Returns `taken` when there are none or the lease is lost."""

    async def close(self) -> None: ...


class Journal:
    """The parts of one answer. Platforms that send an answer in several calls mark each."""

    def __init__(self, outbox: Outbox, taken: Taken) -> None:
        self._outbox, self._taken = outbox, taken
        self.sending = 0  # calls in flight
        self.begun = False  # something was shown, or may have been
        self.uncertain = False

    @asynccontextmanager
    async def part(self, number: int) -> AsyncIterator[bool]:
        """True: send the part now, in this block and nothing else. False: it is not sent again.

        PlatformGone and DeliveryFailed mean that the part was not shown; after any other
        exception nobody knows. Waiting for a rate limit belongs before the block. Raises
        LeaseLost, StorageError.
        """
        self.begun = True
        state = await self._outbox.begin(self._taken, number)
        if state is not PartState.OPEN:
            self.uncertain |= state is PartState.UNCERTAIN and number != CLOSING
            yield False
            return
        self.sending += 1
        try:
            yield True
        except (PlatformGone, DeliveryFailed):
            await self._outbox.end(self._taken, number, sent=False)
            raise
        else:
            await self._outbox.end(self._taken, number, sent=True)
        finally:
            self.sending -= 1


@runtime_checkable
class PartedConversation(Protocol):
    """A Conversation that sends long answers in several calls and resumes after the last shown."""

    async def answer_in_parts(self, reply: Reply, journal: Journal) -> None:
        """As `answer`, each call inside `journal.part(n)`, n from 0 and equal for equal replies."""


class TrackedConversation(Conversation):
    """A platform's conversation whose answer is kept and marked. Handlers get this one.

    `answer` is called once for an event; what is said besides is not tracked.
    """

    def __init__(self, inner: Conversation, outbox: Outbox, taken: Taken) -> None:
        self._inner, self._outbox, self._taken = inner, outbox, taken
        self.journal = Journal(outbox, taken)

    async def progress(self, stage: str) -> None:
        await self._inner.progress(stage)

    async def stream(self, markdown: str) -> None:
        await self._inner.stream(markdown)

    async def say(self, reply: Reply) -> None:
        await self._inner.say(reply)

    async def answer(self, reply: Reply) -> None:
        kept = await self._outbox.keep(self._taken, reply)
        if isinstance(self._inner, PartedConversation):
            await self._inner.answer_in_parts(kept, self.journal)
        else:
            async with self.journal.part(0) as go:
                if go:
                    await self._inner.answer(kept)
        if self.journal.uncertain:
            await self.close_with(Reply(interrupted(self._taken.event)))

    async def close_with(self, reply: Reply) -> None:
        """Ends the conversation with a sentence in place of an answer, once."""
        async with self.journal.part(CLOSING) as go:
            if go:
                await self._inner.answer(reply)


def interrupted(event: Incoming) -> str:
    return _INTERRUPTED[language_of(event)]
