"""Long pastes and too many questions."""

from __future__ import annotations

from dataclasses import replace

from contract.inbox_events import ANN, BORIS, OPS, event, private
from desk_kit import (
    Diligent,
    Failing,
    Messenger,
    Time,
    accept,
    at_work,
    desk_of,
    settle,
)

from adapters.memory.inbox import MemoryInbox
from bot.errors import DeliveryFailed
from bot.limits import Limiter, Rate, Rates, slow_down


class TestPastes:
    async def test_tg_18_a_long_paste_is_one_question(
        self, inbox: MemoryInbox, messenger: Messenger, time: Time
    ) -> None:
        handler = Diligent()
        handler.go.set()
        desk = desk_of(inbox, messenger, time, handler)
        log = "error: disk full\n" * 241  # about 4096 characters
        async with at_work(desk):
            await accept(desk, event("1", log))
            await time.advance(0.3)
            await accept(desk, event("2", log, seconds=1), event("3", "why does it fail?"))
            assert handler.begun == []
            await time.advance(10.0)
        assert handler.begun == [f"{log}\n{log}\nwhy does it fail?"]
        assert len(messenger.shown[OPS.id]) == 1

    async def test_tg_18_each_piece_is_waited_for(
        self, inbox: MemoryInbox, messenger: Messenger, time: Time
    ) -> None:
        handler = Diligent()
        handler.go.set()
        desk = desk_of(inbox, messenger, time, handler)
        async with at_work(desk):
            await accept(desk, event("1", "a" * 4096))
            await time.advance(1.0)
            await accept(desk, event("2", "b" * 4096, seconds=1))
            await time.advance(1.0)
            await accept(desk, event("3", "c", seconds=2))
            await time.advance(10.0)
        assert handler.begun == ["\n".join(("a" * 4096, "b" * 4096, "c"))]

    async def test_tg_18_a_paste_of_emoji_is_long_in_the_platforms_units(
        self, inbox: MemoryInbox, messenger: Messenger, time: Time
    ) -> None:
        handler = Diligent()
        handler.go.set()
        desk = desk_of(inbox, messenger, time, handler)
        async with at_work(desk):
            await accept(desk, event("1", "🔥" * 2048))
            assert handler.begun == []
            await accept(desk, event("2", "why?"))
            await time.advance(10.0)
        assert len(handler.begun) == 1

    async def test_tg_18_an_album_is_answered_once_and_its_caption_may_come_last(
        self, inbox: MemoryInbox, messenger: Messenger, time: Time
    ) -> None:
        handler = Diligent()
        handler.go.set()
        desk = desk_of(inbox, messenger, time, handler)
        album = {"album": "a", "attachments": ("photo",)}
        pictures = [replace(event(str(n), **album), text="") for n in range(3)]
        async with at_work(desk):
            await accept(desk, *pictures, event("9", "what is broken here?", **album))
            await accept(desk, event("10", "and how long?"))
            assert handler.begun == []
            await time.advance(1.6)
        assert handler.begun == ["what is broken here?", "and how long?"]

    async def test_tg_18_short_messages_do_not_wait(
        self, inbox: MemoryInbox, messenger: Messenger, time: Time
    ) -> None:
        desk = desk_of(inbox, messenger, time)
        async with at_work(desk):
            await accept(desk, event("1", "why?"), event("2", "and now?"))
            assert messenger.shown[OPS.id] == ["re: why?", "re: and now?"]


class TestLimits:
    def limiter(self, person: int = 2, place: int = 100) -> Limiter:
        return Limiter(Rates(Rate(60, person), Rate(60, place)))

    async def test_too_many_at_once_are_refused_politely_and_once(
        self, inbox: MemoryInbox, messenger: Messenger, time: Time
    ) -> None:
        desk = desk_of(inbox, messenger, time, limiter=self.limiter())
        questions = [event(str(number), f"вопрос {number}") for number in range(6)]
        async with at_work(desk):
            await accept(desk, *questions)
        assert messenger.shown[OPS.id] == ["re: вопрос 0", "re: вопрос 1"]
        assert messenger.said[OPS.id] == [slow_down(questions[2])]
        assert await inbox.waiting() == 0

    async def test_others_are_not_affected(
        self, inbox: MemoryInbox, messenger: Messenger, time: Time
    ) -> None:
        desk = desk_of(inbox, messenger, time, limiter=self.limiter())
        async with at_work(desk):
            await accept(desk, *(event(n, place=private("42"), person=ANN) for n in "1234"))
            await accept(desk, event("5", place=private("43"), person=BORIS))
        assert messenger.shown["43"] == ["re: question 5"]

    async def test_a_place_has_its_own_limit(
        self, inbox: MemoryInbox, messenger: Messenger, time: Time
    ) -> None:
        desk = desk_of(inbox, messenger, time, limiter=self.limiter(place=3))
        async with at_work(desk):
            for number in range(5):
                who = replace(ANN, id=str(number))
                await accept(desk, event(str(number), person=who))
        assert len(messenger.shown[OPS.id]) == 3
        assert len(messenger.said[OPS.id]) == 2  # two people, each told once

    async def test_it_is_told_again_in_the_next_minute(
        self, inbox: MemoryInbox, messenger: Messenger, time: Time
    ) -> None:
        desk = desk_of(inbox, messenger, time, limiter=Limiter(Rates(Rate(1, 1))))
        async with at_work(desk):
            moments = (0, 1, 2, 55, 62, 63)
            await accept(desk, *(event(str(at), seconds=at) for at in moments))
        assert messenger.shown[OPS.id] == ["re: question 0", "re: question 62"]
        assert len(messenger.said[OPS.id]) == 2

    async def test_op_10_a_backlog_is_no_flood(
        self, inbox: MemoryInbox, messenger: Messenger, time: Time
    ) -> None:
        """OP-10: ten questions, a minute apart each, that waited while the bot was down."""
        for number in range(10):
            await inbox.put(event(str(number), seconds=60 * number))
        desk = desk_of(inbox, messenger, time, limiter=self.limiter())
        async with at_work(desk):
            await settle()
        assert len(messenger.shown[OPS.id]) == 10

    async def test_a_second_attempt_costs_nothing(
        self, inbox: MemoryInbox, messenger: Messenger, time: Time
    ) -> None:
        handler = Failing(*(DeliveryFailed("timed out") for _ in range(4)))
        desk = desk_of(inbox, messenger, time, handler, limiter=self.limiter(person=1))
        async with at_work(desk):
            await accept(desk, event("1"))
            await time.advance(60.0)
        assert messenger.shown[OPS.id] == ["re: question 1"]

    async def test_what_is_said_to_others_does_not_count(
        self, inbox: MemoryInbox, messenger: Messenger, time: Time
    ) -> None:
        desk = desk_of(inbox, messenger, time, limiter=self.limiter(person=1))
        async with at_work(desk):
            await accept(desk, *(event(n, addressed=False) for n in "123"), event("4"))
        assert len(messenger.shown[OPS.id]) == 4
        assert dict(messenger.said) == {}
