"""Updates that Telegram brings itself: checked, stored, and only then acknowledged."""

from __future__ import annotations

import hmac
import json
import logging
from collections.abc import Awaitable, Callable, Mapping
from hashlib import sha256
from http import HTTPStatus
from typing import Any
from urllib.parse import urlsplit

from bot.errors import StorageError

_log = logging.getLogger(__name__)

PATH = "/telegram/webhook"
_HEADER = "x-telegram-bot-api-secret-token"

Store = Callable[[Mapping[str, Any]], Awaitable[None]]
"""Stores a raw update; raises StorageError."""


def secret_of(token: str) -> str:
    """A secret for the webhook that every process with the same token finds alone."""
    return sha256(f"webhook:{token}".encode()).hexdigest()


def address(url: str) -> str:
    """The public address of the webhook; a bare host gets the path that it is mounted at."""
    return url.rstrip("/") + PATH if urlsplit(url).path in ("", "/") else url


class Webhook:
    """A handler for bot/http.py. Anything but 200 makes Telegram bring the update again."""

    def __init__(self, secret: str, store: Store) -> None:
        self._secret, self._store = secret, store

    async def __call__(self, headers: Mapping[str, str], body: bytes) -> int:
        given = headers.get(_HEADER, "")
        if not hmac.compare_digest(given.encode(errors="surrogateescape"), self._secret.encode()):
            return HTTPStatus.UNAUTHORIZED
        try:
            update = json.loads(body)
        except ValueError:
            return HTTPStatus.BAD_REQUEST
        if not isinstance(update, dict):
            return HTTPStatus.BAD_REQUEST
        try:
            await self._store(update)
        except StorageError as error:
            _log.warning("an update could not be stored: %s", error)
            return HTTPStatus.SERVICE_UNAVAILABLE
        return HTTPStatus.OK
