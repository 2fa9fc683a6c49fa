"""How the desk works through events, told as an asker sees it."""

from __future__ import annotations

import asyncio
import gc
from collections import Counter
from dataclasses import replace

import pytest
from contract.inbox_events import BORIS, OPS, event, private
from desk_kit import (
    Diligent,
    Messenger,
    Time,
    accept,
    at_work,
    desk_of,
    settle,
)

from adapters.memory.inbox import MemoryInbox
from bot.chat import Incoming, Kind, Place, Reply
from bot.ports import Conversation


class TestAnswering:
    async def test_a_question_is_answered_at_once(
        self, inbox: MemoryInbox, messenger: Messenger, time: Time
    ) -> None:
        desk = desk_of(inbox, messenger, time)
        async with at_work(desk):
            await accept(desk, event("1", "how?"))
            assert messenger.shown[OPS.id] == ["re: how?"]
            assert await inbox.waiting() == 0

    async def test_op_03_two_hundred_questions_two_hundred_answers(
        self, inbox: MemoryInbox, messenger: Messenger, time: Time
    ) -> None:
        """OP-03: garbage is collected in the middle of each; the work is held by its group."""

        async def slow(
            event: Incoming, conversation: Conversation, attempt: int, late: bool
        ) -> None:
            await asyncio.sleep(0)
            gc.collect(0)
            await conversation.answer(Reply(event.text))

        desk = desk_of(inbox, messenger, time, slow)
        async with at_work(desk):
            for number in range(200):
                await desk.accept(event(str(number), place=private(str(number % 50))))
            await desk.drain(1.0)
        shown = [text for texts in messenger.shown.values() for text in texts]
        waiting = await inbox.waiting()
        assert len(shown) + waiting == 200
        async with at_work(desk_of(inbox, messenger, time, slow)):
            for _ in range(100):
                await settle()
        shown = [text for texts in messenger.shown.values() for text in texts]
        assert Counter(shown) == Counter(f"question {number}" for number in range(200))

    async def test_se_01_in_order_here_and_side_by_side_elsewhere(
        self, inbox: MemoryInbox, messenger: Messenger, time: Time
    ) -> None:
        slow = Diligent()
        desk = desk_of(inbox, messenger, time, slow)
        async with at_work(desk):
            await accept(desk, event("1"), event("2", person=BORIS), event("3", place=private("9")))
            assert slow.begun == ["question 1", "question 3"]
            slow.go.set()
            await settle()
        assert messenger.shown[OPS.id] == ["re: question 1", "re: question 2"]

    async def test_no_more_than_the_workers_at_a_time(
        self, inbox: MemoryInbox, messenger: Messenger, time: Time
    ) -> None:
        slow = Diligent()
        desk = desk_of(inbox, messenger, time, slow, workers=2)
        async with at_work(desk):
            await accept(desk, *(event(n, place=private(n)) for n in "12345"))
            assert len(slow.begun) == 2
            slow.go.set()
            await settle()
            assert len(slow.begun) == 5

    async def test_sl_01_a_repeated_event_gets_one_answer(
        self, inbox: MemoryInbox, messenger: Messenger, time: Time
    ) -> None:
        desk = desk_of(inbox, messenger, time)
        async with at_work(desk):
            await accept(desk, event("1"), event("1"))
            await accept(desk, event("1"))
        assert messenger.shown[OPS.id] == ["re: question 1"]

    async def test_events_of_another_process_are_found(
        self, inbox: MemoryInbox, messenger: Messenger, time: Time
    ) -> None:
        desk = desk_of(inbox, messenger, time, poll=1.0)
        async with at_work(desk):
            await inbox.put(event("1"))
            await time.advance(1.0)
            assert messenger.shown[OPS.id] == ["re: question 1"]

    async def test_rd_01_a_slow_model_keeps_its_question(
        self, inbox: MemoryInbox, messenger: Messenger, time: Time
    ) -> None:
        slow = Diligent()
        desk = desk_of(inbox, messenger, time, slow, lease=15.0)
        async with at_work(desk), at_work(desk_of(inbox, messenger, time, slow, lease=15.0)):
            await accept(desk, event("1"))
            await time.advance(75.0)
            assert slow.begun == ["question 1"]
            slow.go.set()
            await settle()
        assert messenger.shown[OPS.id] == ["re: question 1"]

    async def test_an_unknown_platform_does_not_stop_the_others(
        self, inbox: MemoryInbox, time: Time, messenger: Messenger
    ) -> None:
        class Telegram(Messenger):
            def conversation(self, event: Incoming) -> Conversation:
                if event.place.platform != "telegram":
                    raise KeyError(event.place.platform)
                return super().conversation(event)

        telegram = Telegram()
        desk = desk_of(inbox, telegram, time)
        async with at_work(desk):
            await accept(desk, event("1", place=Place("slack", "C1")), event("2"))
            assert telegram.shown[OPS.id] == ["re: question 2"]


class TestStaleQuestions:
    async def test_op_10_old_questions_are_answered_as_late(
        self, inbox: MemoryInbox, messenger: Messenger, time: Time
    ) -> None:
        handler = Diligent()
        handler.go.set()
        for number, age in enumerate((9 * 3600, 901, 899, 0)):
            await inbox.put(event(str(number), seconds=-age))
        async with at_work(desk_of(inbox, messenger, time, handler, late_after=900.0)):
            await settle()
        assert handler.late == [True, True, False, False]

    async def test_op_10_only_the_newest_of_several_edits_is_answered(
        self, inbox: MemoryInbox, messenger: Messenger, time: Time
    ) -> None:
        desk = desk_of(inbox, messenger, time)
        await accept(desk, event("1", "frist"))
        for number in range(5):
            edit = event("1", f"first {number}", kind=Kind.EDIT, seconds=number)
            await desk.accept(edit)
        async with at_work(desk):
            await settle()
        assert messenger.shown[OPS.id] == ["re: first 4"]


class TestStop:
    @pytest.mark.parametrize("named", ["1", ""])
    async def test_the_asker_stops_the_answer(
        self, inbox: MemoryInbox, messenger: Messenger, time: Time, named: str
    ) -> None:
        slow = Diligent()
        desk = desk_of(inbox, messenger, time, slow)
        async with at_work(desk):
            await accept(desk, event("1"))
            await accept(desk, event(named, kind=Kind.STOP))
            slow.go.set()
            await accept(desk, event("2"))
            await time.advance(60.0)
        assert messenger.shown[OPS.id] == ["re: question 2"]

    async def test_somebody_else_in_the_group_does_not(
        self, inbox: MemoryInbox, messenger: Messenger, time: Time
    ) -> None:
        slow = Diligent()
        desk = desk_of(inbox, messenger, time, slow)
        async with at_work(desk):
            await accept(desk, event("1"))
            await accept(desk, event("1", kind=Kind.STOP, person=BORIS))
            slow.go.set()
            await settle()
        assert messenger.shown[OPS.id] == ["re: question 1"]

    async def test_another_process_hears_of_it(
        self, inbox: MemoryInbox, messenger: Messenger, time: Time
    ) -> None:
        slow = Diligent()
        desk = desk_of(inbox, messenger, time, slow)
        async with at_work(desk):
            await accept(desk, event("1"))
            await inbox.put(event("1", kind=Kind.STOP))
            slow.go.set()
            await time.advance(60.0)
        assert dict(messenger.shown) == {}


class TestMoving:
    async def test_tg_09_waiting_questions_are_answered_in_the_new_place(
        self, inbox: MemoryInbox, messenger: Messenger, time: Time
    ) -> None:
        old = replace(OPS, id="-4001")
        desk = desk_of(inbox, messenger, time)
        notice = event("2", kind=Kind.MOVED, place=old, moved_to="-1001")
        await accept(desk, event("1", "and on staging?", place=old), notice, notice)
        async with at_work(desk):
            await settle()
        assert messenger.shown["-1001"] == ["re: and on staging?"]
