"""What every inbox promises of work: one at a time, handed on, and nothing done twice or lost."""

from __future__ import annotations

import asyncio
import tempfile
from collections import defaultdict
from dataclasses import replace
from pathlib import Path

import pytest
from contract.inbox_events import LEASE, OPS, Clock, event, open_inbox, private, take, taken_texts
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.chat import Kind, Reply
from bot.delivery import LeaseLost, Mailbox, PartState
from bot.pending import Joining
from bot.ports import Taken


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


class TestSigns:
    """OP-01: the message that shows the work outlives the process that wrote it."""

    async def test_op_01_the_next_attempt_knows_where_the_work_is_shown(
        self, inbox: Mailbox, clock: Clock
    ) -> None:
        await inbox.put(event("1"))
        killed = await take(inbox)
        assert killed.event.sign == ""
        await inbox.sign(killed, "m1")
        await inbox.sign(killed, "m2")
        clock.advance(LEASE + 1)
        heir = await take(inbox)
        assert heir.event == replace(killed.event, sign="m2")
        await inbox.sign(killed, "m3")
        await inbox.release(heir)
        assert (await take(inbox)).event.sign == "m2"

    async def test_a_sign_of_what_is_done_is_no_matter(self, inbox: Mailbox) -> None:
        await inbox.put(event("1"))
        taken = await take(inbox)
        await inbox.done(taken)
        await inbox.sign(taken, "m1")
        assert await inbox.waiting() == 0


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


def test_no_history_loses_an_event_or_finishes_it_twice(kind: str) -> None:
    @settings(max_examples=40, deadline=None)
    @given(steps=STEPS)
    def check(steps: list[tuple[str, int, int]]) -> None:
        async def play() -> None:
            clock = Clock()
            with tempfile.TemporaryDirectory() as folder:
                inbox = await open_inbox(kind, Path(folder), clock)
                history = History(inbox, clock)
                try:
                    for step in steps:
                        await history.play(*step)
                    await history.finish()
                finally:
                    await inbox.close()

        asyncio.run(play())

    check()
