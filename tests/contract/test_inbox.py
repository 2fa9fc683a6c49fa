"""What every inbox promises: order, leases, and that nothing is lost or answered twice."""

from __future__ import annotations

import asyncio
import tempfile
from collections import defaultdict
from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest
from contract.inbox_events import ANN, BORIS, OPS, START, Clock, event, open_inbox, private
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.chat import Button, Incoming, Kind, Place, Quote, Reply
from bot.delivery import CLOSING, LeaseLost, Leg, Mailbox, PartState
from bot.pending import Joining
from bot.ports import Taken
from graph.model import Answer, Outcome

LEASE = 30.0
DAY = 86_400.0


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture(params=["memory", "sqlite"])
def kind(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
async def inbox(kind: str, tmp_path: Path, clock: Clock) -> AsyncIterator[Mailbox]:
    inbox = await open_inbox(kind, tmp_path, clock)
    yield inbox
    await inbox.close()


async def take(inbox: Mailbox, owner: str = "worker") -> Taken:
    taken = await inbox.take(owner, LEASE)
    assert taken is not None
    return taken


async def taken_texts(inbox: Mailbox) -> list[str]:
    """Takes and finishes everything that waits, one after the other."""
    texts = []
    while (taken := await inbox.take("worker", LEASE)) is not None:
        texts.append(taken.event.text)
        assert await inbox.done(taken)
    return texts


class TestPut:
    async def test_an_event_comes_back_as_it_was(self, inbox: Mailbox) -> None:
        place = Place("telegram", "-100", "group", thread="77", title="<!here> *x*")
        asked = replace(
            event("1", "Почему \ud83d падает?", place=place),
            quote=Quote("alert: disk full", "monitor"),
            attachments=("log.txt", "снимок.png"),
            language="ru",
            value="v",
            reference="cb-1",
            addressed=False,
        )
        assert await inbox.put(asked)
        assert (await take(inbox)).event == asked

    async def test_sl_01_a_repeated_event_is_known(self, inbox: Mailbox) -> None:
        assert await inbox.put(event("1"))
        assert not await inbox.put(event("1", "sent again by the platform"))
        taken = await take(inbox)
        assert not await inbox.put(event("1"))
        await inbox.done(taken)
        assert not await inbox.put(event("1"))
        assert await taken_texts(inbox) == []

    async def test_the_same_number_elsewhere_is_another_event(self, inbox: Mailbox) -> None:
        assert await inbox.put(event("1"))
        assert await inbox.put(event("1", place=private("42")))
        assert await inbox.put(event("1", kind=Kind.PRESS))

    async def test_keys_are_remembered_for_days_and_not_for_ever(
        self, kind: str, tmp_path: Path, clock: Clock
    ) -> None:
        inbox = await open_inbox(kind, tmp_path, clock, retention=3 * DAY)
        await inbox.put(event("1"))
        await inbox.put(event("2"))
        await inbox.done(await take(inbox))
        clock.advance(2 * DAY)
        assert not await inbox.put(event("1"))
        clock.advance(2 * DAY)
        assert await inbox.put(event("1"))
        assert not await inbox.put(event("2"))  # still waiting, however old
        await inbox.close()

    async def test_waiting_counts_what_has_no_answer(self, inbox: Mailbox) -> None:
        for number in "123":
            await inbox.put(event(number))
        assert await inbox.waiting() == 3
        taken = await take(inbox)
        assert await inbox.waiting() == 3
        await inbox.done(taken)
        assert await inbox.waiting() == 2


class TestEdits:
    async def test_the_newest_text_counts_and_keeps_its_place(self, inbox: Mailbox) -> None:
        for number in "123":
            await inbox.put(event(number, place=private(number)))
        assert await inbox.put(event("1", "first edit", kind=Kind.EDIT, place=private("1")))
        assert await inbox.put(event("1", "second edit", kind=Kind.EDIT, place=private("1")))
        assert await taken_texts(inbox) == ["second edit", "question 2", "question 3"]

    async def test_an_older_edit_that_arrives_late_is_ignored(self, inbox: Mailbox) -> None:
        await inbox.put(event("1"))
        assert await inbox.put(event("1", "newest", kind=Kind.EDIT, seconds=9))
        assert not await inbox.put(event("1", "older", kind=Kind.EDIT, seconds=5))
        taken = await take(inbox)
        assert (taken.event.text, taken.event.kind) == ("newest", Kind.QUESTION)
        assert taken.event.at == START

    async def test_a_question_taken_back_is_dropped(self, inbox: Mailbox) -> None:
        await inbox.put(event("1"))
        await inbox.put(event("2"))
        assert await inbox.put(event("1", kind=Kind.DELETE))
        assert not await inbox.put(event("1", kind=Kind.DELETE))
        assert not await inbox.put(event("1"))
        assert await taken_texts(inbox) == ["question 2"]

    @pytest.mark.parametrize("change", [Kind.EDIT, Kind.DELETE])
    async def test_what_is_at_work_or_answered_does_not_change(
        self, inbox: Mailbox, change: Kind
    ) -> None:
        assert not await inbox.put(event("1", "of nothing", kind=change))
        await inbox.put(event("1"))
        taken = await take(inbox)
        assert not await inbox.put(event("1", "too late", kind=change))
        await inbox.done(taken)
        assert not await inbox.put(event("1", "much too late", kind=change))
        assert await taken_texts(inbox) == []

    async def test_a_question_given_back_can_be_changed(self, inbox: Mailbox) -> None:
        await inbox.put(event("1"))
        await inbox.release(await take(inbox))
        assert await inbox.put(event("1", "changed", kind=Kind.EDIT))
        assert await taken_texts(inbox) == ["changed"]

    @pytest.mark.parametrize("change", [Kind.EDIT, Kind.DELETE])
    async def test_a_question_whose_answer_is_kept_does_not_change(
        self, inbox: Mailbox, change: Kind
    ) -> None:
        await inbox.put(event("1"))
        taken = await take(inbox)
        await inbox.keep(taken, Reply("the answer"))
        await inbox.release(taken)
        assert not await inbox.put(event("1", "changed", kind=change))


class TestStop:
    async def test_the_asker_stops_what_waits_or_is_at_work(self, inbox: Mailbox) -> None:
        await inbox.put(event("1"))
        await inbox.put(event("2"))
        taken = await take(inbox)
        assert await inbox.put(event("2", kind=Kind.STOP))
        assert await inbox.put(event("", kind=Kind.STOP))  # whichever is at work
        assert not await inbox.renew(taken, LEASE)
        assert not await inbox.done(taken)
        assert await taken_texts(inbox) == []

    async def test_in_a_group_nobody_else_does(self, inbox: Mailbox) -> None:
        await inbox.put(event("1"))
        assert not await inbox.put(event("1", kind=Kind.STOP, person=BORIS))
        assert not await inbox.put(event("1", kind=Kind.STOP, place=replace(OPS, thread="7")))
        assert await taken_texts(inbox) == ["question 1"]

    async def test_an_answer_on_its_way_is_not_stopped(self, inbox: Mailbox) -> None:
        await inbox.put(event("1"))
        taken = await take(inbox)
        await inbox.begin(taken, 0)
        assert not await inbox.put(event("1", kind=Kind.STOP))
        assert await inbox.done(taken)


class TestOrder:
    async def test_se_01_one_after_the_other_in_a_conversation(self, inbox: Mailbox) -> None:
        await inbox.put(event("1"))
        await inbox.put(event("2", person=BORIS))
        first = await take(inbox)
        assert await inbox.take("other", LEASE) is None
        await inbox.done(first)
        assert (await take(inbox)).event.message_id == "2"

    async def test_side_by_side_across_conversations(self, inbox: Mailbox) -> None:
        topics = [replace(OPS, thread=thread) for thread in ("", "7", "8")]
        places = (*topics, private("42"), replace(private("42"), platform="slack"))
        for number, place in enumerate(places):
            await inbox.put(event(str(number), place=place))
        held = [await take(inbox) for _ in range(5)]
        assert len({taken.event.place.conversation for taken in held}) == 5
        assert len({taken.token for taken in held}) == 5

    async def test_one_that_is_given_back_with_a_delay_holds_its_place(
        self, inbox: Mailbox, clock: Clock
    ) -> None:
        await inbox.put(event("1"))
        await inbox.put(event("2"))
        await inbox.put(event("3", place=private("42")))
        await inbox.release(await take(inbox), 10.0)
        assert await taken_texts(inbox) == ["question 3"]
        clock.advance(9.0)
        assert await inbox.take("worker", LEASE) is None
        clock.advance(1.5)
        assert await taken_texts(inbox) == ["question 1", "question 2"]

    async def test_a_button_does_not_wait_for_the_question_at_work(self, inbox: Mailbox) -> None:
        await inbox.put(event("1"))
        await inbox.put(event("2"))
        await inbox.put(event("cb-9", kind=Kind.PRESS))
        await take(inbox)
        assert (await take(inbox)).event.kind is Kind.PRESS
        assert await inbox.take("worker", LEASE) is None

    async def test_only_events_of_the_own_platforms_are_taken(
        self, kind: str, tmp_path: Path, clock: Clock
    ) -> None:
        inbox = await open_inbox(kind, tmp_path, clock, platforms=["slack"])
        await inbox.put(event("1"))
        await inbox.put(event("2", "from Slack", place=Place("slack", "C1")))
        assert await taken_texts(inbox) == ["from Slack"]
        assert await inbox.waiting() == 1
        await inbox.close()


class TestLeases:
    async def test_one_that_ran_out_is_taken_again(self, inbox: Mailbox, clock: Clock) -> None:
        await inbox.put(event("1"))
        lost = await take(inbox, "killed")
        clock.advance(LEASE + 1)
        again = await take(inbox, "next")
        assert (lost.attempt, again.attempt) == (1, 2)
        assert again.token > lost.token

    async def test_rd_01_a_renewed_lease_lasts(self, inbox: Mailbox, clock: Clock) -> None:
        await inbox.put(event("1"))
        slow = await take(inbox)
        for _ in range(5):
            clock.advance(LEASE * 0.6)
            assert await inbox.renew(slow, LEASE)
            assert await inbox.take("other", LEASE) is None
        assert await inbox.done(slow)

    async def test_rd_01_who_lost_the_lease_changes_nothing(
        self, inbox: Mailbox, clock: Clock
    ) -> None:
        await inbox.put(event("1"))
        lost = await take(inbox)
        clock.advance(LEASE + 1)
        holder = await take(inbox)
        assert not await inbox.renew(lost, LEASE)
        assert not await inbox.done(lost)
        await inbox.release(lost)
        assert await inbox.join(lost, Joining()) == lost
        assert await inbox.kept(lost) is None
        with pytest.raises(LeaseLost):
            await inbox.keep(lost, Reply("from the past"))
        with pytest.raises(LeaseLost):
            await inbox.begin(lost, 0)
        assert await inbox.take("third", LEASE) is None
        assert await inbox.renew(holder, LEASE)
        assert await inbox.done(holder)
        assert not await inbox.done(holder)

    async def test_a_lease_that_nobody_else_took_still_counts(
        self, inbox: Mailbox, clock: Clock
    ) -> None:
        await inbox.put(event("1"))
        late = await take(inbox)
        clock.advance(LEASE + 1)
        assert await inbox.done(late)
        assert await inbox.take("other", LEASE) is None

    async def test_given_back_is_taken_at_once_with_a_new_attempt(self, inbox: Mailbox) -> None:
        await inbox.put(event("1"))
        first = await take(inbox)
        await inbox.release(first)
        assert (await take(inbox)).attempt == 2
        assert not await inbox.done(first)


class TestMoves:
    """TG-09: a basic group became a supergroup."""

    async def test_tg_09_waiting_questions_move(self, inbox: Mailbox) -> None:
        await inbox.put(event("1", place=replace(OPS, id="-4001", thread="7")))
        await inbox.put(event("1", "elsewhere", place=private("42")))
        await inbox.move("telegram", "-4001", "-1001")
        moved = (await take(inbox)).event
        assert moved.place == replace(OPS, id="-1001", thread="7")
        assert (await take(inbox)).event.place == private("42")

    async def test_tg_09_a_moved_question_is_not_asked_twice(self, inbox: Mailbox) -> None:
        old, new = replace(OPS, id="-4001"), replace(OPS, id="-1001")
        await inbox.put(event("1", place=old))
        await inbox.put(event("2", place=old))
        await inbox.done(await take(inbox))
        await inbox.move("telegram", "-4001", "-1001")
        await inbox.move("telegram", "-4001", "-1001")
        for message in "12":
            assert not await inbox.put(event(message, place=old))
            assert not await inbox.put(event(message, place=new))
        assert await inbox.put(event("2", "edited", kind=Kind.EDIT, place=old))
        assert await taken_texts(inbox) == ["edited"]

    async def test_tg_09_the_new_place_numbers_its_messages_anew(self, inbox: Mailbox) -> None:
        old, new = replace(OPS, id="-4001"), replace(OPS, id="-1001")
        await inbox.put(event("5", place=old))
        await inbox.put(event("5", "came before the notice", place=new, seconds=1))
        await inbox.put(event("6", place=old))
        await inbox.move("telegram", "-4001", "-1001")
        assert await inbox.put(event("6", "another sixth", place=new, seconds=60))
        assert await taken_texts(inbox) == [
            "question 5", "came before the notice", "question 6", "another sixth",
        ]  # fmt: skip

    async def test_tg_09_what_arrives_late_for_the_old_place(self, inbox: Mailbox) -> None:
        await inbox.move("telegram", "-1", "-2")
        await inbox.move("telegram", "-2", "-3")
        await inbox.put(event("9", place=replace(OPS, id="-1")))
        notice = event("10", kind=Kind.MOVED, place=replace(OPS, id="-1"), moved_to="-2")
        await inbox.put(notice)
        assert (await take(inbox)).event.place.id == "-3"
        assert (await take(inbox)).event == notice

    async def test_a_question_at_work_is_finished_after_the_move(self, inbox: Mailbox) -> None:
        await inbox.put(event("1"))
        taken = await take(inbox)
        await inbox.move("telegram", OPS.id, "-1001")
        assert await inbox.renew(taken, LEASE)
        assert await inbox.begin(taken, 0) is PartState.OPEN
        assert await inbox.done(taken)
        assert await inbox.waiting() == 0


class TestAnswers:
    async def test_the_first_answer_is_the_one_that_is_kept(
        self, inbox: Mailbox, clock: Clock
    ) -> None:
        answer = Answer("q1", Outcome.ANSWERED, "Drain it.", "en")
        reply = Reply("Drain it.", (Button("Источники", "s:1"),), answer, private=True)
        await inbox.put(event("1"))
        killed = await take(inbox)
        assert await inbox.kept(killed) is None
        assert await inbox.keep(killed, reply) == reply
        clock.advance(LEASE + 1)
        heir = await take(inbox)
        assert await inbox.kept(heir) == replace(reply, answer=None)
        assert await inbox.keep(heir, Reply("Another.")) == replace(reply, answer=None)

    async def test_what_the_next_process_finds(self, inbox: Mailbox, clock: Clock) -> None:
        await inbox.put(event("1"))
        killed = await take(inbox)
        for part in range(3):
            assert await inbox.begin(killed, part) is PartState.OPEN
            inbox.mark(killed, part, Leg.OUT)
            if part < 2:
                inbox.mark(killed, part, Leg.SHOWN)
                await inbox.end(killed, part, sent=True)
        clock.advance(LEASE + 1)
        heir = await take(inbox)
        states = [await inbox.begin(heir, part) for part in range(4)]
        sent, uncertain, unsent = PartState.SENT, PartState.UNCERTAIN, PartState.OPEN
        assert states == [sent, sent, uncertain, unsent]

    @pytest.mark.parametrize(
        ("legs", "found"),
        [
            ([], PartState.OPEN),
            ([Leg.OUT], PartState.UNCERTAIN),
            ([Leg.OUT, Leg.SHOWN], PartState.SENT),
            ([Leg.OUT, Leg.FAILED], PartState.OPEN),
        ],
    )
    @pytest.mark.parametrize("part", [0, 1, CLOSING])
    async def test_the_marks_of_a_killed_process_count(
        self, inbox: Mailbox, clock: Clock, *, part: int, legs: list[Leg], found: PartState
    ) -> None:
        await inbox.put(event("1"))
        killed = await take(inbox)
        if part:
            await inbox.begin(killed, 0)
            inbox.mark(killed, 0, Leg.OUT)
            inbox.mark(killed, 0, Leg.SHOWN)
            await inbox.end(killed, 0, sent=True)
        await inbox.begin(killed, part)
        for leg in legs:
            inbox.mark(killed, part, leg)
        for _ in range(2):  # the next process dies as well, before it sends anything
            clock.advance(LEASE + 1)
            heir = await take(inbox)
            assert await inbox.begin(heir, part) is found

    async def test_what_certainly_failed_is_sent_again(self, inbox: Mailbox) -> None:
        await inbox.put(event("1"))
        taken = await take(inbox)
        for _ in range(3):
            assert await inbox.begin(taken, 0) is PartState.OPEN
            inbox.mark(taken, 0, Leg.OUT)
            inbox.mark(taken, 0, Leg.FAILED)
            await inbox.end(taken, 0, sent=False)

    async def test_rd_01_a_part_that_another_worker_claimed_does_not_go_out(
        self, inbox: Mailbox, clock: Clock
    ) -> None:
        """A process stood still between claiming and sending, and wakes up."""
        await inbox.put(event("1"))
        frozen = await take(inbox)
        await inbox.begin(frozen, 0)
        clock.advance(LEASE + 1)
        heir = await take(inbox)
        assert await inbox.begin(heir, 0) is PartState.OPEN
        with pytest.raises(LeaseLost):
            inbox.mark(frozen, 0, Leg.OUT)
        inbox.mark(heir, 0, Leg.OUT)

    async def test_a_confirmation_counts_after_the_lease_was_lost(
        self, inbox: Mailbox, clock: Clock
    ) -> None:
        await inbox.put(event("1"))
        slow = await take(inbox)
        await inbox.begin(slow, 0)
        inbox.mark(slow, 0, Leg.OUT)
        clock.advance(LEASE + 1)
        heir = await take(inbox)
        await inbox.end(slow, 0, sent=True)
        assert await inbox.begin(heir, 0) is PartState.SENT


class TestPastes:
    """TG-18: a long paste arrives as several messages."""

    async def test_tg_18_the_pieces_become_one_question(self, inbox: Mailbox) -> None:
        await inbox.put(event("1", "log one", addressed=False))
        await inbox.put(replace(event("2", "log two", seconds=1), attachments=("a.log",)))
        await inbox.put(event("3", "of Boris", person=BORIS, seconds=1))
        await inbox.put(event("4", "why does it fail?", seconds=2))
        await inbox.put(event("5", "elsewhere", place=private("42"), seconds=2))
        taken = await take(inbox)
        whole = await inbox.join(taken, Joining())
        assert whole.event.text == "log one\nlog two\nwhy does it fail?"
        assert whole.event.attachments == ("a.log",)
        assert whole.event.addressed
        assert await inbox.join(whole, Joining()) == whole
        assert not await inbox.put(event("4", "why does it fail?", seconds=2))
        assert await inbox.done(whole)
        assert await taken_texts(inbox) == ["of Boris", "elsewhere"]

    async def test_tg_18_a_crash_after_joining_keeps_the_whole(
        self, inbox: Mailbox, clock: Clock
    ) -> None:
        await inbox.put(event("1", "log"))
        await inbox.put(event("2", "why?"))
        await inbox.join(await take(inbox), Joining())
        clock.advance(LEASE + 1)
        assert await taken_texts(inbox) == ["log\nwhy?"]

    @pytest.mark.parametrize(
        "other",
        [
            event("2", "/help"),
            event("2", "much later", seconds=600),
            event("2", "of Boris", person=BORIS),
            event("2", "in a topic", place=replace(OPS, thread="7")),
        ],
        ids=lambda other: str(other.text),
    )
    async def test_other_messages_stay_their_own(self, inbox: Mailbox, other: Incoming) -> None:
        await inbox.put(event("1", "log"))
        await inbox.put(other)
        taken = await take(inbox)
        assert await inbox.join(taken, Joining()) == taken
        assert await inbox.waiting() == 2

    async def test_the_number_of_pieces_is_bounded(self, inbox: Mailbox) -> None:
        for number in range(6):
            await inbox.put(event(str(number)))
        joined = await inbox.join(await take(inbox), Joining(pieces=4))
        assert joined.event.text.count("question") == 4
        assert await inbox.waiting() == 3


STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("put"), st.integers(0, 3), st.integers(0, 9)),
        st.tuples(st.just("take"), st.just(0), st.just(0)),
        st.tuples(st.sampled_from(["done", "renew", "forget"]), st.integers(0, 5), st.just(0)),
        st.tuples(st.just("release"), st.integers(0, 5), st.integers(0, 40)),
        st.tuples(st.just("wait"), st.integers(1, 45), st.just(0)),
        st.tuples(st.just("edit"), st.integers(0, 3), st.integers(0, 9)),
    ),
    max_size=60,
)


class History:
    """Plays steps against an inbox and holds it to its promises after each."""

    def __init__(self, inbox: Mailbox, clock: Clock) -> None:
        self.inbox, self.clock = inbox, clock
        self.put: dict[str, list[str]] = defaultdict(list)
        self.finished: dict[str, list[str]] = defaultdict(list)
        self.held: list[tuple[Taken, float]] = []

    async def play(self, step: str, first: int, second: int) -> None:
        if step == "wait":
            self.clock.advance(first)
        elif step == "take":
            await self.take()
        elif step in ("put", "edit"):
            await self.change(step, first, second)
        elif self.held:
            await self.settle(step, first % len(self.held), second)

    async def change(self, step: str, place: int, message: int) -> None:
        kind = Kind.EDIT if step == "edit" else Kind.QUESTION
        asked = event(str(message), place=private(str(place)), kind=kind)
        stored = await self.inbox.put(asked)
        if kind is Kind.QUESTION:
            keys = self.put[asked.place.conversation]
            assert stored == (asked.key not in keys)
            keys += [asked.key] if stored else []

    async def take(self) -> None:
        taken = await self.inbox.take("worker", LEASE)
        if taken is None:
            return
        conversation = taken.event.place.conversation
        for other, until in self.held:
            if other.event.place.conversation == conversation:
                assert until <= self.clock(), "two at work on one conversation"
        done = self.finished[conversation]
        assert taken.event.key == self.put[conversation][len(done)], "out of order"
        self.held.append((taken, self.clock() + LEASE))

    async def settle(self, step: str, index: int, delay: int) -> None:
        taken, _ = self.held[index]
        newest = all(
            other.token <= taken.token for other, _ in self.held if other.event == taken.event
        )
        if step == "renew":
            held = await self.inbox.renew(taken, LEASE)
            assert newest or not held
            if held:
                self.held[index] = (taken, self.clock() + LEASE)
            return
        del self.held[index]
        if step == "release":
            await self.inbox.release(taken, delay)
        elif step == "done" and await self.inbox.done(taken):
            self.finished[taken.event.place.conversation].append(taken.event.key)

    async def finish(self) -> None:
        """Everybody who is at work dies; the next process answers the rest."""
        self.held.clear()
        self.clock.advance(10 * LEASE)
        while (taken := await self.inbox.take("heir", LEASE)) is not None:
            assert await self.inbox.done(taken)
            self.finished[taken.event.place.conversation].append(taken.event.key)
        assert {k: v for k, v in self.finished.items() if v} == self.put
        assert await self.inbox.waiting() == 0


@pytest.mark.parametrize("which", ["memory", "sqlite"])
def test_no_history_loses_an_event_or_finishes_it_twice(which: str) -> None:
    @settings(max_examples=40, deadline=None)
    @given(steps=STEPS)
    def check(steps: list[tuple[str, int, int]]) -> None:
        async def play() -> None:
            clock = Clock()
            with tempfile.TemporaryDirectory() as folder:
                inbox = await open_inbox(which, Path(folder), clock)
                history = History(inbox, clock)
                try:
                    for step in steps:
                        await history.play(*step)
                    await history.finish()
                finally:
                    await inbox.close()

        asyncio.run(play())

    check()


async def test_ids_and_times_of_ages_apart(inbox: Mailbox) -> None:
    """The queue goes by arrival, not by the platform's clock."""
    await inbox.put(event("2", "arrived first", seconds=timedelta(days=1).total_seconds()))
    await inbox.put(event("1", "arrived second", person=ANN))
    assert await taken_texts(inbox) == ["arrived first", "arrived second"]
