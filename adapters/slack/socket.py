"""Socket Mode: Slack's notices through a connection that the bot opens, without a public address.

https://docs.slack.dev/apis/events-api/using-socket-mode. The envelopes go through Bolt's app; the
SDK's own client, which Bolt would use, tries a revoked token for ever, closes the old connection
before it opens a new one, and works in tasks that nobody waits for.
"""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Mapping
from http import HTTPStatus
from typing import Any

from aiohttp import ClientError, ClientSession, ClientWebSocketResponse, ClientWSTimeout, WSMsgType
from slack_bolt.async_app import AsyncApp
from slack_sdk.errors import SlackApiError, SlackClientError
from slack_sdk.web.async_client import AsyncWebClient

from adapters.slack.app import answer
from adapters.slack.options import Options
from adapters.slack.outage import Outage
from adapters.slack.reading import WITHDRAWN, code_of
from bot.errors import SettingsError

_log = logging.getLogger(__name__)

REMEDY = (
    "Create an App-Level Token with the scope connections:write (Basic Information) and put it "
    "into BELAY_SLACK_APP_TOKEN."
)
_NOT_FOR_SOCKETS = {
    "forbidden_team": "this workspace does not allow the app",
    "link_disabled": "Socket Mode is switched off",
    "missing_scope": "the app token lacks connections:write",
    "no_permission": "the app token lacks connections:write",
    "not_allowed_token_type": "BELAY_SLACK_APP_TOKEN is no app token",
    "socket_mode_disabled": "Socket Mode is switched off",
}
_SWITCH_ON = "Switch Socket Mode on in the app's configuration, or take BELAY_SLACK_APP_TOKEN away."


class Socket:
    """One connection after the other. A new one is open before the old one is closed."""

    def __init__(
        self,
        client: AsyncWebClient,
        session: ClientSession,
        app_token: str,
        options: Options,
        outage: Outage,
    ) -> None:
        self._client, self._session = client, session
        self._app_token, self._options, self._outage = app_token, options, outage
        self.connected = False  # and greeted by Slack

    async def run(self, app: AsyncApp) -> None:
        """Receives until cancelled. Raises SettingsError for a token that opens no socket."""
        before: ClientWebSocketResponse | None = None
        try:
            while True:
                socket = await self._opened()
                if before is not None:
                    await before.close()
                before = socket
                try:
                    await self._listen(socket, app)
                finally:
                    self.connected = False
        finally:
            if before is not None:
                await before.close()

    async def address(self) -> str:
        """Where the next connection goes. Raises SettingsError, SlackApiError, ClientError."""
        try:
            opened = await self._client.apps_connections_open(app_token=self._app_token)
        except SlackApiError as error:
            code = code_of(error)
            if code in WITHDRAWN:
                raise SettingsError("Slack does not know the app token", REMEDY) from error
            if code in _NOT_FOR_SOCKETS:
                off = "switched off" in _NOT_FOR_SOCKETS[code]
                raise SettingsError(
                    _NOT_FOR_SOCKETS[code], _SWITCH_ON if off else REMEDY
                ) from error
            raise
        return str(opened["url"])

    async def _opened(self) -> ClientWebSocketResponse:
        while True:
            try:
                async with asyncio.timeout(self._options.call_timeout):
                    return await self._connect(await self.address())
            except (ClientError, SlackApiError, SlackClientError, TimeoutError, OSError) as error:
                await self._outage.rest(error)

    async def _connect(self, address: str) -> ClientWebSocketResponse:
        return await self._session.ws_connect(
            address,
            heartbeat=self._options.heartbeat,
            timeout=ClientWSTimeout(ws_close=self._options.sign_timeout),
            proxy=self._client.proxy,
            max_msg_size=self._options.largest,
        )

    async def _listen(self, socket: ClientWebSocketResponse, app: AsyncApp) -> None:
        """Until Slack wants another connection, or this one breaks."""
        greeted = False
        async for message in socket:
            envelope = _read(message.data) if message.type is WSMsgType.TEXT else {}
            if "envelope_id" in envelope:
                await self._take(socket, envelope, app)
            elif envelope.get("type") == "hello":
                greeted = self.connected = True
                self._outage.over()
            elif envelope.get("type") == "disconnect":
                if envelope.get("reason") == "link_disabled":
                    raise SettingsError("Socket Mode was switched off", _SWITCH_ON)
                if greeted:
                    return
                break
        await self._outage.rest(ConnectionError("the connection was closed"))

    async def _take(
        self, socket: ClientWebSocketResponse, envelope: Mapping[str, Any], app: AsyncApp
    ) -> None:
        """What is not acknowledged, Slack brings again."""
        payload = envelope.get("payload")
        if isinstance(payload, dict):
            told = await answer(app, payload)
            if told.status >= HTTPStatus.INTERNAL_SERVER_ERROR:
                return
        try:
            await socket.send_json({"envelope_id": envelope["envelope_id"]})
        except (ConnectionError, ClientError) as error:
            _log.info("an event was not acknowledged: %s", type(error).__name__)


def _read(data: str) -> Mapping[str, Any]:
    try:
        envelope = json.loads(data)
    except ValueError:
        return {}
    return envelope if isinstance(envelope, dict) else {}
