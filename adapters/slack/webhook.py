"""Requests that Slack brings itself: checked, stored, and only then acknowledged.

https://docs.slack.dev/authentication/verifying-requests-from-slack
"""

from __future__ import annotations

import hmac
import json
import logging
from collections.abc import Awaitable, Callable, Mapping
from hashlib import sha256
from http import HTTPStatus
from typing import Any
from urllib.parse import parse_qsl

from bot.errors import StorageError
from bot.http import Answered

_log = logging.getLogger(__name__)

PATH = "/slack/events"
_STAMP, _SIGNATURE = "x-slack-request-timestamp", "x-slack-signature"
_VERSION = "v0"

Receive = Callable[[str, Mapping[str, Any]], Awaitable[None]]
"""Stores what an envelope of a kind (events_api, slash_commands, interactive) tells; raises
StorageError."""


class Webhook:
    """A handler for bot/http.py. Anything but 200 makes Slack bring an event again.

    `now` gives seconds since the epoch; an older or newer request than `oldest` seconds may be
    one that was listened to and is played back.
    """

    def __init__(
        self, secret: str, receive: Receive, *, now: Callable[[], float], oldest: float
    ) -> None:
        self._secret, self._receive = secret.encode(), receive
        self._now, self._oldest = now, oldest

    async def __call__(self, headers: Mapping[str, str], body: bytes) -> int | Answered:
        if not self._is_from_slack(headers, body):
            return HTTPStatus.UNAUTHORIZED
        try:
            kind, told = _read(headers.get("content-type", ""), body)
        except (ValueError, KeyError):
            return HTTPStatus.BAD_REQUEST
        if told.get("type") == "url_verification":
            return Answered(HTTPStatus.OK, str(told.get("challenge", "")))
        try:
            await self._receive(kind, told)
        except StorageError as error:
            _log.warning("an event could not be stored: %s", error)
            return HTTPStatus.SERVICE_UNAVAILABLE
        return HTTPStatus.OK

    def _is_from_slack(self, headers: Mapping[str, str], body: bytes) -> bool:
        stamp, given = headers.get(_STAMP, ""), headers.get(_SIGNATURE, "")
        if not (stamp.isascii() and stamp.isdigit()):
            return False
        if abs(self._now() - int(stamp)) > self._oldest:
            return False
        signed = f"{_VERSION}:{stamp}:".encode() + body
        wanted = f"{_VERSION}={hmac.new(self._secret, signed, sha256).hexdigest()}"
        return hmac.compare_digest(given.encode(errors="surrogateescape"), wanted.encode())


def _read(content: str, body: bytes) -> tuple[str, Mapping[str, Any]]:
    """The kind of a request and what it tells. Raises ValueError, KeyError."""
    kind = "events_api"
    if content.startswith("application/x-www-form-urlencoded"):
        fields = dict(parse_qsl(body.decode(), keep_blank_values=True, strict_parsing=True))
        if "payload" not in fields:
            return "slash_commands", fields
        kind, body = "interactive", fields["payload"].encode()
    told = json.loads(body)
    if not isinstance(told, dict):
        raise ValueError("a notice is an object")
    return kind, told
