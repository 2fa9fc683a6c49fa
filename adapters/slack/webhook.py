"""Requests that Slack brings itself: checked by Bolt, stored, and only then acknowledged.

https://docs.slack.dev/authentication/verifying-requests-from-slack
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from http import HTTPStatus

from slack_bolt.async_app import AsyncApp

from adapters.slack.app import answer
from bot.http import Answered

PATH = "/slack/events"
_STAMP, _SIGNATURE = "x-slack-request-timestamp", "x-slack-signature"
_SECONDS = re.compile("[0-9]{1,12}")


class Webhook:
    """A handler for bot/http.py. Anything but 200 makes Slack bring an event again."""

    def __init__(self, app: AsyncApp) -> None:
        self._app = app

    async def __call__(self, headers: Mapping[str, str], body: bytes) -> int | Answered:
        if not _looks_signed(headers):
            return HTTPStatus.UNAUTHORIZED
        try:
            text = body.decode()
        except UnicodeDecodeError:
            return HTTPStatus.BAD_REQUEST
        told = await answer(self._app, text, headers)
        content = told.first_headers()["content-type"].partition(";")[0]
        return Answered(told.status, told.body, content)


def _looks_signed(headers: Mapping[str, str]) -> bool:
    """Bolt compares the signature and the time, and raises errors for what is neither."""
    stamp, given = headers.get(_STAMP, ""), headers.get(_SIGNATURE, "")
    return _SECONDS.fullmatch(stamp) is not None and given.isascii()
