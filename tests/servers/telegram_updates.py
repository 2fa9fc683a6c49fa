"""The queue of updates: getUpdates with long polling, and delivery to a webhook."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import aiohttp

from tests.servers.telegram_chats import Json
from tests.servers.telegram_text import Refused, bad

_ON_REQUEST_ONLY = frozenset({"chat_member", "message_reaction", "message_reaction_count"})
_RETRY_SECONDS = 0.05  # Telegram waits longer; tests should not
_SECRET = "X-Telegram-Bot-Api-Secret-Token"


@dataclass(frozen=True)
class Webhook:
    url: str
    secret: str = ""


class Updates:
    def __init__(self) -> None:
        self.waiting: list[Json] = []
        self.delivered: list[int] = []  # ids that the webhook acknowledged or an offset confirmed
        self.webhook: Webhook | None = None
        self.last_error = ""
        self.allowed: frozenset[str] | None = None
        self.closed = False
        self._last_id = 700_000
        self._poll = 0
        self._news = asyncio.Event()

    def put(self, kind: str, body: Mapping[str, Any]) -> int | None:
        """The id of the new update; None when the bot did not ask for this kind."""
        if self.allowed is not None and kind not in self.allowed:
            return None
        if self.allowed is None and kind in _ON_REQUEST_ONLY:
            return None
        self._last_id += 1
        self.waiting.append({"update_id": self._last_id, kind: body})
        self.wake()
        return self._last_id

    def repeat(self, update: Json) -> None:
        """The same update once more, as Telegram does when an acknowledgement was lost."""
        self.waiting.append(update)
        self.wake()

    def wake(self) -> None:
        self._news.set()
        self._news = asyncio.Event()

    def close(self) -> None:
        self.closed = True
        self.wake()

    def allow(self, p: Json) -> None:
        if (kinds := p.get("allowed_updates")) is not None:
            self.allowed = frozenset(kinds) if kinds else None

    async def get(self, p: Json) -> list[Json]:
        """getUpdates. A newer call ends an older one that still waits, with 409."""
        if self.webhook is not None:
            raise Refused(
                409,
                "Conflict: can't use getUpdates method while webhook is active; "
                "use deleteWebhook to delete the webhook first",
            )
        self.allow(p)
        self._poll += 1
        mine = self._poll
        self.wake()
        self._confirm(int(p.get("offset", 0)))
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(float(p.get("timeout", 0))):
                async for _ in self._changes():
                    if self.waiting or self._poll != mine or self.closed:
                        break
        if self._poll != mine:
            raise Refused(
                409,
                "Conflict: terminated by other getUpdates request; "
                "make sure that only one bot instance is running",
            )
        return self.waiting[: int(p.get("limit", 100))]

    async def _changes(self) -> AsyncIterator[None]:
        while True:
            news = self._news
            yield
            await news.wait()

    def _confirm(self, offset: int) -> None:
        if offset < 0:
            dropped, self.waiting = self.waiting[:offset], self.waiting[offset:]
        else:
            dropped = [u for u in self.waiting if u["update_id"] < offset]
            self.waiting = [u for u in self.waiting if u["update_id"] >= offset]
        self.delivered += [update["update_id"] for update in dropped]
        if dropped:
            self.wake()

    def set_webhook(self, p: Json) -> bool:
        secret = p.get("secret_token", "")
        if not str(p.get("url", "")).startswith("http"):
            raise bad("invalid webhook URL specified")
        self.allow(p)
        self._drop(p)
        self.webhook = Webhook(p["url"], secret)
        self.wake()
        return True

    def delete_webhook(self, p: Json) -> bool:
        self._drop(p)
        self.webhook = None
        self.wake()
        return True

    def _drop(self, p: Json) -> None:
        if str(p.get("drop_pending_updates", "")).lower() in ("true", "1"):
            self.waiting.clear()

    def info(self) -> Json:
        return {
            "url": self.webhook.url if self.webhook else "",
            "has_custom_certificate": False,
            "pending_update_count": len(self.waiting),
            **({"last_error_message": self.last_error} if self.last_error else {}),
            **({"allowed_updates": sorted(self.allowed)} if self.allowed else {}),
        }

    async def deliver(self, answered: Callable[[Json], Awaitable[None]]) -> None:
        """Posts to the webhook, one update after the other, each until it is acknowledged.

        `answered` gets the body of an acknowledgement: it may be a call of a method.
        """
        async with aiohttp.ClientSession() as session:
            while not self.closed:
                news = self._news
                if self.webhook is None or not self.waiting:
                    await news.wait()
                elif await self._post(session, self.webhook, self.waiting[0], answered):
                    self.delivered.append(self.waiting.pop(0)["update_id"])
                    self.wake()
                else:
                    await asyncio.sleep(_RETRY_SECONDS)

    async def _post(
        self,
        session: aiohttp.ClientSession,
        webhook: Webhook,
        update: Json,
        answered: Callable[[Json], Awaitable[None]],
    ) -> bool:
        headers = {_SECRET: webhook.secret} if webhook.secret else {}
        with self._noting_errors():
            async with session.post(webhook.url, json=update, headers=headers) as response:
                body = await response.read()
                if response.ok:
                    if body and "json" in response.content_type:
                        await answered(await response.json())
                    return True
                self.last_error = f"Wrong response from the webhook: {response.status}"
        return False

    @contextlib.contextmanager
    def _noting_errors(self) -> Iterator[None]:
        try:
            yield
        except aiohttp.ClientError as error:
            self.last_error = f"Connection failed: {type(error).__name__}"
