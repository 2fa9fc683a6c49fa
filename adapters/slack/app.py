"""Bolt's app: whose requests are heard, and which listener one is for. Both transports use it.

A listener stores, and then acknowledges. Bolt waits for it (`process_before_response`): else what
is acknowledged and not stored yet would be lost with the process.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Awaitable, Callable, Mapping
from http import HTTPStatus
from typing import Any
from urllib.parse import parse_qsl

from slack_bolt.async_app import AsyncAck, AsyncApp, AsyncBoltRequest
from slack_bolt.authorization import AuthorizeResult
from slack_bolt.error import BoltUnhandledRequestError
from slack_bolt.middleware.async_middleware import AsyncMiddleware
from slack_bolt.response import BoltResponse
from slack_sdk.web.async_client import AsyncWebClient

from adapters.slack.events import HEARD, Me
from bot.errors import StorageError

_log = logging.getLogger(__name__)

Receive = Callable[[str, Mapping[str, Any]], Awaitable[None]]
"""Stores what an envelope of a kind (events_api, slash_commands, interactive) tells; raises
StorageError."""

_ANY = re.compile("")
_MALFORMED = (AttributeError, IndexError, KeyError, RecursionError, TypeError, ValueError)


def make_app(receive: Receive, me: Me, client: AsyncWebClient, secret: str = "") -> AsyncApp:
    """Listeners hand what is for the bot to `receive`. `me` says who that is, so that Bolt need
    not ask Slack. `secret` is what requests are signed with; a socket needs none."""

    async def authorize(enterprise_id: str | None, team_id: str | None) -> AuthorizeResult:
        return AuthorizeResult(
            enterprise_id=enterprise_id,
            team_id=team_id,
            bot_user_id=me.user,
            bot_id=me.bot or None,
            bot_token=client.token,
        )

    app = AsyncApp(
        name="belay",
        signing_secret=secret,
        client=AsyncWebClient(  # `authorize` gives it the token
            base_url=client.base_url,
            proxy=client.proxy,
            session=client.session,
            retry_handlers=client.retry_handlers,
        ),
        authorize=authorize,
        before_authorize=Readable(),
        process_before_response=True,
        raise_error_for_unhandled_request=True,
        attaching_function_token_enabled=False,
        attaching_conversation_kwargs_enabled=False,
    )
    for event in sorted(HEARD):
        app.event(event)(_listener("events_api", receive))
    app.command(_ANY)(_listener("slash_commands", receive))
    app.action({"type": "block_actions", "action_id": _ANY})(_listener("interactive", receive))
    app.error(_failed)
    return app


async def answer(
    app: AsyncApp, body: str | dict[str, Any], headers: Mapping[str, str] | None = None
) -> BoltResponse:
    """What Slack is told about a signed request, a text with headers, or the payload of an
    envelope. 200 when it is stored, or is nothing for the bot; 401 and 400 for what is not from
    Slack, or no notice; 503 and 500 when Slack should bring it again."""
    try:
        request = AsyncBoltRequest(
            body=body,
            headers=dict(headers or {}),
            mode="http" if isinstance(body, str) else "socket_mode",
        )
    except _MALFORMED:
        return BoltResponse(status=HTTPStatus.BAD_REQUEST)
    if isinstance(body, str) and not request.body:
        # a command with the word "payload" in it: Bolt takes its form for that of a press
        request.body = dict(parse_qsl(body, keep_blank_values=True))
    if not request.body:
        return BoltResponse(status=HTTPStatus.BAD_REQUEST)
    return await app.async_dispatch(request)


class Readable(AsyncMiddleware):
    """Of what was found to be from Slack, lets through the kinds that have listeners, in the shape
    that Bolt's matchers rely on. The rest is acknowledged, or Slack would bring it again."""

    async def async_process(
        self,
        *,
        req: AsyncBoltRequest,
        resp: BoltResponse,
        next: Callable[[], Awaitable[BoltResponse]],  # noqa: A002 - Bolt passes it by this name
    ) -> BoltResponse | None:
        match req.body:
            case (
                {"type": "event_callback", "event": {"type": str()}}
                | {"type": "block_actions", "actions": [{"action_id": str()}, *_]}
                | {"type": "url_verification"}
            ):
                return await next()
            case {"command": str(), **more} if "type" not in more:
                return await next()
            case {"type": "app_rate_limited"}:
                _log.warning("Slack holds events back: there were more than 30,000 in an hour")
            case other:
                _log.info("a notice of a kind that this version cannot read: %s", other.get("type"))
        return BoltResponse(status=HTTPStatus.OK)


def _listener(kind: str, receive: Receive) -> Callable[..., Awaitable[None]]:
    async def store(body: dict[str, Any], ack: AsyncAck) -> None:
        await receive(kind, body)
        await ack()

    return store


async def _failed(error: Exception) -> BoltResponse:
    match error:
        case BoltUnhandledRequestError():  # of an event that has no listener
            return BoltResponse(status=HTTPStatus.OK)
        case StorageError():
            _log.warning("an event could not be stored: %s", error)
            return BoltResponse(status=HTTPStatus.SERVICE_UNAVAILABLE)
    _log.error("a notice from Slack failed", exc_info=error)
    return BoltResponse(status=HTTPStatus.INTERNAL_SERVER_ERROR)
