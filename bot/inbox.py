"""The desk: events in, each worked on until its asker has an answer. Owner of every task.

Accept, then work: an event is stored before `accept` returns, and taken by whichever process is
free. Questions of one conversation are answered in order, conversations side by side. A lease
that is not renewed runs out, so that a process that was killed hands its questions to the next.
"""

from __future__ import annotations

import asyncio
import logging
import os
import platform
import time
import uuid
from collections.abc import Awaitable, Callable
from dataclasses import replace

from bot import logs
from bot.chat import Incoming, Kind, Place, Reply, question_id
from bot.delivery import LeaseLost, Mailbox, TrackedConversation
from bot.desk_options import DeskOptions
from bot.errors import AnswerRefused, DeliveryFailed, PlatformGone, StorageError, ThreadGone
from bot.limits import Allowance, Verdict, slow_down
from bot.meter import Meter, Silent, Trouble
from bot.pending import is_forward, language_of, stops
from bot.places import Closed
from bot.ports import Conversation, Sink, Taken
from bot.work import Ending, Handler, Work, cause, trouble_of
from graph.phrases import say

_log = logging.getLogger(__name__)

_RENEWALS = 3  # in the time of one lease
_EXPECTED = (PlatformGone, DeliveryFailed, LeaseLost, StorageError)


class Desk(Sink):
    """Takes events from the inbox and has them handled, `options.workers` at a time.

    `conversations` gives the way back for an event, `gone` is told of places that are closed to
    the bot, and `moved` of places with a new id before anything else from there is worked on.
    `meter` is told what goes wrong, and when askers first see something.
    `clock` gives seconds since the epoch. One `run` for one Desk.
    """

    def __init__(
        self,
        inbox: Mailbox,
        conversations: Callable[[Incoming], Conversation],
        handler: Handler,
        *,
        options: DeskOptions | None = None,
        limiter: Allowance | None = None,
        gone: Callable[[Place], Awaitable[None]] | None = None,
        moved: Callable[[Incoming], Awaitable[None]] | None = None,
        meter: Meter | None = None,
        clock: Callable[[], float] = time.time,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self._inbox, self._conversations, self._handler = inbox, conversations, handler
        self._options = options or DeskOptions()
        self._limiter, self._gone, self._moved = limiter, gone, moved
        self._meter = meter or Silent()
        self._clock, self._sleep = clock, sleep
        self._owner = f"{platform.node()}:{os.getpid()}:{uuid.uuid4().hex[:8]}"
        self._running: dict[int, Work] = {}
        self._helpers: list[asyncio.Task[None]] = []
        self._group: asyncio.TaskGroup | None = None
        self._wake, self._ended = asyncio.Event(), asyncio.Event()
        self._draining = self._blind = False
        self._closed = Closed()

    async def accept(self, event: Incoming) -> None:
        """Returns when the event is stored. Raises StorageError: the platform keeps it then."""
        if event.kind is Kind.MOVED:
            await self._move(event)
            return
        self._closed.hear(event, self._clock())
        stored = await self._inbox.put(event)
        if event.kind is Kind.STOP:
            self._stop(event)
        elif event.kind is Kind.DELETE and not stored:  # at work already: that ends too
            await self.accept(replace(event, kind=Kind.STOP))
        elif stored:
            self._regather(event)
            self._wake.set()

    def _regather(self, forward: Incoming) -> None:
        """A question whose asker forwards something with it is begun anew, about that."""
        if is_forward(forward):
            for work in list(self._running.values()):
                if work.takes(forward, self._options.joining):
                    work.end(Ending.JOINED)

    async def _move(self, event: Incoming) -> None:
        if self._moved is not None:
            await self._moved(event)
        if event.moved_to:
            await self._inbox.move(event.place.platform, event.place.id, event.moved_to)

    async def run(self) -> None:
        """Works until `drain`. Cancelled, it gives back what it has at once."""
        try:
            async with asyncio.TaskGroup() as group:
                self._group = group
                self._helpers += [group.create_task(self._tick()), group.create_task(self._renew())]
                await self._dispatch(group)
                for helper in self._helpers:
                    helper.cancel()
        finally:
            self._group = None
            self._ended.set()

    async def drain(self, grace: float) -> None:
        """Takes nothing more, and returns when nothing is at work any longer.

        What is still at work after `grace` seconds is given back for the next process; a call to
        the platform that is on its way by then has `options.last_call` seconds to return.
        """
        self._draining = True
        self._wake.set()
        if self._group is not None:
            self._helpers.append(self._group.create_task(self._give_back_after(grace)))
            await self._ended.wait()

    async def _dispatch(self, group: asyncio.TaskGroup) -> None:
        while self._running or not self._draining:
            self._wake.clear()
            while not self._draining and len(self._running) < self._options.workers:
                taken = await self._take()
                if taken is None:
                    break
                await self._start(group, taken)
            await self._wake.wait()

    async def _take(self) -> Taken | None:
        """The next event. An outage of the inbox is one line in the log, and its end another."""
        try:
            taken = await self._inbox.take(self._owner, self._options.lease)
        except StorageError as error:
            if not self._blind:
                _log.warning("no events can be taken: %s", error)
            self._blind = True
            return None
        if self._blind:
            _log.warning("events can be taken again")
        self._blind = False
        return taken

    async def _start(self, group: asyncio.TaskGroup, taken: Taken) -> None:
        if self._draining:  # since the event was asked for
            await self._settled(self._inbox.release(taken), taken.event)
            return
        try:
            inner = self._conversations(taken.event)
        except Exception:  # its lease runs out
            _log.exception("there is no way back for an event: %s", taken.event.key)
            return
        tracked = TrackedConversation(inner, self._inbox, taken, lambda: self._seen(taken))
        work = Work(taken, tracked)
        self._running[taken.token] = work
        work.task = group.create_task(self._work(work))
        work.task.add_done_callback(lambda _: self._finished(taken))

    def _finished(self, taken: Taken) -> None:
        del self._running[taken.token]
        self._wake.set()

    def _seen(self, taken: Taken) -> None:
        event = taken.event
        if event.kind is Kind.QUESTION and event.addressed and taken.attempt == 1:
            self._meter.first_sign(event.place.platform, max(0.0, self._age(event)))

    async def _work(self, work: Work) -> None:
        with logs.question(question_id(work.taken.event)):
            try:
                await self._settled(self._attempt(work), work.taken.event)
            except asyncio.CancelledError:
                await self._settled(self._cut_short(work), work.taken.event)
                if work.ending is None:
                    raise

    async def _settled(self, work: Awaitable[None], event: Incoming) -> None:
        """One event must not end the others: if it cannot be settled, its lease runs out."""
        try:
            await work
        except StorageError as error:
            _log.warning("an event could not be settled: %s", error)
        except Exception:
            _log.exception("an event could not be settled: %s", event.key)

    async def _attempt(self, work: Work) -> None:
        try:
            await self._serve(work)
        except Exception as raised:
            await self._failed(work, cause(raised))
        else:
            await self._inbox.done(work.taken)

    async def _cut_short(self, work: Work) -> None:
        if work.ending is Ending.STOPPED:
            await self._inbox.done(work.taken)
            await work.conversation.clear()
        elif work.ending is not Ending.LOST:
            await self._inbox.release(work.taken)

    async def _serve(self, work: Work) -> None:
        """An answer that an earlier attempt kept is sent on; else the event is handled."""
        if self._closed.holds(work.taken.event):
            return
        kept = await self._inbox.kept(work.taken)
        if kept is not None:
            await work.conversation.answer(kept)
            return
        if work.taken.attempt > self._options.max_takes:
            raise RuntimeError(f"taken {work.taken.attempt} times without an end")
        await self._gather(work)
        event, attempt = work.taken.event, work.taken.attempt
        if await self._refused(event, attempt, work.conversation):
            return
        late = event.kind is Kind.QUESTION and self._age(event) > self._options.late_after
        await self._handler(event, work.conversation, attempt, late=late)

    async def _gather(self, work: Work) -> None:
        """Waits for the other pieces of a long paste or an album; short questions do not wait."""
        rule = self._options.joining
        if work.taken.event.place.kind == "private" and work.taken.event.kind is Kind.QUESTION:
            work.taken = await self._inbox.join(work.taken, rule.forwards)
        last = work.taken.event
        while last.kind is Kind.QUESTION and rule.expects_more(last):
            await self._sleep(rule.window)
            before = work.taken
            work.taken = await self._inbox.join(before, rule)
            if work.taken == before:
                return
            last = replace(last, text=work.taken.event.text[len(before.event.text) :], album="")

    async def _refused(self, event: Incoming, attempt: int, conversation: Conversation) -> bool:
        counted = event.kind is Kind.QUESTION and event.addressed and attempt == 1
        if self._limiter is None or not counted:
            return False
        if (verdict := await self._limiter.admit(event)) is not Verdict.ADMITTED:
            self._meter.trouble(event.place.platform, Trouble.LIMITED)
        if verdict is Verdict.TELL:
            await conversation.say(Reply(slow_down(event), private=True))
        return verdict is not Verdict.ADMITTED

    async def _failed(self, work: Work, error: Exception) -> None:
        event = work.taken.event
        if (trouble := trouble_of(error)) is not None:
            self._meter.trouble(event.place.platform, trouble)
        match error:
            case LeaseLost():
                _log.info("another worker took over: %s", event.key)
            case PlatformGone():
                _log.info("nothing can be sent to %s any more", event.place.conversation)
                await self._inbox.done(work.taken)
                self._closed.add(event.place, self._clock())
                if self._gone is not None:
                    await self._gone(event.place)
            case ThreadGone():
                _log.warning("given up, its thread is gone: %s", event.key)
                await self._inbox.done(work.taken)
            case AnswerRefused():
                error_id = uuid.uuid4().hex[:8]
                _log.error("error %s, the platform does not take it: %s", error_id, event.key)
                await self._close(work, error_id)
            case DeliveryFailed() if self._age(event) > self._options.give_up:
                _log.error("given up, the platform was not reached: %s", event.key)
                self._meter.trouble(event.place.platform, Trouble.GIVEN_UP)
                await self._inbox.done(work.taken)
            case DeliveryFailed() | StorageError():
                _log.warning("will be tried again: %s", error)
                await self._again(work)
            case _:
                await self._report(work, error)

    async def _report(self, work: Work, error: Exception) -> None:
        """Tries once more; then the asker is told, with an id that the log has too."""
        event, error_id = work.taken.event, uuid.uuid4().hex[:8]
        _log.error("error %s at attempt %d of %s", error_id, work.taken.attempt, event.key,
                   exc_info=error)  # fmt: skip
        if work.taken.attempt < self._options.max_attempts:
            await self._again(work)
        else:
            await self._close(work, error_id)

    async def _close(self, work: Work, error_id: str) -> None:
        """Tells the asker that something went wrong, if that can be told."""
        event = work.taken.event
        if event.addressed and event.kind in (Kind.QUESTION, Kind.PRESS):
            sentence = say("failed", language_of(event), error_id=error_id)
            try:
                await work.conversation.close_with(Reply(sentence))
            except AnswerRefused:
                _log.error("error %s was not told", error_id)
            except _EXPECTED as trouble:
                await self._failed(work, trouble)
                return
        await self._inbox.done(work.taken)

    async def _again(self, work: Work) -> None:
        doublings = min(work.taken.attempt - 1, 16)  # enough for any longest back-off
        delay = min(self._options.longest_backoff, self._options.backoff * 2**doublings)
        await self._inbox.release(work.taken, delay)

    def _age(self, event: Incoming) -> float:
        return self._clock() - event.at.timestamp()

    def _stop(self, stop: Incoming) -> None:
        """Ends the work on a question, unless its answer is on the way already."""
        for work in list(self._running.values()):
            if stops(stop, work.taken.event) and not work.conversation.journal.begun:
                work.end(Ending.STOPPED)

    async def _tick(self) -> None:
        while True:
            await self._sleep(self._options.poll)
            self._wake.set()

    async def _renew(self) -> None:
        """Keeps the leases of all that is at work, however slow the model is."""
        while True:
            await self._sleep(self._options.lease / _RENEWALS)
            for work in list(self._running.values()):
                try:
                    held = await self._inbox.renew(work.taken, self._options.lease)
                except StorageError as error:
                    _log.warning("a lease could not be renewed: %s", error)
                    continue
                if not held:
                    work.end(Ending.LOST)

    async def _give_back_after(self, grace: float) -> None:
        await self._sleep(grace)
        for work in list(self._running.values()):
            if not work.sending:
                work.end(Ending.DRAINED)
        await self._sleep(self._options.last_call)
        for work in list(self._running.values()):
            work.end(Ending.DRAINED)
