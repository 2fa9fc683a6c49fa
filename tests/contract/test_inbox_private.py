"""Questions that people ask in private, in one place: each waits for nobody but themselves."""

from __future__ import annotations

from dataclasses import replace

from contract.inbox_events import ANN, BORIS, LEASE, OPS, event, take

from bot.delivery import Mailbox


async def test_people_who_ask_in_private_do_not_wait_for_each_other(inbox: Mailbox) -> None:
    first = replace(event("1", "which port?", place=OPS), person=ANN, private=True)
    for asked in (
        first,
        replace(first, message_id="2", text="and the host?"),
        replace(first, message_id="3", person=BORIS),
        replace(first, message_id="4", person=BORIS, private=False),
    ):
        await inbox.put(asked)
    taken = [await take(inbox), await take(inbox), await take(inbox)]
    assert [one.event.message_id for one in taken] == ["1", "3", "4"]
    assert await inbox.take("another", LEASE) is None
    await inbox.done(taken[0])
    assert (await take(inbox)).event.message_id == "2"
