"""Slack: notices in, by Socket Mode or by signed requests, and conversations out.

A notice is stored before it is acknowledged, and acknowledged at once: what Slack leaves out of it
is looked up when the event is worked on. What comes twice is the sink's to tell apart.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any

from aiohttp import ClientError, ClientSession
from slack_sdk.errors import SlackApiError, SlackClientError
from slack_sdk.web.async_client import AsyncWebClient

from adapters.slack.app import make_app
from adapters.slack.checks import Door, findings
from adapters.slack.conversation import SlackConversation
from adapters.slack.downloads import Downloads
from adapters.slack.events import (
    PLATFORM,
    AssistantOpened,
    HomeOpened,
    Me,
    Notice,
    Withdrawn,
    notice,
)
from adapters.slack.home import prompts, view
from adapters.slack.line import Line
from adapters.slack.links import link_to
from adapters.slack.lookups import Lookups
from adapters.slack.options import Options
from adapters.slack.outage import Outage
from adapters.slack.people import People
from adapters.slack.reading import REMEDY, WITHDRAWN, code_of
from adapters.slack.socket import Socket
from adapters.slack.webhook import PATH, Webhook
from bot.attachments import Attachment, Download, Downloading
from bot.chat import Incoming, Kind, Place
from bot.errors import (
    AccessWithdrawn,
    DeliveryFailed,
    PlatformGone,
    SettingsError,
    StorageError,
)
from bot.home import Pages, suggestions
from bot.http import Mount
from bot.pending import asked_by
from bot.ports import (
    Completing,
    Conversation,
    Finding,
    Grouping,
    Linking,
    Platform,
    Receiving,
    Sink,
)
from bot.threads import FollowedThreads

_log = logging.getLogger(__name__)

_GONE = {
    "uninstalled": "the app was uninstalled from the workspace",
    "revoked": "the bot token was revoked",
}
_MENTIONS = 1_000  # that are remembered, so that a repetition does not undo a mute


@dataclass(frozen=True, slots=True)
class Hook:
    """Signed requests: the app's signing secret, and the server that hears them."""

    secret: str
    server: Mount


@dataclass(frozen=True, slots=True)
class Parts:
    """What the platform is made of; factory.py makes it from plain values."""

    session: ClientSession
    client: AsyncWebClient
    outage: Outage
    people: People
    lookups: Lookups
    downloads: Downloads
    door: Socket | Hook


class Slack(Platform, Completing, Linking, Grouping, Receiving, Downloading):
    """One app in one workspace.

    `threads` are those in which no mention is needed any more, None when one always is; `pages`
    gives the App Home. `now` gives seconds since the epoch, `clock` seconds that only grow.
    """

    def __init__(
        self,
        parts: Parts,
        *,
        threads: FollowedThreads | None = None,
        pages: Pages | None = None,
        options: Options | None = None,
        clock: Callable[[], float] = time.monotonic,
        now: Callable[[], float] = time.time,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self._parts, self._threads, self._pages = parts, threads, pages
        self._options, self._now = options or Options(), now
        self._line = Line(parts.client, self._options, clock, sleep)
        self._me: Me | None = None
        self._known = asyncio.Event()
        self._withdrawn: asyncio.Future[AccessWithdrawn] | None = None
        self._ended = False
        self._mounted = False
        self._mentioned: OrderedDict[str, None] = OrderedDict()

    @property
    def name(self) -> str:
        return PLATFORM

    @property
    def receiving(self) -> bool:
        door = self._parts.door
        heard = door.connected if isinstance(door, Socket) else self._mounted
        return heard and not self._ended

    async def run(self, sink: Sink) -> None:
        """Receives until cancelled. Raises SettingsError for a token that Slack does not accept,
        and AccessWithdrawn when the app is uninstalled."""
        self._withdrawn = asyncio.get_running_loop().create_future()
        me = await self._who_am_i()
        self._me = me
        self._line = replace(self._line, team_id=me.team, bot_user_id=me.user)
        self._known.set()
        try:
            await self._receive(sink, me)
        except ExceptionGroup as raised:
            if len(raised.exceptions) > 1:
                raise
            raise raised.exceptions[0] from None
        finally:
            self._ended = True

    async def _receive(self, sink: Sink, me: Me) -> None:
        assert self._withdrawn is not None
        door = self._parts.door
        async with asyncio.TaskGroup() as group:

            async def receive(kind: str, body: Mapping[str, Any]) -> None:
                await self._take(kind, body, me, sink, group)

            client = self._parts.client
            if isinstance(door, Socket):
                group.create_task(door.run(make_app(receive, me, client)))
            else:
                app = make_app(receive, me, client, door.secret)
                door.server.mount(PATH, Webhook(app))
                self._mounted = True
            raise await self._withdrawn

    def conversation(self, event: Incoming) -> Conversation:
        return SlackConversation(event, self._line)

    async def completed(self, event: Incoming) -> Incoming:
        """Raises DeliveryFailed while Slack cannot be reached, and PlatformGone when it does not
        let the bot in any more."""
        await self._known.wait()
        assert self._me is not None
        try:
            return await self._parts.lookups.completed(event, self._me)
        except AccessWithdrawn as error:
            self._withdraw(error)
            raise PlatformGone(str(error)) from error

    async def members(self, group: str) -> frozenset[str]:
        """Of a user group. Raises DeliveryFailed, PlatformGone, and SettingsError for a group that
        Slack does not tell of."""
        try:
            return await self._parts.people.members(group)
        except AccessWithdrawn as error:
            self._withdraw(error)
            raise PlatformGone(str(error)) from error

    async def download(self, file: Attachment, limit: int) -> Download:
        """Raises NotFetched, and PlatformGone when Slack does not let the bot in any more."""
        try:
            return await self._parts.downloads(file, limit)
        except AccessWithdrawn as error:
            self._withdraw(error)
            raise PlatformGone(str(error)) from error

    def link(self, place: Place, message_id: str) -> str:
        return link_to(self._me.url, place, message_id) if self._me else ""

    async def check(self) -> Sequence[Finding]:
        door = self._parts.door
        way = Door(door if isinstance(door, Socket) else None)
        return [found async for found in findings(self._parts.client, way)]

    async def close(self) -> None:
        await self._parts.session.close()

    async def _who_am_i(self) -> Me:
        while True:
            try:
                told = await self._parts.client.auth_test()
            except (SlackApiError, SlackClientError, ClientError, TimeoutError, OSError) as error:
                code = code_of(error) if isinstance(error, SlackApiError) else ""
                if code in WITHDRAWN:
                    message = f"Slack does not accept the bot token ({code})"
                    raise SettingsError(message, REMEDY) from error
                await self._parts.outage.rest(error)
            else:
                self._parts.outage.over()
                enterprise = str(told.get("enterprise_id") or "")
                bot = str(told.get("bot_id") or "")
                url = str(told.get("url") or "")
                return Me(str(told["user_id"]), str(told["team_id"]), bot, enterprise, url)

    # What comes in

    async def _take(
        self, kind: str, body: Mapping[str, Any], me: Me, sink: Sink, group: asyncio.TaskGroup
    ) -> None:
        """Raises StorageError: then Slack must bring it again."""
        match self._read(kind, body, me):
            case Incoming() as event:
                await self._store(event, sink)
            case HomeOpened() | AssistantOpened() as opened if not self._ended:
                group.create_task(self._welcome(opened, me))
            case Withdrawn() as withdrawn:
                self._withdraw(AccessWithdrawn(_GONE[withdrawn.how], REMEDY))

    def _read(self, kind: str, body: Mapping[str, Any], me: Me) -> Notice | None:
        try:
            return notice(kind, body, me, datetime.fromtimestamp(self._now(), UTC))
        except (KeyError, IndexError, TypeError, ValueError, AttributeError) as error:
            _log.warning("a notice that this version cannot read: %r in %s", error, kind)
            return None

    async def _store(self, event: Incoming, sink: Sink) -> None:
        said = event.kind is Kind.QUESTION and event.place.thread and event.place.kind != "private"
        if said and not event.addressed:
            if event.files and not event.text:  # dropped there, and nobody asked
                return
            if self._threads is None or not await self._threads.follows(event.place):
                return
            event = replace(event, addressed=True)
        elif said:
            await self._follow(event.place, event.key)
        await sink.accept(event)
        if question := asked_by(event):
            await self._store(question, sink)

    async def _follow(self, place: Place, key: str) -> None:
        """From now on no mention is needed. Before the event is stored: a mute that it asks for
        comes later. Once: a mention that is told again must not undo that."""
        if self._threads is None or key in self._mentioned:
            return
        await self._threads.follow(place)
        self._mentioned[key] = None
        while len(self._mentioned) > _MENTIONS:
            self._mentioned.popitem(last=False)

    def _withdraw(self, error: AccessWithdrawn) -> None:
        if self._withdrawn is not None and not self._withdrawn.done():
            self._withdrawn.set_result(error)

    # What nobody waits for

    async def _welcome(self, opened: HomeOpened | AssistantOpened, me: Me) -> None:
        """A page or suggestions that do not come are no matter, and are logged."""
        try:
            async with asyncio.timeout(self._options.prompt_timeout):
                _, language = await self._parts.people.person(opened.person, me)
                if isinstance(opened, HomeOpened):
                    await self._publish(opened, language)
                else:
                    await self._suggest(opened, language)
        except AccessWithdrawn as error:
            self._withdraw(error)
        except (SlackApiError, SlackClientError, ClientError, TimeoutError, OSError) as error:
            _log.info("the bot's page or suggestions were not shown: %s", type(error).__name__)
        except (DeliveryFailed, StorageError) as error:
            _log.info("the bot's page or suggestions were not shown: %s", error)

    async def _publish(self, opened: HomeOpened, language: str) -> None:
        if self._pages is not None:
            page = await self._pages(opened.person, language)
            await self._parts.client.views_publish(user_id=opened.person.id, view=view(page))

    async def _suggest(self, opened: AssistantOpened, language: str) -> None:
        await self._parts.client.assistant_threads_setSuggestedPrompts(
            channel_id=opened.place.id,
            thread_ts=opened.place.thread,
            prompts=prompts(suggestions(language)),
        )
