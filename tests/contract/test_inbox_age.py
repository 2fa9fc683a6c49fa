"""How old what waits in an inbox is, on every inbox."""

from __future__ import annotations

from datetime import timedelta

from contract.inbox_events import START, event, take

from bot.delivery import Mailbox


async def test_the_oldest_is_the_first_that_has_no_answer(inbox: Mailbox) -> None:
    assert await inbox.oldest() is None
    await inbox.put(event("1", seconds=5))
    await inbox.put(event("2", seconds=9))
    assert await inbox.oldest() == START + timedelta(seconds=5)
    first = await take(inbox)
    assert await inbox.oldest() == START + timedelta(seconds=5)
    await inbox.done(first)
    assert await inbox.oldest() == START + timedelta(seconds=9)
    await inbox.done(await take(inbox))
    assert await inbox.oldest() is None


async def test_an_event_that_was_put_off_still_counts(inbox: Mailbox) -> None:
    await inbox.put(event("1"))
    await inbox.release(await take(inbox), delay=600.0)
    assert await inbox.oldest() == START
