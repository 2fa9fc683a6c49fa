"""What must be looked up before an event is worked on; it was acknowledged long before."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace

from adapters.slack.backlog import Backlogs
from adapters.slack.events import Me
from adapters.slack.file_objects import attachments_of
from adapters.slack.files import Files
from adapters.slack.people import People
from adapters.slack.words import Json
from bot.attachments import Attachment
from bot.chat import Incoming, Kind
from bot.commands.add import hands_in


async def everybody(_: Incoming) -> bool:
    return True


class Lookups:
    """`reads` tells whether the files of a question are read: those of strangers are not."""

    def __init__(
        self,
        people: People,
        backlogs: Backlogs,
        files: Files,
        reads: Callable[[Incoming], Awaitable[bool]] = everybody,
    ) -> None:
        self._people, self._backlogs, self._files = people, backlogs, files
        self._reads = reads

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
        below = event.place.thread not in ("", event.message_id)
        in_thread = below and event.place.kind != "private"
        to_keep = hands_in(event.text)
        reads = bool(event.attachments) and not to_keep and await self._reads(event)
        if not (in_thread or reads or (to_keep and not event.files and event.place.thread)):
            return event
        backlog = await self._backlogs.of(event, me)
        said = await self._backlogs.quotes(backlog.before, me) if in_thread else ()
        read, unread = await self._files.read(backlog.files if reads else ())
        attachments = unread if reads and backlog.files else event.attachments
        own = attachments_of({"files": list(backlog.files), "ts": event.message_id})
        return replace(
            event,
            context=(*said, *read),
            attachments=attachments,
            files=event.files or own,
            nearby=_newest(backlog.before),
        )


def _newest(before: Sequence[Json]) -> tuple[Attachment, ...]:
    """The files that came last, with one message."""
    return next((found for item in reversed(before) if (found := attachments_of(item))), ())
