"""Calls that only read, and what it means when they fail."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

from aiohttp import ClientError
from slack_sdk.errors import SlackApiError, SlackClientError
from slack_sdk.web.async_client import AsyncWebClient

from bot.errors import AccessWithdrawn, DeliveryFailed

WITHDRAWN = frozenset(
    {
        "account_inactive",
        "invalid_auth",
        "not_authed",
        "team_disabled",
        "token_expired",
        "token_revoked",
    }
)
"""Slack's words for a token that is not good any more, or never was."""

REMEDY = (
    "Install the app to the workspace again, and copy its Bot User OAuth Token into "
    "BELAY_SLACK_BOT_TOKEN."
)


class NotGiven(Exception):
    """Slack refuses to tell. `code` is its word for the reason."""

    def __init__(self, code: str) -> None:
        super().__init__(code)
        self.code = code


def code_of(error: SlackApiError) -> str:
    """Slack's word for what went wrong; "" for an answer that is none of the Web API."""
    data = getattr(error.response, "data", None)
    return str(data.get("error", "")) if isinstance(data, Mapping) else ""


class Reading:
    """`seconds` are given to one call, with the repetitions of the client."""

    def __init__(self, client: AsyncWebClient, seconds: float) -> None:
        self._client, self._seconds = client, seconds

    async def __call__(self, method: str, **params: Any) -> Mapping[str, Any]:
        """Raises NotGiven, AccessWithdrawn, and DeliveryFailed when Slack was not reached."""
        try:
            async with asyncio.timeout(self._seconds):
                response = await self._client.api_call(method, http_verb="GET", params=params)
        except SlackApiError as error:
            raise _meaning(method, code_of(error)) from error
        except (ClientError, SlackClientError, TimeoutError, OSError, ValueError) as error:
            raise DeliveryFailed(f"{method}: {type(error).__name__}") from error
        return response.data if isinstance(response.data, dict) else {}


def _meaning(method: str, code: str) -> Exception:
    if code in WITHDRAWN:
        return AccessWithdrawn(f"Slack no longer accepts the bot token ({code})", REMEDY)
    if code in ("", "ratelimited", "internal_error", "fatal_error", "service_unavailable"):
        return DeliveryFailed(f"{method}: {code or 'no answer'}")
    return NotGiven(code)
