"""A Slack on loopback that refuses what Slack refuses, for any client of the Web API.

    async with SlackServer() as slack:
        ann, ops = slack.user("U0ANN", "Ann"), slack.channel("C0OPS", "ops")
        client = AsyncWebClient(slack.token, base_url=slack.url)
        ts = await slack.says(ops, ann, "<@U0BOT> why?")  # tells the app, if one listens
        await slack.until(lambda: slack.sent(ops))

The app listens at `slack.notices.url` for signed requests, or connects a socket. It may be
another process: all state is in the test's.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from typing import Any, Self

from aiohttp import web

from tests.servers.slack_blocks import checked_text
from tests.servers.slack_files import Files
from tests.servers.slack_methods import STREAM_LIFE, Methods
from tests.servers.slack_notices import Notices
from tests.servers.slack_people import MENTION, People, rich_text, section
from tests.servers.slack_workspace import Channel, Json, Refused, Sent, User, Workspace

__all__ = [
    "MENTION",
    "STREAM_LIFE",
    "Call",
    "Channel",
    "Flood",
    "Limited",
    "Lost",
    "Refused",
    "Sent",
    "SlackServer",
    "User",
    "rich_text",
    "section",
]

TOKEN = "xoxb-1234567890-1234567890123-loopbackTokenOfTheTestBot"
APP_TOKEN = "xapp-1-A0BELAY-1234567890123-loopbackAppTokenOfTheTestBot"
SECRET = "0123456789abcdef0123456789abcdef"
SCOPES = (
    "app_mentions:read assistant:write channels:history channels:read chat:write commands "
    "files:read groups:history groups:read im:history im:read mpim:history mpim:read "
    "usergroups:read users:read"
)
RESPONSE_LIFE, RESPONSE_USES = 1800.0, 5
_NESTED = frozenset({"blocks", "attachments", "metadata", "chunks", "prompts", "view"})
_WRITES = frozenset({"chat.postMessage", "chat.postEphemeral"})


@dataclass(frozen=True)
class Call:
    """One request. `error` is "" when it succeeded, and "lost" when its reply was lost."""

    method: str
    params: Json
    at: float  # seconds of the server's clock
    error: str = ""

    @property
    def channel(self) -> str:
        return str(self.params.get("channel") or self.params.get("channel_id") or "")


@dataclass(frozen=True)
class Lost:
    """A fault: the connection breaks. `done`: after the method took effect, not before."""

    done: bool = True


@dataclass(frozen=True)
class Limited:
    """A fault: 429, to be tried again after so many seconds."""

    retry_after: int = 1


@dataclass
class Flood:
    """Slack's limit on messages of one channel: over `burst` in `window` seconds give 429."""

    burst: int = 1
    window: float = 1.0
    retry_after: int = 1
    _writes: dict[str, list[float]] = field(default_factory=dict)

    def admits(self, channel: str, now: float) -> bool:
        recent = [at for at in self._writes.get(channel, []) if now - at < self.window]
        if len(recent) >= self.burst:
            return False
        self._writes[channel] = [*recent, now]
        return True


@dataclass
class _Response:
    opened: float
    uses: int = 0


Fault = Refused | Lost | Limited


class SlackServer(People):
    """The server; an async context manager. See People for what people can do.

    `clock` gives seconds that only grow, `now` seconds since the epoch.
    """

    def __init__(
        self,
        *,
        scopes: Collection[str] = tuple(SCOPES.split()),
        clock: Callable[[], float] = time.monotonic,
        now: Callable[[], float] = time.time,
    ) -> None:
        workspace = Workspace(clock, now)
        super().__init__(workspace, Notices(SECRET, now))
        self.methods = Methods(workspace, scopes)
        self.token, self.app_token, self.secret = TOKEN, APP_TOKEN, SECRET
        self.socket_mode = True  # False: switched off in the app's configuration
        self.calls: list[Call] = []
        self.flood: Flood | None = None
        self.url = ""
        self._clock = clock
        self._dead = ""  # the error that every call gets
        self._faults: list[tuple[str, Fault, str]] = []
        self._held: dict[str, asyncio.Event] = {}
        self.files = Files(workspace, TOKEN, self.methods.scopes, self._note, self._held)
        self._changed = asyncio.Event()
        self._opened: dict[str, _Response] = {}
        self._runner: web.AppRunner | None = None

    # What a test sees

    def sent(self, channel: Channel) -> list[Sent]:
        """The bot's messages as everybody in a channel sees them now, oldest first."""
        return [sent for _, sent in sorted(self.at.sent.items()) if sent.channel == channel.id]

    def whispered(self, channel: Channel) -> list[Sent]:
        """What only one person sees."""
        return [sent for sent in self.at.ephemeral if sent.channel == channel.id]

    def called(self, method: str, channel: Channel | None = None) -> list[Call]:
        return [
            call
            for call in self.calls
            if call.method == method and (channel is None or call.channel == channel.id)
        ]

    async def until(self, condition: Callable[[], Any], timeout: float = 20.0) -> None:
        """Waits until the condition holds; it is looked at after every request."""
        async with asyncio.timeout(timeout):
            while not condition():
                await self._changed.wait()

    # What a test arranges

    def fail(self, method: str, *what: Fault, channel: Channel | None = None) -> None:
        """The next calls of a method (in this channel) meet these faults, one each. The method
        of a response_url is "response"."""
        self._faults += [(method, fault, channel.id if channel else "") for fault in what]

    def hold(self, method: str) -> asyncio.Event:
        """Calls of this method wait until the event is set."""
        return self._held.setdefault(method, asyncio.Event())

    def revoke(self, error: str = "token_revoked") -> None:
        """From now on every call with the bot's token is refused."""
        self._dead = error

    # HTTP

    async def __aenter__(self) -> Self:
        app = web.Application(client_max_size=64 * 1024 * 1024)
        app.router.add_route("*", "/api/{method}", self._handle)
        app.router.add_post("/response/{name}", self._respond)
        app.router.add_get("/files-pri/{file}/{name}", self.files.serve)
        app.router.add_get("/link", self.notices.serve)
        self._runner = web.AppRunner(
            app, access_log=None, handler_cancellation=True, shutdown_timeout=0.1
        )
        await self._runner.setup()
        await web.TCPSite(self._runner, "127.0.0.1", 0).start()
        host, port = self._runner.addresses[0][:2]
        self.url = f"http://{host}:{port}/api/"
        return self

    async def __aexit__(self, *_: object) -> None:
        assert self._runner is not None
        for socket in list(self.notices.sockets):
            await socket.close()
        await self._runner.cleanup()

    async def _handle(self, http: web.Request) -> web.StreamResponse:
        method, params = http.match_info["method"], await _params(http)
        headers = {"x-oauth-scopes": ",".join(sorted(self.methods.scopes))}
        try:
            result = await self._call(method, params, http)
        except _Limited as limited:
            self._note(method, params, "ratelimited")
            headers["Retry-After"] = str(limited.seconds)
            body = {"ok": False, "error": "ratelimited"}
            return web.json_response(body, status=429, headers=headers)
        except Refused as refusal:
            self._note(method, params, refusal.error)
            body = {"ok": False, "error": refusal.error, **refusal.fields}
            return web.json_response(body, headers=headers)
        self._note(method, params)
        return web.json_response({"ok": True, **result}, headers=headers)

    async def _call(self, method: str, params: Json, http: web.Request) -> Json:
        params.pop("token", None)
        if method in self._held:
            await self._held[method].wait()
        fault = self._fault(method, params)
        if isinstance(fault, Refused):
            raise fault
        if isinstance(fault, Limited):
            raise _Limited(fault.retry_after)
        if fault is not None and not fault.done:
            _break(http)
        result = self._run(method, params, http.headers.get("Authorization", ""))
        if fault is not None:
            self._note(method, params, "lost")
            _break(http)
        return result

    def _run(self, method: str, params: Json, authorization: str) -> Json:
        if method == "apps.connections.open":
            return self._open_socket(authorization)
        if authorization != f"Bearer {self.token}":
            raise Refused("invalid_auth" if authorization else "not_authed")
        if self._dead:
            raise Refused(self._dead)
        run = self.files.info if method == "files.info" else self.methods.find(method)
        if run is None:
            raise Refused("unknown_method", req_method=method)
        if self.flood and method in _WRITES:
            channel = str(params.get("channel"))
            if not self.flood.admits(channel, self._clock()):
                raise _Limited(self.flood.retry_after)
        done: Json = run(params)
        return done

    def _open_socket(self, authorization: str) -> Json:
        if authorization == f"Bearer {self.token}":
            raise Refused("not_allowed_token_type")
        if authorization != f"Bearer {self.app_token}":
            raise Refused("invalid_auth")
        if not self.socket_mode:
            raise Refused("forbidden_team")
        return {"url": self.url.replace("http:", "ws:").removesuffix("/api/") + "/link"}

    async def _respond(self, http: web.Request) -> web.StreamResponse:
        """A response_url: five uses within half an hour."""
        name, params = http.match_info["name"], await http.json()
        known = self._opened.setdefault(name, _Response(self._clock()))
        fault = self._fault("response", params)
        if isinstance(fault, Lost) and not fault.done:
            _break(http)
        late = self._clock() - known.opened > RESPONSE_LIFE or known.uses >= RESPONSE_USES
        status, body = 200, "ok"
        if isinstance(fault, Limited):
            status, body = 429, "ratelimited"
        elif isinstance(fault, Refused):
            status, body = 404, fault.error
        elif name not in self.responses or late:
            status, body = 404, "used_url" if late else "invalid_url"
        else:
            known.uses += 1
            status, body = self._responded(name, params)
        self._note("response", params, "lost" if isinstance(fault, Lost) else "")
        if isinstance(fault, Lost):
            _break(http)
        headers = {"Retry-After": str(fault.retry_after)} if isinstance(fault, Limited) else {}
        return web.Response(status=status, text=body, headers=headers)

    def _responded(self, name: str, params: Json) -> tuple[int, str]:
        channel, user = self.responses[name]
        if params.get("delete_original"):
            return 200, "ok"
        try:
            checked_text(params)
        except Refused as refusal:
            return 400, refusal.error
        if params.get("response_type") == "in_channel":
            self.methods.post_response(channel, params)
        else:
            self.methods.ephemeral(channel, params, user, response=True)
        return 200, "ok"

    def _fault(self, method: str, params: Json) -> Fault | None:
        for row in self._faults:
            name, fault, channel = row
            where = str(params.get("channel") or params.get("channel_id") or "")
            if name == method and channel in ("", where):
                self._faults.remove(row)
                return fault
        return None

    def _note(self, method: str, params: Json, error: str = "") -> None:
        self.calls.append(Call(method, params, self._clock(), error))
        self._changed.set()
        self._changed = asyncio.Event()


class _Limited(Exception):
    def __init__(self, seconds: int) -> None:
        super().__init__(f"retry after {seconds}")
        self.seconds = seconds


def _break(http: web.Request) -> None:
    if http.transport is not None:
        http.transport.close()
    raise ConnectionResetError


async def _params(http: web.Request) -> Json:
    if http.content_type == "application/json":
        return dict(await http.json())
    params: Json = {**http.query, **await http.post()}
    for name in _NESTED & set(params):
        params[name] = json.loads(params[name])
    return params
