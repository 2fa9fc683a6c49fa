"""Calls that write to Slack, and what its refusals mean for a message.

DeliveryFailed
└── Refused             certainly not shown
    ├── Lost            looked for, and not there
    ├── Flooded         too fast: nothing before `seconds` have passed
    ├── Closed          the stream was ended, by Slack after some five minutes or by a reader
    ├── TargetGone      the message to change is no longer there, or cannot be changed
    ├── Unreachable     this thread or this person is gone, the channel is not
    ├── Spent           the address for replies to a command has expired or was used up
    ├── Missing         Slack does not offer this method here
    └── Unreadable      this form of the message is not accepted
Unclear                 nobody knows whether it took effect
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping
from typing import Any

from aiohttp import ClientConnectorError, ClientError, ConnectionTimeoutError
from slack_sdk.errors import SlackApiError
from slack_sdk.web.async_client import AsyncWebClient
from slack_sdk.webhook.async_client import AsyncWebhookClient

from bot.errors import DeliveryFailed, PlatformGone

_log = logging.getLogger(__name__)

_OK, _BAD, _TOO_MANY = 200, 400, 429
_SERVER = 500
_UNNAMED_WAIT = 1.0  # seconds, when a refusal names none

Payload = Mapping[str, Any]


class Refused(DeliveryFailed):
    pass


class Lost(Refused):
    pass


class Flooded(Refused):
    def __init__(self, message: str, seconds: float) -> None:
        super().__init__(message)
        self.seconds = seconds


class Closed(Refused):
    pass


class TargetGone(Refused):
    pass


class Unreachable(Refused):
    pass


class Spent(Refused):
    pass


class Missing(Refused):
    pass


class Unreadable(Refused):
    pass


class Unclear(Exception):
    pass


_MEANINGS: dict[str, type[Exception]] = {
    error: meaning
    for meaning, errors in (
        (
            PlatformGone,
            "channel_not_found not_in_channel is_archived account_inactive token_revoked "
            "token_expired invalid_auth not_authed "
            "team_not_found team_access_not_granted ekm_access_denied access_denied no_permission "
            "org_login_required restricted_action restricted_action_read_only_channel "
            "restricted_action_thread_only_channel restricted_action_non_threadable_channel "
            "messages_tab_disabled is_inactive team_disabled",
        ),
        (
            Unreachable,
            "thread_not_found invalid_thread_ts cannot_reply_to_message "
            "restricted_action_thread_locked user_not_in_channel user_not_found",
        ),
        (
            Closed,
            "message_not_in_streaming_state stopped_by_user",
        ),
        (
            TargetGone,
            "message_not_found cant_update_message cant_delete_message edit_window_closed "
            "message_not_owned_by_app update_failed",
        ),
        (
            Missing,
            "unknown_method method_deprecated missing_scope not_allowed_token_type "
            "feature_not_enabled not_supported channel_type_not_supported "
            "method_not_supported_for_channel_type missing_recipient_team_id "
            "missing_recipient_user_id deprecated_endpoint",
        ),
        (Spent, "expired_url used_url invalid_token"),
        (
            Unclear,
            "fatal_error internal_error request_timeout service_unavailable "
            "duplicate_message_not_found duplicate_channel_not_found",
        ),
    )
    for error in errors.split()
}
_FLOODS = frozenset({"ratelimited", "rate_limited", "message_limit_exceeded"})


class Requests:
    """One call is one request: nothing is repeated here, because most of these calls must not
    happen twice. The client's own retries are for reading."""

    def __init__(self, client: AsyncWebClient) -> None:
        self._client = AsyncWebClient(
            token=client.token,
            base_url=client.base_url,
            ssl=client.ssl,
            proxy=client.proxy,
            session=client.session,
            headers=dict(client.headers),
            trust_env_in_session=client.trust_env_in_session,
            retry_handlers=[],
        )

    async def __call__(self, method: str, payload: Payload, seconds: float) -> Mapping[str, Any]:
        """The response, waited for `seconds`. Raises PlatformGone, Refused and Unclear."""
        try:
            async with asyncio.timeout(seconds):
                response = await self._client.api_call(method, json=dict(payload))
        except SlackApiError as error:
            raise _meaning(error) from error
        except (ClientError, TimeoutError, OSError, ValueError) as error:
            raise _broken(error) from error
        return response.data if isinstance(response.data, dict) else {}

    async def respond(self, url: str, payload: Payload, seconds: float) -> None:
        """Answers a command or a pressed button at the address that came with it. Raises Refused
        and Unclear."""
        hook = AsyncWebhookClient(
            url,
            session=self._client.session,
            proxy=self._client.proxy,
            ssl=self._client.ssl,
            retry_handlers=[],
        )
        try:
            async with asyncio.timeout(seconds):
                response = await hook.send_dict(dict(payload))
        except (ClientError, TimeoutError, OSError, ValueError) as error:
            raise _broken(error) from error
        if response.status_code == _TOO_MANY:
            raise Flooded("too many replies", _seconds(response.headers))
        if response.status_code >= _SERVER:
            raise Unclear(f"status {response.status_code}")
        if response.status_code != _OK:
            raise (Unreadable if response.status_code == _BAD else Spent)(response.body)


def _meaning(error: SlackApiError) -> Exception:
    response = error.response
    status = int(getattr(response, "status_code", 0) or getattr(response, "status", 0) or 0)
    data = getattr(response, "data", None)
    code = str(data.get("error", "")) if isinstance(data, dict) else ""
    if status == _TOO_MANY or code in _FLOODS:
        return Flooded(code, _seconds(getattr(response, "headers", {})))
    if status >= _SERVER or not code:
        return Unclear(code or f"status {status}")
    detail = data.get("response_metadata") if isinstance(data, dict) else None
    _log.debug("Slack refused: %s %s", code, detail)
    return _MEANINGS.get(code, Unreadable)(code)


def _broken(error: Exception) -> Exception:
    """No connection came about, so nothing was sent; or nobody knows."""
    if isinstance(error, ClientConnectorError | ConnectionTimeoutError):
        return Refused("Slack cannot be reached")
    return Unclear(type(error).__name__)


def _seconds(headers: Mapping[str, Any]) -> float:
    found = {name.lower(): value for name, value in headers.items()}.get("retry-after", "")
    try:
        return max(float(found), 0.0)
    except (TypeError, ValueError):
        return _UNNAMED_WAIT
