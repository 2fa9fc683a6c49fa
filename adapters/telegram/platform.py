"""Telegram: updates in, by polling or by webhook, and conversations out.

An update is stored before Telegram may forget it: the offset of getUpdates moves, and the webhook
answers, only after the sink has accepted. What comes twice is the sink's to tell apart.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal
from weakref import WeakSet

from aiogram import Bot
from aiogram.exceptions import (
    AiogramError,
    ClientDecodeError,
    TelegramBadRequest,
    TelegramConflictError,
    TelegramNotFound,
    TelegramRetryAfter,
    TelegramUnauthorizedError,
)
from aiogram.types import Update, User
from pydantic import ValidationError

from adapters.telegram.administrators import administrators
from adapters.telegram.checks import findings
from adapters.telegram.conversation import TelegramConversation
from adapters.telegram.downloads import Downloads
from adapters.telegram.links import link_to
from adapters.telegram.options import Options
from adapters.telegram.pace import Pace
from adapters.telegram.pastes import Pastes
from adapters.telegram.profile import (
    PRIVACY,
    PRIVACY_REMEDY,
    privacy_note,
    publish_commands,
)
from adapters.telegram.requests import Requests
from adapters.telegram.stream import Line
from adapters.telegram.updates import PLATFORM, WANTED, incoming
from adapters.telegram.webhook import PATH, Webhook, address
from bot.attachments import Attachment, Download, Downloading
from bot.chat import Incoming, Kind, Place
from bot.errors import SettingsError, StorageError
from bot.http import Mount
from bot.pending import asked_by, language_of
from bot.ports import Conversation, Finding, Grouping, Linking, Platform, Receiving, Sink

_log = logging.getLogger(__name__)

OnAdded = Callable[[Incoming], Awaitable[Literal["stay", "leave"]]]
"""Whether to stay in a group that the bot was added to; raises StorageError."""

_REMEDY = "Copy the token from @BotFather into BELAY_TELEGRAM_TOKEN."
_CONFLICT = (
    "another process polls with the same token, or the webhook was set again: Telegram serves "
    "one of them only; stop the other one"
)


async def stay(_: Incoming) -> Literal["stay", "leave"]:
    return "stay"


@dataclass(frozen=True, slots=True)
class Hook:
    """A webhook: its public address, its secret, and the server that hears it."""

    url: str
    secret: str
    server: Mount


class Telegram(Platform, Linking, Receiving, Grouping, Downloading):
    """One bot. `on_added` decides on groups; `clock` gives seconds that only grow. `files` is the
    folder of a Bot API server of one's own that keeps files on its disk."""

    def __init__(
        self,
        bot: Bot,
        *,
        hook: Hook | None = None,
        on_added: OnAdded = stay,
        leaves_topic: bool = True,
        files: Path | None = None,
        options: Options | None = None,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self._bot, self._hook, self._on_added = bot, hook, on_added
        self._leaves_topic, self._sleep = leaves_topic, sleep
        self._options = options or Options()
        pace = Pace(clock, self._options.chats)
        self._requests = Requests(bot)
        self._downloads = Downloads(bot, self._requests, self._options, files)
        self._line = Line(self._requests, pace, self._options, clock)
        self._pastes = Pastes(self._options.joining, self._options.chats)
        self._live: WeakSet[TelegramConversation] = WeakSet()
        self._me: User | None = None
        self._failures = 0
        self._heard = False

    @property
    def name(self) -> str:
        return PLATFORM

    @property
    def receiving(self) -> bool:
        return self._heard and not self._failures

    def link(self, place: Place, message_id: str) -> str:
        return link_to(place, message_id)

    async def download(self, file: Attachment, limit: int) -> Download:
        return await self._downloads(file, limit)

    async def members(self, group: str) -> frozenset[str]:
        return await administrators(group, self._requests, self._options.call_timeout)

    async def run(self, sink: Sink) -> None:
        """Receives until cancelled. Raises SettingsError for a wrong token or webhook."""
        self._me = await self._who_am_i()
        if not self._me.can_read_all_group_messages:
            _log.warning("%s; to change that, %s", PRIVACY, PRIVACY_REMEDY)
        await publish_commands(self._bot)
        try:
            await self._receive(sink, self._me)
        except ExceptionGroup as raised:
            if len(raised.exceptions) > 1:
                raise
            raise raised.exceptions[0] from None

    async def _receive(self, sink: Sink, me: User) -> None:
        try:
            async with asyncio.TaskGroup() as group:
                refreshing = group.create_task(self._refresh())
                if self._hook is None:
                    await self._poll(sink, me)
                else:
                    await self._listen(self._hook, sink, me)
                    await refreshing
        finally:
            self._heard = False

    def conversation(self, event: Incoming) -> Conversation:
        return TelegramConversation(
            event,
            self._line,
            sleep=self._sleep,
            started=self._live.add,
            note=self._note(event),
            leaves_topic=self._leaves_topic,
        )

    async def check(self) -> Sequence[Finding]:
        wanted = address(self._hook.url) if self._hook else ""
        found = [each async for each in findings(self._bot, wanted, frozenset(WANTED))]
        return [*found, *await self._downloads.check()]

    async def close(self) -> None:
        await self._bot.session.close()

    def _note(self, event: Incoming) -> str:
        """In a group that the bot was just added to: what it will not see there."""
        plain_member = event.kind is Kind.ADDED and event.reference != "administrator"
        if self._me is None or not plain_member or event.place.kind == "private":
            return ""
        return privacy_note(self._me, language_of(event))

    async def _who_am_i(self) -> User:
        while True:
            try:
                me = await self._bot.get_me()
            except (TelegramUnauthorizedError, TelegramNotFound) as error:
                raise SettingsError("Telegram does not know this token", _REMEDY) from error
            except AiogramError as error:
                await self._rest(error)
            else:
                self._recovered()
                return me

    # Webhook

    async def _listen(self, hook: Hook, sink: Sink, me: User) -> None:
        async def store(raw: Mapping[str, Any]) -> None:
            update = self._read(raw)
            if update is not None:
                await self._store(update, sink, me)

        hook.server.mount(PATH, Webhook(hook.secret, store))
        await self._until_done(lambda: self._set_webhook(hook))
        self._heard = True

    async def _set_webhook(self, hook: Hook) -> None:
        try:
            await self._bot.set_webhook(
                address(hook.url), secret_token=hook.secret, allowed_updates=list(WANTED)
            )
        except TelegramBadRequest as error:
            raise SettingsError(
                f"Telegram refuses the webhook: {error.message}",
                "BELAY_TELEGRAM_WEBHOOK_URL must be an https address that the internet can reach.",
            ) from error

    async def _until_done(self, call: Callable[[], Awaitable[object]]) -> None:
        while True:
            try:
                await call()
            except AiogramError as error:
                await self._rest(error)
            else:
                self._recovered()
                return

    # Polling

    async def _poll(self, sink: Sink, me: User) -> None:
        await self._until_done(lambda: self._bot.delete_webhook(drop_pending_updates=False))
        self._heard = True
        offset: int | None = None
        while True:
            try:
                for raw in await self._fetch(offset):
                    update = raw if isinstance(raw, Update) else self._read(raw)
                    if update is not None:
                        await self._store(update, sink, me)
                    offset = _number(raw) + 1
            except TelegramUnauthorizedError as error:
                raise SettingsError("the token was revoked", _REMEDY) from error
            except (AiogramError, StorageError) as error:
                await self._rest(error)
            else:
                self._recovered()

    async def _fetch(self, offset: int | None) -> Sequence[Update | Mapping[str, Any]]:
        wait = self._options.poll
        try:
            return await self._bot.get_updates(
                offset=offset,
                timeout=wait,
                allowed_updates=list(WANTED),
                request_timeout=wait + self._options.poll_slack,
            )
        except ClientDecodeError as error:  # one update of a kind yet unknown spoils them all
            raw = error.data.get("result") if isinstance(error.data, dict) else None
            if not isinstance(raw, list):
                raise
            return raw

    async def _rest(self, error: Exception) -> None:
        """Before the next try, longer each time. An outage is one line in the log."""
        self._failures += 1
        if self._failures == 1:
            conflict = isinstance(error, TelegramConflictError)
            _log.warning("updates wait at Telegram: %s", _CONFLICT if conflict else error)
        doublings = min(self._failures - 1, 16)
        seconds = min(self._options.longest_backoff, self._options.backoff * 2**doublings)
        if isinstance(error, TelegramRetryAfter):
            seconds = max(seconds, float(error.retry_after))
        await self._sleep(seconds)

    def _recovered(self) -> None:
        if self._failures:
            _log.warning("updates come in again, after %d failed tries", self._failures)
        self._failures = 0

    # Both

    def _read(self, raw: Mapping[str, Any]) -> Update | None:
        try:
            return Update.model_validate(raw, context={"bot": self._bot})
        except ValidationError as error:
            _log.warning("an update that this version cannot read: %s", error.errors()[0]["loc"])
            return None

    async def _store(self, update: Update, sink: Sink, me: User) -> None:
        event = incoming(update, me)
        if event is None or not self._pastes.wanted(event):
            return
        await sink.accept(event)
        if question := asked_by(event):
            await sink.accept(question)
        if event.kind is Kind.STOP:
            for conversation in list(self._live):
                conversation.stopped(event)
        elif event.kind is Kind.ADDED and event.place.kind != "private":
            await self._stay_or_leave(event)

    async def _stay_or_leave(self, event: Incoming) -> None:
        if await self._on_added(event) == "stay":
            return
        _log.info("left a group that %s added the bot to", event.person.key)
        try:
            await self._bot.leave_chat(int(event.place.id))
        except AiogramError as error:
            _log.warning("a group could not be left: %s", error)

    async def _refresh(self) -> None:
        """Keeps drafts and "typing" alive while questions are worked on."""
        while True:
            await self._sleep(self._options.refresh_every)
            async with asyncio.TaskGroup() as group:
                for conversation in list(self._live):
                    if conversation.live:
                        group.create_task(conversation.refresh())
                    else:
                        self._live.discard(conversation)


def _number(raw: Update | Mapping[str, Any]) -> int:
    return raw.update_id if isinstance(raw, Update) else int(raw["update_id"])
