"""The way of an answer out of the house: kept first, then sent once, whatever dies in between.

No messenger accepts a key that makes sending twice harmless. So a part of an answer is claimed
in the store, marked the moment its bytes go out, and marked again when the platform confirmed it.
After a crash, a part without the first mark was never sent: it is sent now. A part with both was
shown. One with the first mark only was in flight, and nobody can know whether it was shown: it is
not sent again, and the asker is told that sending was interrupted. No part is ever sent twice; the
remaining loss is a process that dies within the instant between the mark and the bytes.
"""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from enum import StrEnum
from typing import Protocol, runtime_checkable

from bot.chat import Incoming, Reply
from bot.errors import DeliveryFailed, PlatformGone, StorageError
from bot.pending import Joining, language_of
from bot.ports import Conversation, Inbox, Taken
from graph.model import Language

_log = logging.getLogger(__name__)

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
    UNCERTAIN = "uncertain"  # was in flight, and never confirmed


class Leg(StrEnum):
    """How far a claimed part came, as its sender marked it."""

    UNKNOWN = "unknown"  # not marked: never sent
    OUT = "out"  # in flight
    SHOWN = "shown"
    FAILED = "failed"  # certainly not shown
    VOID = "void"  # claimed by another worker since: not to be sent


class Outbox(Protocol):
    """What was said, or begun to be said, to each event. All methods raise StorageError."""

    async def keep(self, taken: Taken, reply: Reply) -> Reply:
        """Keeps the answer to an event and returns the one that counts: an earlier one, if there
        is one. A Reply read back has no `answer`. Raises LeaseLost."""

    async def kept(self, taken: Taken) -> Reply | None: ...

    async def begin(self, taken: Taken, part: int) -> PartState:
        """OPEN claims the part: it is to be sent now. Raises LeaseLost."""

    def mark(self, taken: Taken, part: int, leg: Leg) -> None:
        """Marks a claimed part, at once and without waiting, so that the mark outlives this
        process. Raises LeaseLost when it is to go OUT and is VOID."""

    async def end(self, taken: Taken, part: int, *, sent: bool) -> None:
        """What became of a claimed part: shown, or certainly not. The lease does not matter."""


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
    async def part(self, number: int, *, later: bool = False) -> AsyncIterator[bool]:
        """True: send the part now, in this block and nothing else. False: it is not sent again.

        The part counts as in flight from here; with `later` from the call of `out(number)`, which
        then comes right before the bytes. PlatformGone and DeliveryFailed mean that the part was
        not shown; after any other exception in flight nobody knows. Raises LeaseLost,
        StorageError.
        """
        self.begun = True
        state = await self._outbox.begin(self._taken, number)
        if state is not PartState.OPEN:
            self.uncertain |= state is PartState.UNCERTAIN and number != CLOSING
            yield False
            return
        if not later:
            self.out(number)
        self.sending += 1
        try:
            yield True
        except (PlatformGone, DeliveryFailed):
            await self._end(number, sent=False)
            raise
        else:
            await self._end(number, sent=True)
        finally:
            self.sending -= 1

    def out(self, number: int) -> None:
        """The bytes of the part go out now. Raises LeaseLost."""
        self._outbox.mark(self._taken, number, Leg.OUT)

    async def _end(self, number: int, *, sent: bool) -> None:
        self._outbox.mark(self._taken, number, Leg.SHOWN if sent else Leg.FAILED)
        await self._outbox.end(self._taken, number, sent=sent)


@asynccontextmanager
async def claimed(journal: Journal | None, number: int) -> AsyncIterator[Callable[[], None] | None]:
    """What to call right before the bytes of a part; None when it is not to be sent."""
    if journal is None:
        yield lambda: None
        return
    async with journal.part(number, later=True) as go:
        yield (lambda: journal.out(number)) if go else None


@runtime_checkable
class PartedConversation(Protocol):
    """A Conversation that sends long answers in several calls and resumes after the last shown."""

    async def answer_in_parts(self, reply: Reply, journal: Journal) -> None:
        """As `answer`: one call after the other, each inside `journal.part(n)`, n from 0 upwards
        and the same cut for the same reply."""


@runtime_checkable
class SigningConversation(Protocol):
    """A Conversation that shows its work in a message, which would outlive a killed process."""

    def keep_sign_with(self, keep: Callable[[str], Awaitable[None]]) -> None:
        """`keep` takes the handle of each such message: the next attempt finds the last one in
        `Incoming.sign`, and goes on there."""


@runtime_checkable
class ClearingConversation(Protocol):
    """A Conversation whose signs of work stay until something takes their place."""

    async def clear(self) -> None:
        """Nothing takes it any more, because the question was taken back: they go."""


class TrackedConversation(Conversation):
    """A platform's conversation whose answer is kept and marked. Handlers get this one.

    `answer` is called once for an event; what is said besides is not tracked. `seen` is called
    when the asker sees something for the first time.
    """

    def __init__(
        self,
        inner: Conversation,
        outbox: Mailbox,
        taken: Taken,
        seen: Callable[[], None] = lambda: None,
    ) -> None:
        self._inner, self._outbox, self._taken = inner, outbox, taken
        self._seen: Callable[[], None] | None = seen
        self.journal = Journal(outbox, taken)
        if isinstance(inner, SigningConversation):
            inner.keep_sign_with(self._keep_sign)

    async def _keep_sign(self, handle: str) -> None:
        try:
            await self._outbox.sign(self._taken, handle)
        except StorageError as error:  # if this process is killed now, the sign is left behind
            _log.warning("a sign of work is not remembered: %s", error)

    async def progress(self, stage: str) -> None:
        await self._inner.progress(stage)
        self._shown()

    async def stream(self, markdown: str) -> None:
        await self._inner.stream(markdown)
        self._shown()

    async def say(self, reply: Reply) -> None:
        await self._inner.say(reply)
        self._shown()

    async def answer(self, reply: Reply) -> None:
        kept = await self._outbox.keep(self._taken, reply)
        if isinstance(self._inner, PartedConversation):
            await self._inner.answer_in_parts(kept, self.journal)
        else:
            async with self.journal.part(0) as go:
                if go:
                    await self._inner.answer(kept)
        self._shown()
        if self.journal.uncertain:
            await self.close_with(Reply(interrupted(self._taken.event)))

    async def close_with(self, reply: Reply) -> None:
        """Ends the conversation with a sentence in place of an answer, once."""
        async with self.journal.part(CLOSING) as go:
            if go:
                await self._inner.answer(reply)

    async def clear(self) -> None:
        if isinstance(self._inner, ClearingConversation):
            await self._inner.clear()

    def _shown(self) -> None:
        seen, self._seen = self._seen, None
        if seen is not None:
            seen()


def interrupted(event: Incoming) -> str:
    return _INTERRUPTED[language_of(event)]
