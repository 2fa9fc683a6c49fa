"""The two ways that a message takes: into the thread for everybody, or to the asker alone."""

from __future__ import annotations

import asyncio
import logging
from abc import ABC, abstractmethod
from collections.abc import Mapping
from enum import Enum, auto
from typing import Any

from aiohttp import ClientError
from slack_sdk.errors import SlackApiError, SlackClientError

from adapters.slack.line import Line
from adapters.slack.message import (
    EVENT_TYPE,
    Form,
    Json,
    Route,
    post,
    response,
    update,
    whisper,
)
from adapters.slack.reading import code_of
from adapters.slack.requests import (
    Closed,
    Refused,
    Spent,
    TargetGone,
    Unclear,
    Unreachable,
    Unreadable,
)
from adapters.slack.stream import POST, STOP, UPDATE, Shown, Signs
from bot.errors import DeliveryFailed, PlatformGone

_log = logging.getLogger(__name__)

_WHISPER, _RESPONSE = "chat.postEphemeral", "response_url"
_GONE = "thread_not_found"
_PAGE = 100  # messages of a thread looked through, beginning with the question


class Fate(Enum):
    """What became of a call whose end nobody saw."""

    SHOWN = auto()
    ABSENT = auto()
    REPEATABLE = auto()  # whatever it was: the same call again changes nothing more
    UNKNOWN = auto()


class Outlet(ABC):
    def __init__(self, line: Line, route: Route) -> None:
        self._line, self._route = line, route

    @property
    @abstractmethod
    def pace(self) -> str:
        """The clock that the next call goes by."""

    @abstractmethod
    async def show(self, form: Form, name: str) -> None:
        """Shows one message. Raises PlatformGone, Refused, Unclear."""

    @abstractmethod
    def leave(self, refusal: Refused, *, last: bool) -> bool:
        """Whether another way is open after this refusal. `last`: no simpler form is left."""

    @abstractmethod
    async def fate(self, name: str) -> Fate: ...

    async def _call(self, method: str, payload: Json) -> Mapping[str, Any]:
        return await self._line.requests(method, payload, self._line.options.call_timeout)


class Thread(Outlet):
    """Into the thread. A message that showed the work becomes the first one."""

    def __init__(self, line: Line, route: Route, signs: Signs, since: str) -> None:
        super().__init__(line, route)
        self._signs, self._since = signs, since

    @property
    def pace(self) -> str:
        if self._signs.shown is None:
            return f"{POST}:{self._route.channel}"
        return STOP if self._signs.shown.open else UPDATE

    async def show(self, form: Form, name: str) -> None:
        shown = self._signs.shown
        if shown is None:
            await self._not_astray(await self._call(POST, post(form, self._route, name)))
        elif not (shown.open and await self._stop(shown, form)):
            await self._call(UPDATE, update(form, self._route, shown.ts))
        self._signs.shown, self._signs.status = None, False

    def leave(self, refusal: Refused, *, last: bool) -> bool:
        """A message that cannot be changed is left as it is: the text is posted anew."""
        stuck = isinstance(refusal, TargetGone) or (last and isinstance(refusal, Unreadable))
        if self._signs.shown is None or not stuck:
            return False
        self._signs.shown = None
        return True

    async def fate(self, name: str) -> Fate:
        """Looks for the message in its thread, where that may be read."""
        if self._signs.shown is not None:
            return Fate.REPEATABLE
        if not self._route.thread:
            return Fate.UNKNOWN
        try:
            async with asyncio.timeout(self._line.options.call_timeout):
                page = await self._line.client.conversations_replies(
                    channel=self._route.channel,
                    ts=self._route.thread,
                    oldest=self._since or self._route.thread,
                    inclusive=True,
                    limit=_PAGE,
                    include_all_metadata=True,
                )
        except (SlackClientError, ClientError, TimeoutError, OSError) as error:
            _log.warning("a message was looked for in vain: %s", type(error).__name__)
            return Fate.UNKNOWN
        messages: list[Json] = page.get("messages") or []
        if any(_named(message, name) for message in messages):
            return Fate.SHOWN
        return Fate.UNKNOWN if page.get("has_more") else Fate.ABSENT

    async def _not_astray(self, posted: Mapping[str, Any]) -> None:
        """Slack posts an answer to a deleted message into the channel itself, and says nothing:
        there it is taken back. Raises Unreachable."""
        message = posted.get("message")
        if not self._route.thread or not isinstance(message, dict) or message.get("thread_ts"):
            return
        if await self._is_thread_gone():
            await self._remove(str(posted.get("ts") or ""), "chat.delete")
            raise Unreachable("the question was deleted")

    async def _is_thread_gone(self) -> bool:
        channel, root = self._route.channel, self._route.thread
        try:
            async with asyncio.timeout(self._line.options.call_timeout):
                await self._line.client.conversations_replies(channel=channel, ts=root, limit=1)
        except SlackApiError as error:
            return code_of(error) == _GONE
        except (SlackClientError, ClientError, TimeoutError, OSError):
            return False
        return False

    async def take_back(self) -> None:
        """Removes a sign of work that no text took the place of."""
        shown, self._signs.shown = self._signs.shown, None
        if shown is None:
            return
        methods = (STOP, "chat.delete") if shown.open else ("chat.delete",)
        await self._remove(shown.ts, *methods)

    async def _remove(self, ts: str, *methods: str) -> None:
        place = {"channel": self._route.channel, "ts": ts}
        for method in methods:
            try:
                await self._line.requests(method, place, self._line.options.sign_timeout)
            except (DeliveryFailed, PlatformGone, Unclear) as trouble:
                _log.info("a message was not taken back: %s", trouble)

    async def _stop(self, shown: Shown, form: Form) -> bool:
        """Ends the stream with the rest of the text; False when the text is not shown by that."""
        ends: Json = {"channel": self._route.channel, "ts": shown.ts}
        grows = bool(form.markdown) and shown.text is not None
        whole = grows and form.markdown.startswith(shown.text or "")
        if whole:
            rest = form.markdown[len(shown.text or "") :]
            ends |= {"markdown_text": rest} if rest else {}
            ends |= {"blocks": list(form.actions)} if form.actions else {}
        try:
            await self._call(STOP, ends)
        except Closed:
            whole = False
        shown.open = False
        return whole


class Whisper(Outlet):
    """To the asker alone: at the address that came with a command or a pressed button, as long
    as that is good, else as an ephemeral message. What was sent so cannot be looked for again."""

    def __init__(self, line: Line, route: Route, address: str) -> None:
        super().__init__(line, route)
        self._address = address

    @property
    def pace(self) -> str:
        return _RESPONSE if self._address else f"{_WHISPER}:{self._route.channel}"

    async def show(self, form: Form, name: str) -> None:
        if self._address:
            seconds = self._line.options.call_timeout
            await self._line.requests.respond(self._address, response(form, self._route), seconds)
        else:
            await self._call(_WHISPER, whisper(form, self._route))

    def leave(self, refusal: Refused, *, last: bool) -> bool:
        if not (self._address and isinstance(refusal, Spent)):
            return False
        self._address = ""
        return True

    async def fate(self, name: str) -> Fate:
        return Fate.UNKNOWN


def _named(message: Mapping[str, Any], name: str) -> bool:
    metadata = message.get("metadata") or {}
    payload = metadata.get("event_payload") or {}
    return metadata.get("event_type") == EVENT_TYPE and payload.get("name") == name
