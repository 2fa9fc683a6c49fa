"""What an asker sees of errors: nothing, one honest sentence, or the answer a little later."""

from __future__ import annotations

import logging
from dataclasses import replace

import pytest
from contract.inbox_events import OPS, event, private
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
from bot.chat import Incoming, Kind, Place
from bot.errors import AnswerRefused, DeliveryFailed, PlatformGone, StorageError
from bot.ports import Taken


class TestTrouble:
    async def test_tg_15_a_closed_place_is_left_alone_and_others_are_served(
        self, inbox: MemoryInbox, messenger: Messenger, time: Time
    ) -> None:
        left: list[Place] = []

        async def gone(place: Place) -> None:
            left.append(place)

        handler = Failing(PlatformGone("blocked by the user"))
        desk = desk_of(inbox, messenger, time, handler, gone=gone)
        async with at_work(desk):
            await accept(desk, event("1", place=private("10")), event("2", place=private("11")))
            await time.advance(600.0)
        assert left == [private("10")]
        assert dict(messenger.shown) == {"11": ["re: question 2"]}
        assert await inbox.waiting() == 0

    async def test_tg_15_what_else_waits_for_a_closed_place_is_not_worked_on(
        self, inbox: MemoryInbox, messenger: Messenger, time: Time
    ) -> None:
        handler = Diligent()
        handler.go.set()
        desk = desk_of(inbox, messenger, time, handler)
        messenger.faults = [PlatformGone("blocked by the user")]
        async with at_work(desk):
            for place in ("10", "11"):
                for number in range(3):
                    await inbox.put(event(f"{place}{number}", place=private(place)))
            await time.advance(600.0)
            assert handler.begun == ["question 100", *(f"question 11{n}" for n in range(3))]
            await accept(desk, event("9", "unblocked", seconds=700, place=private("10")))
        assert messenger.shown["10"] == ["re: unblocked"]
        assert await inbox.waiting() == 0

    async def test_tg_15_whoever_removes_the_bot_gets_no_answer(
        self, inbox: MemoryInbox, messenger: Messenger, time: Time
    ) -> None:
        slow, removed = Diligent(), event("3", kind=Kind.REMOVED, seconds=2)
        desk = desk_of(inbox, messenger, time, slow)
        async with at_work(desk):
            await accept(desk, event("1"), event("2"), removed)
            slow.go.set()
            await time.advance(60.0)
            assert "question 2" not in slow.begun
            back = event("4", kind=Kind.ADDED, seconds=80)
            await accept(desk, back, event("5", seconds=81))
        assert messenger.shown[OPS.id][-1] == "re: question 5"

    async def test_an_answer_that_is_refused_in_every_form_is_the_only_one_lost(
        self, inbox: MemoryInbox, messenger: Messenger, time: Time
    ) -> None:
        gone: list[Place] = []

        async def closed(place: Place) -> None:
            gone.append(place)

        messenger.faults = [AnswerRefused("text is empty")]
        async with at_work(desk_of(inbox, messenger, time, gone=closed)) as running:
            for number in range(3):
                await inbox.put(event(str(number)))
            await time.advance(60.0)
            assert not running.done()
        told, *answers = messenger.shown[OPS.id]
        assert "went wrong" in told
        assert answers == ["re: question 1", "re: question 2"]
        assert gone == []
        assert await inbox.waiting() == 0

    async def test_an_unreachable_platform_gets_the_answer_later(
        self, inbox: MemoryInbox, messenger: Messenger, time: Time
    ) -> None:
        handler = Diligent()
        handler.go.set()
        messenger.faults = [DeliveryFailed("timed out") for _ in range(3)]
        desk = desk_of(inbox, messenger, time, handler, backoff=1.0)
        async with at_work(desk):
            await accept(desk, event("1"), event("2"))
            assert messenger.shown[OPS.id] == []
            await time.advance(30.0)
        assert messenger.shown[OPS.id] == ["re: question 1", "re: question 2"]
        assert handler.begun == ["question 1", "question 2"]  # no model is asked again

    async def test_an_answer_that_is_a_day_late_is_dropped(
        self, inbox: MemoryInbox, messenger: Messenger, time: Time
    ) -> None:
        messenger.faults = [DeliveryFailed("timed out") for _ in range(10_000)]
        desk = desk_of(inbox, messenger, time, give_up=3600.0, poll=60.0, lease=180.0)
        async with at_work(desk):
            await accept(desk, event("1"))
            await time.advance(3500.0)
            assert await inbox.waiting() == 1
            await time.advance(300.0)
            assert await inbox.waiting() == 0

    async def test_an_unexpected_error_once_is_not_the_askers_business(
        self, inbox: MemoryInbox, messenger: Messenger, time: Time
    ) -> None:
        desk = desk_of(inbox, messenger, time, Failing(RuntimeError("secret detail")))
        async with at_work(desk):
            await accept(desk, event("1"))
            await time.advance(5.0)
        assert messenger.shown[OPS.id] == ["re: question 1"]

    @pytest.mark.parametrize(
        ("asked", "english"),
        [
            (event("1", "почему падает под?"), False),
            (replace(event("1", "why does it fail?"), language="ru"), True),
            (replace(event("1", "🔥"), language="ru-RU"), False),
            (event("1", "🔥"), True),
        ],
        ids=lambda value: value.text if isinstance(value, Incoming) else None,
    )
    async def test_an_error_that_stays_is_told_once_in_the_askers_language(
        self,
        inbox: MemoryInbox,
        messenger: Messenger,
        time: Time,
        *,
        caplog: pytest.LogCaptureFixture,
        asked: Incoming,
        english: bool,
    ) -> None:
        handler = Failing(*(RuntimeError("secret detail") for _ in range(9)))
        desk = desk_of(inbox, messenger, time, handler, max_attempts=3)
        with caplog.at_level(logging.ERROR):
            async with at_work(desk):
                await accept(desk, asked)
                await time.advance(600.0)
        (sentence,) = messenger.shown[OPS.id]
        assert "secret" not in sentence
        error_id = next(word for word in caplog.messages[-1].split() if len(word) == 8)
        assert error_id in sentence
        assert ("report error" in sentence) == english
        assert len(handler.faults) == 6
        assert await inbox.waiting() == 0

    async def test_an_error_inside_a_task_group_is_seen(
        self, inbox: MemoryInbox, messenger: Messenger, time: Time
    ) -> None:
        handler = Failing(ExceptionGroup("tasks", [PlatformGone("kicked")]))
        async with at_work(desk_of(inbox, messenger, time, handler)) as running:
            await inbox.put(event("1"))
            await time.advance(60.0)
            assert not running.done()
        assert dict(messenger.shown) == {}
        assert await inbox.waiting() == 0

    async def test_what_is_said_in_a_group_to_others_gets_no_apology(
        self, inbox: MemoryInbox, messenger: Messenger, time: Time
    ) -> None:
        handler = Failing(*(RuntimeError("detail") for _ in range(9)))
        desk = desk_of(inbox, messenger, time, handler)
        async with at_work(desk):
            await accept(desk, event("1", addressed=False), event("2", kind=Kind.ADDED))
            await time.advance(600.0)
        assert dict(messenger.shown) == {}
        assert await inbox.waiting() == 0

    async def test_a_question_that_kills_its_process_is_given_up(
        self, inbox: MemoryInbox, messenger: Messenger, time: Time
    ) -> None:
        await inbox.put(event("1"))
        await inbox.put(event("2"))
        for _ in range(10):
            assert await inbox.take("killed", 10.0)
            time.clock.advance(11.0)
        handler = Diligent()
        handler.go.set()
        async with at_work(desk_of(inbox, messenger, time, handler, max_takes=10)):
            await settle()
        assert handler.begun == ["question 2"]
        assert len(messenger.shown[OPS.id]) == 2

    async def test_rd_03_a_full_store_refuses_and_the_desk_lives_on(
        self, messenger: Messenger, time: Time
    ) -> None:
        class Full(MemoryInbox):
            full = False

            async def put(self, event: Incoming) -> bool:
                if self.full:
                    raise StorageError("full")
                return await super().put(event)

            async def take(self, owner: str, lease: float) -> Taken | None:
                if self.full:
                    raise StorageError("full")
                return await super().take(owner, lease)

        inbox = Full(clock=time.clock)
        desk = desk_of(inbox, messenger, time)
        async with at_work(desk) as running:
            await desk.accept(event("1"))
            inbox.full = True
            with pytest.raises(StorageError):
                await desk.accept(event("2"))
            await time.advance(5.0)
            assert not running.done()
            inbox.full = False
            await time.advance(5.0)
            await accept(desk, event("2"))
        assert messenger.shown[OPS.id] == ["re: question 1", "re: question 2"]

    async def test_op_08_two_minutes_without_a_store_are_two_lines_in_the_log(
        self, messenger: Messenger, time: Time, caplog: pytest.LogCaptureFixture
    ) -> None:
        class Down(MemoryInbox):
            down = False

            async def take(self, owner: str, lease: float) -> Taken | None:
                if self.down:
                    raise StorageError("connection refused")
                return await super().take(owner, lease)

        inbox = Down(clock=time.clock)
        async with at_work(desk_of(inbox, messenger, time)):
            inbox.down = True
            for number in range(100):
                await inbox.put(event(str(number), place=private(str(number))))
            await time.advance(120.0)
            assert len(caplog.messages) == 1
            inbox.down = False
            await time.advance(120.0)
        assert ["refused" in line for line in caplog.messages] == [True, False]
        assert "again" in caplog.messages[-1]
        assert len(messenger.shown) == 100
