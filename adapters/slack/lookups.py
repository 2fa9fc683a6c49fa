"""What must be looked up before an event is worked on; it was acknowledged long before."""

from __future__ import annotations

from dataclasses import replace

from adapters.slack.backlog import Backlogs
from adapters.slack.events import Me
from adapters.slack.files import Files
from adapters.slack.people import People
from bot.chat import Incoming, Kind


class Lookups:
    def __init__(self, people: People, backlogs: Backlogs, files: Files) -> None:
        self._people, self._backlogs, self._files = people, backlogs, files

    async def completed(self, event: Incoming, me: Me) -> Incoming:
        """With the standing of the person and the place, what the thread said before, and the
        texts of files. Raises DeliveryFailed while Slack is not reached, and AccessWithdrawn."""
        if event.kind is Kind.REMOVED:  # Slack says nothing any more of a place that was left
            return event
        person, language = await self._people.person(event.person, me)
        place = await self._people.place(event.place)
        known = replace(event, person=person, place=place, language=language or event.language)
        return await self._with_context(known, me) if known.kind is Kind.QUESTION else known

    async def _with_context(self, event: Incoming, me: Me) -> Incoming:
        """A direct message has no context but the conversation itself, which is remembered."""
        in_thread = event.place.kind != "private" and event.place.thread != event.message_id
        if not event.place.thread or not (in_thread or event.attachments):
            return event
        backlog = await self._backlogs.of(event, me)
        said = await self._backlogs.quotes(backlog.before, me) if in_thread else ()
        read, unread = await self._files.read(backlog.files)
        attachments = unread if backlog.files else event.attachments
        return replace(event, context=(*said, *read), attachments=attachments)
