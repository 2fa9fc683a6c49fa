"""How Slack tells an app what happened: signed requests, or envelopes through a socket."""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import itertools
import json
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

import aiohttp
from aiohttp import web

from tests.servers.slack_workspace import APP_ID, TEAM, Json

_ACK_PATIENCE = 20.0


@dataclass(frozen=True)
class Told:
    """One delivery. `status` is the HTTP status, or 200 for an acknowledged envelope; 0 without
    any. `body` is what came back."""

    status: int
    body: str = ""
    retry: int = 0


class Notices:
    """The side of Slack that speaks first.

    `url` is where the app listens; without one, sockets are used. `now` is the time that requests
    are signed at.
    """

    def __init__(self, secret: str, now: Callable[[], float]) -> None:
        self.secret, self.now = secret, now
        self.url = ""
        self.told: list[Told] = []
        self.sockets: list[web.WebSocketResponse] = []
        self._acks: dict[str, asyncio.Future[str]] = {}
        self._serial = itertools.count(1)
        self._connected = asyncio.Event()

    # What is said

    async def event(self, event: Json, *, times: int = 1, **envelope: Any) -> list[Told]:
        """An event of the Events API, delivered `times` times: the others are retries."""
        body = self.envelope(event, **envelope)
        retries = range(times)
        return [await self.send(body, "events_api", retry=number) for number in retries]

    def envelope(self, event: Json, **envelope: Any) -> Json:
        return {
            "token": "verification",
            "team_id": TEAM,
            "api_app_id": APP_ID,
            "event": event,
            "type": "event_callback",
            "event_id": f"Ev{next(self._serial):08d}",
            "event_time": int(self.now()),
            "authorizations": [{"team_id": TEAM, "user_id": "U0BOT", "is_bot": True}],
            "is_ext_shared_channel": False,
            **envelope,
        }

    async def send(self, body: Json, kind: str = "events_api", *, retry: int = 0) -> Told:
        """`kind` is the envelope's type: events_api, slash_commands or interactive."""
        done = await (self._post(body, kind, retry) if self.url else self._push(body, kind, retry))
        self.told.append(done)
        return done

    async def verify(self) -> Told:
        """As when somebody enters the address in the app's configuration."""
        body = {"token": "verification", "challenge": "c-4711", "type": "url_verification"}
        return await self._post(body, "events_api", 0)

    # Signed requests

    def signed(self, data: bytes, *, at: float | None = None, secret: str = "") -> dict[str, str]:
        """The headers that prove where a body comes from."""
        stamp = str(int(self.now() if at is None else at))
        base = b"v0:" + stamp.encode() + b":" + data
        digest = hmac.new((secret or self.secret).encode(), base, hashlib.sha256).hexdigest()
        return {"X-Slack-Request-Timestamp": stamp, "X-Slack-Signature": f"v0={digest}"}

    async def post(self, data: bytes, headers: dict[str, str]) -> Told:
        """A request as it is, signed or not."""
        timeout = aiohttp.ClientTimeout(total=_ACK_PATIENCE)
        async with (
            aiohttp.ClientSession(timeout=timeout) as session,
            session.post(self.url, data=data, headers=headers) as response,
        ):
            return Told(response.status, await response.text())

    async def _post(self, body: Json, kind: str, retry: int) -> Told:
        data, content = _encoded(body, kind)
        headers = {"Content-Type": content, **self.signed(data)}
        if retry:
            headers |= {"X-Slack-Retry-Num": str(retry), "X-Slack-Retry-Reason": "http_timeout"}
        told = await self.post(data, headers)
        return Told(told.status, told.body, retry)

    # Sockets

    async def connected(self) -> None:
        """Returns when the app is connected."""
        await asyncio.wait_for(self._connected.wait(), _ACK_PATIENCE)

    async def serve(self, request: web.Request) -> web.StreamResponse:
        """A connection of the app, as long as it lasts."""
        socket = web.WebSocketResponse()
        await socket.prepare(request)
        await socket.send_json({"type": "hello", "num_connections": len(self.sockets) + 1})
        self.sockets.append(socket)
        self._connected.set()
        try:
            async for message in socket:
                if message.type is aiohttp.WSMsgType.TEXT:
                    self._acknowledged(message.json())
        finally:
            self.sockets.remove(socket)
            if not self.sockets:
                self._connected.clear()
        return socket

    async def disconnect(self, reason: str = "refresh_requested") -> None:
        """Asks every connection to go, as Slack does every few hours."""
        for socket in list(self.sockets):
            await socket.send_json({"type": "disconnect", "reason": reason})

    async def _push(self, body: Json, kind: str, retry: int) -> Told:
        await self.connected()
        name = f"env-{next(self._serial)}"
        envelope: Json = {
            "envelope_id": name,
            "type": kind,
            "payload": body,
            "accepts_response_payload": kind != "events_api",
        }
        if kind == "events_api":
            envelope |= {"retry_attempt": retry, "retry_reason": "timeout" if retry else ""}
        self._acks[name] = asyncio.get_running_loop().create_future()
        await self.sockets[-1].send_json(envelope)
        return await _answered(self._acks[name], retry)

    def _acknowledged(self, message: Json) -> None:
        future = self._acks.pop(str(message.get("envelope_id")), None)
        if future is not None:
            payload = message.get("payload")
            future.set_result(json.dumps(payload) if payload else "")


async def _answered(ack: Awaitable[str], retry: int) -> Told:
    try:
        return Told(200, await asyncio.wait_for(ack, _ACK_PATIENCE), retry)
    except TimeoutError:
        return Told(0, "", retry)


def _encoded(body: Json, kind: str) -> tuple[bytes, str]:
    if kind == "events_api":
        return json.dumps(body).encode(), "application/json"
    fields = {"payload": json.dumps(body)} if kind == "interactive" else body
    return urlencode(fields).encode(), "application/x-www-form-urlencoded"
