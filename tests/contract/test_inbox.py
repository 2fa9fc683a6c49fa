"""What every inbox promises of waiting events: known once, changed while they wait, in order."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest
from contract.inbox_events import (
    ANN,
    BORIS,
    LEASE,
    OPS,
    START,
    Clock,
    event,
    open_inbox,
    private,
    take,
    taken_texts,
)

from bot.attachments import Attachment
from bot.chat import Kind, Place, Quote, Reply
from bot.delivery import Mailbox

DAY = 86_400.0


class TestPut:
    async def test_an_event_comes_back_as_it_was(self, inbox: Mailbox) -> None:
        place = Place("telegram", "-100", "group", "77", title="<!here> *x*", outsiders=True)
        asked = replace(
            event("1", "Почему \ud83d падает?", place=place),
            person=replace(ANN, outsider=True),
            quote=Quote("alert: disk full", "monitor", "17"),
            attachments=("log.txt", "снимок.png"),
            files=(Attachment("F1", "log.txt", "text/plain", 12, "17"),),
            nearby=(Attachment("F0", "\u202eплан.pdf"),),
            language="ru",
            value="v",
            reference="cb-1",
            addressed=False,
            private=True,
            context=(Quote("[FIRING:1] KubeJobFailed", "Alertmanager"), Quote("дежурный?")),
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


async def test_ids_and_times_of_ages_apart(inbox: Mailbox) -> None:
    """The queue goes by arrival, not by the platform's clock."""
    await inbox.put(event("2", "arrived first", seconds=timedelta(days=1).total_seconds()))
    await inbox.put(event("1", "arrived second", person=ANN))
    assert await taken_texts(inbox) == ["arrived first", "arrived second"]
