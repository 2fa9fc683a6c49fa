"""What `belay doctor` finds out about a Slack app: tokens, scopes, the way in, membership."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass
from typing import Any

from aiohttp import ClientError
from slack_sdk.errors import SlackApiError, SlackClientError
from slack_sdk.web.async_client import AsyncWebClient

from adapters.slack.reading import WITHDRAWN, code_of
from adapters.slack.socket import Socket
from adapters.slack.webhook import PATH
from bot.errors import SettingsError
from bot.ports import Finding

SCOPES: Mapping[str, str] = {
    "app_mentions:read": "mentions in channels",
    "assistant:write": "suggestions and status lines in the assistant pane",
    "channels:history": "the messages of public channels",
    "channels:read": "which public channels are shared with others",
    "chat:write": "answering",
    "commands": "the slash command",
    "files:read": "files that come with a question or are handed in",
    "groups:history": "the messages of private channels",
    "groups:read": "which private channels are shared with others",
    "im:history": "direct messages",
    "im:read": "direct messages",
    "mpim:history": "the messages of group conversations",
    "mpim:read": "group conversations",
    "usergroups:read": "who is in the user groups of [[access.groups]]",
    "users:read": "who is a guest",
}
"""The scopes of the bot token, and what each is for. The manifest asks for these."""

_CHECK = "slack"
_COPY = "copy the Bot User OAuth Token (OAuth & Permissions) into BELAY_SLACK_BOT_TOKEN"
_REINSTALL = (
    "paste adapters/slack/manifest.yaml into the app's configuration (App Manifest), and install "
    "the app again"
)
_OUT = "allow outgoing HTTPS to slack.com, or check BELAY_SLACK_API_URL"
_CHANNELS = 100  # that are counted
_BROKEN = (SlackApiError, SlackClientError, ClientError, TimeoutError, OSError)


@dataclass(frozen=True, slots=True)
class Door:
    """How Slack's notices come in: by `socket`, or else as requests to the HTTP server."""

    socket: Socket | None


async def findings(client: AsyncWebClient, door: Door) -> AsyncIterator[Finding]:
    """Changes nothing at Slack."""
    try:
        me = await client.auth_test()
    except _BROKEN as error:
        yield _no_token(error)
        return
    team, name = me.get("team", ""), me.get("user", "")
    yield Finding(_CHECK, "ok", f"the bot token is that of @{name} in {team}")
    yield _scopes(me.headers)
    yield await _way_in(door)
    yield await _membership(client, str(name))


def _no_token(error: Exception) -> Finding:
    code = code_of(error) if isinstance(error, SlackApiError) else ""
    if code in WITHDRAWN:
        return Finding(_CHECK, "bad", f"Slack does not accept the bot token ({code})", _COPY)
    what = code or type(error).__name__
    return Finding(_CHECK, "bad", f"Slack was not reached ({what})", _OUT)


def _scopes(headers: Mapping[str, Any]) -> Finding:
    given = next((v for k, v in headers.items() if k.lower() == "x-oauth-scopes"), None)
    if given is None:
        return Finding(_CHECK, "note", "Slack does not say which scopes the bot token has")
    has = {scope.strip() for scope in str(given).split(",")}
    missing = [f"{scope} ({why})" for scope, why in SCOPES.items() if scope not in has]
    if missing:
        message = f"the bot token lacks scopes: {', '.join(missing)}"
        return Finding(_CHECK, "bad", message, _REINSTALL)
    return Finding(_CHECK, "ok", f"the bot token has all {len(SCOPES)} scopes")


async def _way_in(door: Door) -> Finding:
    if door.socket is None:
        message = f"by signed requests at {PATH}"
        remedy = (
            f"the Request URL of events, interactivity and the slash command is https://…{PATH}; "
            "Slack says Verified when it is reached and the signing secret is right"
        )
        return Finding(_CHECK, "note", message, remedy)
    try:
        await door.socket.address()
    except SettingsError as error:
        return Finding(_CHECK, "bad", str(error), error.remedy)
    except _BROKEN as error:
        what = code_of(error) if isinstance(error, SlackApiError) else type(error).__name__
        return Finding(_CHECK, "bad", f"no socket was opened ({what})", _OUT)
    return Finding(_CHECK, "ok", "by Socket Mode; the app token opens a socket")


async def _membership(client: AsyncWebClient, name: str) -> Finding:
    kinds = "public_channel,private_channel"
    try:
        told = await client.users_conversations(types=kinds, exclude_archived=True, limit=_CHANNELS)
    except _BROKEN as error:
        what = code_of(error) if isinstance(error, SlackApiError) else type(error).__name__
        return Finding(_CHECK, "note", f"the channels of the bot were not listed ({what})")
    channels = told.get("channels") or []
    if not channels:
        message = "the bot is in no channel: it hears direct messages and the slash command only"
        return Finding(_CHECK, "note", message, f"write /invite @{name} in a channel")
    shared = sum(bool(channel.get("is_ext_shared")) for channel in channels)
    more = "+" if len(channels) >= _CHANNELS else ""
    message = f"the bot is in {len(channels)}{more} channels"
    return Finding(_CHECK, "ok", f"{message}, {shared} of them shared with other organisations")
