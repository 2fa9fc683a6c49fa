"""Shutdown, kill -9 and lost leases: every question ends once."""

from __future__ import annotations

import asyncio

import pytest
from contract.inbox_events import OPS, event, private
from desk_kit import (
    Diligent,
    InParts,
    Messenger,
    Time,
    accept,
    at_work,
    desk_of,
    settle,
)

from adapters.memory.inbox import MemoryInbox
from bot.chat import Incoming, Reply
from bot.delivery import Journal, Leg, interrupted
from bot.errors import DeliveryFailed
from bot.ports import Conversation


class TestRestart:
    async def test_op_01_drain_lets_running_answers_finish(
        self, inbox: MemoryInbox, messenger: Messenger, time: Time
    ) -> None:
        slow = Diligent()
        desk = desk_of(inbox, messenger, time, slow, workers=3)
        async with at_work(desk) as running:
            await accept(desk, *(event(n, place=private(n)) for n in "1234"))
            async with asyncio.TaskGroup() as group:
                group.create_task(desk.drain(30.0))
                await time.advance(10.0)
                await accept(desk, event("5", place=private("5")))
                slow.go.set()
            assert running.done()
        assert sorted(messenger.shown) == ["1", "2", "3"]
        assert await inbox.waiting() == 2

    async def test_op_01_what_outlasts_the_grace_goes_to_the_next_process(
        self, inbox: MemoryInbox, messenger: Messenger, time: Time
    ) -> None:
        slow = Diligent()
        desk = desk_of(inbox, messenger, time, slow)
        async with at_work(desk) as running:
            await accept(desk, event("1"))
            async with asyncio.TaskGroup() as group:
                group.create_task(desk.drain(2.0))
                await settle()
                await time.advance(1.9)
                assert not running.done()
                await time.advance(0.2)
            assert running.done()
        assert dict(messenger.shown) == {}
        slow.go.set()
        async with at_work(desk_of(inbox, messenger, time, slow)):
            await settle()
        assert messenger.shown[OPS.id] == ["re: question 1"]
        assert slow.attempts == [1, 2]

    async def test_op_01_a_message_on_its_way_is_waited_for(
        self, inbox: MemoryInbox, messenger: Messenger, time: Time
    ) -> None:
        messenger.held = asyncio.Event()
        desk = desk_of(inbox, messenger, time, last_call=10.0)
        async with at_work(desk) as running:
            await accept(desk, event("1"))
            async with asyncio.TaskGroup() as group:
                group.create_task(desk.drain(2.0))
                await settle()
                await time.advance(5.0)
                assert not running.done()
                messenger.held.set()
        assert await inbox.waiting() == 0
        assert messenger.shown[OPS.id] == ["re: question 1"]

    async def test_drain_without_work_returns(
        self, inbox: MemoryInbox, messenger: Messenger, time: Time
    ) -> None:
        desk = desk_of(inbox, messenger, time)
        async with at_work(desk) as running:
            await desk.drain(30.0)
            await settle()
            assert running.done()
            await desk.drain(30.0)

    async def test_op_01_killed_while_thinking(
        self, inbox: MemoryInbox, messenger: Messenger, time: Time
    ) -> None:
        await inbox.put(event("1"))
        assert await inbox.take("killed", 15.0)
        async with at_work(desk_of(inbox, messenger, time)):
            assert dict(messenger.shown) == {}
            await time.advance(16.0)
        assert messenger.shown[OPS.id] == ["re: question 1"]

    async def test_op_01_killed_with_an_answer_that_was_not_sent(
        self, inbox: MemoryInbox, messenger: Messenger, time: Time
    ) -> None:
        await inbox.put(event("1"))
        killed = await inbox.take("killed", 15.0)
        assert killed is not None
        await inbox.keep(killed, Reply("of the first process"))
        async with at_work(desk_of(inbox, messenger, time)):
            await time.advance(16.0)
        assert messenger.shown[OPS.id] == ["of the first process"]

    async def test_op_01_killed_after_the_answer_was_sent(
        self, inbox: MemoryInbox, messenger: Messenger, time: Time
    ) -> None:
        await inbox.put(event("1"))
        killed = await inbox.take("killed", 15.0)
        assert killed is not None
        await inbox.keep(killed, Reply("shown"))
        await inbox.begin(killed, 0)
        await inbox.end(killed, 0, sent=True)
        async with at_work(desk_of(inbox, messenger, time)):
            await time.advance(60.0)
        assert dict(messenger.shown) == {}
        assert await inbox.waiting() == 0

    async def test_op_01_killed_right_before_the_answer_went_out(
        self, inbox: MemoryInbox, messenger: Messenger, time: Time
    ) -> None:
        await inbox.put(event("1"))
        killed = await inbox.take("killed", 15.0)
        assert killed is not None
        await inbox.keep(killed, Reply("not shown"))
        await inbox.begin(killed, 0)
        async with at_work(desk_of(inbox, messenger, time)):
            await time.advance(60.0)
        assert messenger.shown[OPS.id] == ["not shown"]

    async def test_op_01_killed_while_sending_says_so_once_and_sends_nothing_twice(
        self, inbox: MemoryInbox, messenger: Messenger, time: Time
    ) -> None:
        asked = event("1", "почему?")
        await inbox.put(asked)
        killed = await inbox.take("killed", 15.0)
        assert killed is not None
        await inbox.keep(killed, Reply("shown or not, who knows"))
        await inbox.begin(killed, 0)
        inbox.mark(killed, 0, Leg.OUT)
        async with at_work(desk_of(inbox, messenger, time)):
            await time.advance(60.0)
        assert messenger.shown[OPS.id] == [interrupted(asked)]
        assert await inbox.waiting() == 0

    async def test_a_long_answer_goes_on_where_it_stopped(
        self, inbox: MemoryInbox, time: Time
    ) -> None:
        messenger = InParts()

        async def handle(
            event: Incoming, conversation: Conversation, attempt: int, late: bool
        ) -> None:
            messenger.faults = [DeliveryFailed("cut")] if not messenger.shown else []
            await conversation.answer(Reply("one\ntwo\nthree"))

        await inbox.put(event("1"))
        killed = await inbox.take("killed", 15.0)
        assert killed is not None
        await inbox.keep(killed, Reply("one\ntwo\nthree"))
        await inbox.begin(killed, 0)
        await inbox.end(killed, 0, sent=True)
        messenger.faults = [DeliveryFailed("timed out")]
        async with at_work(desk_of(inbox, messenger, time, handle)):
            await time.advance(60.0)
        assert messenger.shown[OPS.id] == ["two", "three"]

    async def test_an_answer_that_may_have_been_shown_is_not_repeated(
        self, inbox: MemoryInbox, messenger: Messenger, time: Time
    ) -> None:
        """The platform accepted, and then something broke that nobody foresaw."""
        messenger.dies_after = [RuntimeError("the reply could not be read")]
        desk = desk_of(inbox, messenger, time)
        async with at_work(desk):
            await accept(desk, event("1"))
            await time.advance(600.0)
        assert messenger.shown[OPS.id] == ["re: question 1", interrupted(event("1"))]
        assert await inbox.waiting() == 0

    async def test_a_part_that_never_went_out_is_sent_after_any_error(
        self, inbox: MemoryInbox, time: Time
    ) -> None:
        """A platform that marks the bytes itself: what broke before them did no harm."""
        await inbox.put(event("1"))
        taken = await inbox.take("worker", 15.0)
        assert taken is not None
        journal = Journal(inbox, taken)
        with pytest.raises(RuntimeError):
            async with journal.part(0, later=True) as go:
                raise RuntimeError(f"no connection, {go}")
        async with journal.part(0, later=True) as go:
            assert go
            journal.out(0)
        async with journal.part(0) as go:
            assert not go
        assert not journal.uncertain

    async def test_a_cancelled_process_gives_its_questions_back_at_once(
        self, inbox: MemoryInbox, messenger: Messenger, time: Time
    ) -> None:
        async with at_work(desk_of(inbox, messenger, time, Diligent())) as running:
            await inbox.put(event("1"))
            await time.advance(1.0)
            running.cancel()
            await settle()
        async with at_work(desk_of(inbox, messenger, time)):
            await settle()
        assert messenger.shown[OPS.id] == ["re: question 1"]

    async def test_rd_01_who_lost_the_lease_shows_nothing(
        self, inbox: MemoryInbox, messenger: Messenger, time: Time
    ) -> None:
        """A process that stood still for longer than its lease wakes up."""
        frozen = Diligent()
        desk = desk_of(inbox, messenger, time, frozen, lease=15.0)
        async with at_work(desk):
            await accept(desk, event("1"))
            time.clock.advance(16.0)
            heir = await inbox.take("heir", 15.0)
            assert heir is not None
            frozen.go.set()
            await settle()
            assert dict(messenger.shown) == {}
            assert await inbox.done(heir)
