"""What every inbox promises of answers and long pastes: kept, and known to the next process."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest
from contract.inbox_events import BORIS, LEASE, OPS, Clock, event, private, take, taken_texts

from bot.attachments import Attachment
from bot.chat import Button, Incoming, Person, Reply
from bot.delivery import CLOSING, LeaseLost, Leg, Mailbox, PartState
from bot.pending import Joining
from graph.model import Answer, Outcome


class TestAnswers:
    async def test_the_first_answer_is_the_one_that_is_kept(
        self, inbox: Mailbox, clock: Clock
    ) -> None:
        answer = Answer("q1", Outcome.ANSWERED, "Drain it.", "en")
        reply = Reply(
            "Drain it.",
            (Button("Источники", "s:1"),),
            answer,
            mentions=(Person("telegram", "7", "Ann"),),
            private=True,
        )
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

    @pytest.mark.parametrize("captions", [("", "why?", ""), ("why?", "", ""), ("", "", "")])
    async def test_tg_18_an_album_is_one_question_wherever_its_caption_stands(
        self, inbox: Mailbox, captions: Sequence[str]
    ) -> None:
        for number, caption in enumerate(captions):
            picture = replace(event(str(number)), text=caption, album="a", attachments=("photo",))
            await inbox.put(replace(picture, files=(Attachment(f"F{number}", "a.pdf"),)))
        for number, album in ((7, ""), (8, "b")):
            await inbox.put(event(str(number), "another question", album=album))
        whole = await inbox.join(await take(inbox), Joining())
        assert whole.event.text == "".join(captions)
        assert whole.event.attachments == ("photo",) * 3
        assert [file.id for file in whole.event.files] == ["F0", "F1", "F2"]
        assert await inbox.waiting() == 3

    async def test_the_number_of_pieces_is_bounded(self, inbox: Mailbox) -> None:
        for number in range(6):
            await inbox.put(event(str(number)))
        joined = await inbox.join(await take(inbox), Joining(pieces=4))
        assert joined.event.text.count("question") == 4
        assert await inbox.waiting() == 3
