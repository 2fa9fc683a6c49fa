"""How the desk works through events, told as an asker sees it."""

from __future__ import annotations

import asyncio
import gc
import logging
from collections import Counter
from dataclasses import replace

import pytest
from contract.inbox_events import ANN, BORIS, OPS, Clock, event, private
from desk_kit import InParts, Messenger, Time, at_work, desk_of, settle

from adapters.memory.inbox import MemoryInbox
from bot.chat import Incoming, Kind, Place, Reply
from bot.delivery import Journal, Leg, interrupted
from bot.errors import DeliveryFailed, PlatformGone, StorageError
from bot.inbox import Desk
from bot.limits import Limiter, Rate, Rates, slow_down
from bot.ports import Conversation, Taken


class Diligent:
    """A handler that waits to be told to go on, and remembers what it was given."""

    def __init__(self) -> None:
        self.go = asyncio.Event()
        self.begun: list[str] = []
        self.late: list[bool] = []
        self.attempts: list[int] = []

    async def __call__(
        self, event: Incoming, conversation: Conversation, attempt: int, late: bool
    ) -> None:
        self.begun.append(event.text)
        self.late.append(late)
        self.attempts.append(attempt)
        await self.go.wait()
        await conversation.answer(Reply(f"re: {event.text}"))


class Failing:
    """A handler that raises what it is given, then answers."""

    def __init__(self, *faults: Exception) -> None:
        self.faults = list(faults)

    async def __call__(
        self, event: Incoming, conversation: Conversation, attempt: int, late: bool
    ) -> None:
        if self.faults:
            raise self.faults.pop(0)
        await conversation.answer(Reply(f"re: {event.text}"))


@pytest.fixture
def time() -> Time:
    return Time(Clock())


@pytest.fixture
def inbox(time: Time) -> MemoryInbox:
    return MemoryInbox(clock=time.clock)


@pytest.fixture
def messenger() -> Messenger:
    return Messenger()


async def accept(desk: Desk, *events: Incoming) -> None:
    for each in events:
        await desk.accept(each)
    await settle()


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
        """Ten questions, a minute apart each, that waited while the bot was down."""
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
