"""What a thread said before a question: its first message and the newest ones, whoever wrote."""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from adapters.slack.events import Me
from adapters.slack.options import Options
from adapters.slack.people import People
from adapters.slack.reading import NotGiven, Reading
from adapters.slack.words import Json, everything
from bot.chat import Incoming, Quote
from bot.errors import AccessWithdrawn, DeliveryFailed
from graph.followup import cut

_log = logging.getLogger(__name__)

_SAID = frozenset({None, "bot_message", "file_share", "thread_broadcast", "me_message"})


@dataclass(frozen=True, slots=True)
class Backlog:
    """`before`, oldest first, without the bot's own messages; `files` came with the question."""

    before: tuple[Json, ...] = ()
    files: tuple[Json, ...] = ()


class Backlogs:
    def __init__(self, reading: Reading, people: People, options: Options) -> None:
        self._reading, self._people, self._options = reading, people, options

    async def of(self, event: Incoming, me: Me) -> Backlog:
        """A thread that Slack does not show counts as empty. Raises DeliveryFailed,
        AccessWithdrawn."""
        try:
            messages = await self._read(event)
        except NotGiven as refusal:
            _log.warning("a thread could not be read: %s", refusal.code)
            return Backlog()
        before = [m for m in messages if _order(m) < _name(event) and _counts(m, me)]
        own = next((m for m in messages if m.get("ts") == event.message_id), {})
        files = [file for file in own.get("files") or () if isinstance(file, dict)]
        return Backlog(tuple(before), tuple(files))

    async def quotes(self, before: Sequence[Json], me: Me) -> tuple[Quote, ...]:
        """The messages as context, within the bounds: the first one, and the newest that fit."""
        options = self._options
        most = options.message_characters
        texts = [cut(everything(message, me.user), most) for message in before]
        room = options.context_characters - (len(texts[0]) if texts else 0)
        kept: list[int] = []
        for number in range(len(texts) - 1, 0, -1):
            room -= len(texts[number])
            if room < 0:
                break
            kept.insert(0, number)
        shown = [number for number in ([0, *kept] if texts else []) if texts[number]]
        names = await self._names([before[number] for number in shown], me)
        return tuple(Quote(texts[number], name) for number, name in zip(shown, names, strict=True))

    async def _read(self, event: Incoming) -> list[Json]:
        """The thread up to the question and with it. Slack pages from the oldest message on, so
        of a very long thread the messages beyond the last page are not seen."""
        root: Json | None = None
        newest: deque[Json] = deque(maxlen=self._options.thread_messages)
        cursor = ""
        for _ in range(self._options.pages):
            page = await self._page(event, cursor)
            messages = [m for m in page.get("messages") or () if isinstance(m, dict)]
            if root is None and messages:
                root = messages.pop(0)
            newest.extend(messages)
            cursor = (page.get("response_metadata") or {}).get("next_cursor") or ""
            if not cursor:
                break
        return [*([root] if root else []), *newest]

    async def _page(self, event: Incoming, cursor: str) -> Mapping[str, Any]:
        more = {"cursor": cursor} if cursor else {}
        return await self._reading(
            "conversations.replies",
            channel=event.place.id,
            ts=event.place.thread,
            latest=event.message_id,
            inclusive=True,
            limit=self._options.page,
            **more,
        )

    async def _names(self, messages: Sequence[Json], me: Me) -> list[str]:
        """Whoever wrote them; people that Slack says nothing of go by their id."""
        users = {str(m["user"]) for m in messages if not _app(m)}
        async with asyncio.TaskGroup() as group:
            asked = {user: group.create_task(self._called(user, me)) for user in users}
        return [_app(m) or asked[str(m["user"])].result() for m in messages]

    async def _called(self, user: str, me: Me) -> str:
        try:
            return (await self._people.profile(user, me)).name or user
        except (DeliveryFailed, AccessWithdrawn):
            return user


def _app(message: Json) -> str:
    """The name of an app that wrote; "" for people."""
    if message.get("user") and not message.get("bot_id"):
        return ""
    profile = message.get("bot_profile") or {}
    return str(message.get("username") or profile.get("name") or message.get("bot_id") or "app")


def _counts(message: Json, me: Me) -> bool:
    mine = message.get("user") == me.user or (me.bot and message.get("bot_id") == me.bot)
    return not mine and message.get("subtype") in _SAID


def _order(message: Json) -> tuple[int, int]:
    return _ts(str(message.get("ts") or "0.0"))


def _name(event: Incoming) -> tuple[int, int]:
    return _ts(event.message_id)


def _ts(text: str) -> tuple[int, int]:
    seconds, _, serial = text.partition(".")
    return (int(seconds), int(serial or 0)) if seconds.isdecimal() else (0, 0)
