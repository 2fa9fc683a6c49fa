"""Calls that only read, and what it means when they fail."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from aiohttp import ClientError
from slack_sdk.errors import SlackApiError, SlackClientError
from slack_sdk.web.async_client import AsyncWebClient

from adapters.slack.options import Options
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


def asked_for(error: Exception) -> float:
    """Seconds that Slack wants to be left alone."""
    headers = getattr(error.response, "headers", {}) if isinstance(error, SlackApiError) else {}
    value = headers.get("Retry-After", "") if isinstance(headers, Mapping) else ""
    try:
        return max(float(value), 0.0)
    except ValueError:
        return 0.0


class Reading:
    """What Slack puts off, or breaks off, is asked for again: `options.read_retries` times, and
    `options.lookup_timeout` seconds long at most."""

    def __init__(
        self,
        client: AsyncWebClient,
        options: Options,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self._client, self._options, self._sleep = client, options, sleep

    async def __call__(self, method: str, **params: Any) -> Mapping[str, Any]:
        """Raises NotGiven, AccessWithdrawn, and DeliveryFailed when Slack was not reached."""
        for _ in range(self._options.read_retries):
            try:
                return await self._once(method, params)
            except _PutOff as error:
                if error.seconds > self._options.lookup_timeout:
                    raise
                await self._sleep(error.seconds)
        return await self._once(method, params)

    async def _once(self, method: str, params: Mapping[str, Any]) -> Mapping[str, Any]:
        try:
            async with asyncio.timeout(self._options.lookup_timeout):
                response = await self._client.api_call(method, http_verb="GET", params=dict(params))
        except SlackApiError as error:
            raise _meaning(method, error) from error
        except (ClientError, SlackClientError, OSError, ValueError) as error:
            reason = f"{method}: {type(error).__name__}"
            if isinstance(error, TimeoutError):
                raise DeliveryFailed(reason) from error
            raise _PutOff(reason) from error
        return response.data if isinstance(response.data, dict) else {}


class _PutOff(DeliveryFailed):
    """May be asked for again after `seconds`."""

    def __init__(self, message: str, seconds: float = 0.0) -> None:
        super().__init__(message)
        self.seconds = seconds


def _meaning(method: str, error: SlackApiError) -> Exception:
    code = code_of(error)
    if code in WITHDRAWN:
        return AccessWithdrawn(f"Slack no longer accepts the bot token ({code})", REMEDY)
    if code in ("", "ratelimited", "internal_error", "fatal_error", "service_unavailable"):
        return _PutOff(f"{method}: {code or 'no answer'}", asked_for(error))
    return NotGiven(code)
