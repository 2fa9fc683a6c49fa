"""A Bot API server on loopback that refuses what Telegram refuses, for any Bot API client.

    async with TelegramServer() as server:
        anna, ops = server.user(7, "Anna"), server.group(-1001, "Ops")
        bot = Bot(server.token, AiohttpSession(api=TelegramAPIServer.from_base(server.url)))
        server.says(ops, anna, "@belay_bot why?")
        await server.until(lambda: server.sent(ops))

It is a real HTTP server: the bot may be another process. All state is in the test's process.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Self

from aiohttp import web

from tests.servers.telegram_chats import Chat, Chats, Draft, Group, Json, Sent, User, Whisper
from tests.servers.telegram_methods import Methods
from tests.servers.telegram_people import People
from tests.servers.telegram_text import Refused
from tests.servers.telegram_updates import Updates

__all__ = [
    "Call",
    "Draft",
    "Flood",
    "Group",
    "Lost",
    "Refused",
    "Sent",
    "TelegramServer",
    "User",
]

TOKEN = "4242:AAloopback-token-of-the-test-bot-00"
_JSON_FIELDS = frozenset(
    [
        "entities",
        "caption_entities",
        "reply_markup",
        "reply_parameters",
        "link_preview_options",
        "commands",
        "scope",
        "allowed_updates",
        "rich_message",
        "ephemeral_message_parameters",
    ]
)
_WRITES = frozenset({"sendmessage", "sendrichmessage", "editmessagetext", "senddocument"})


@dataclass(frozen=True)
class Call:
    """One request. `error` is 0 when it succeeded, and -1 when its reply was lost."""

    method: str
    params: Json
    at: float  # seconds of the server's clock
    error: int = 0
    description: str = ""

    @property
    def chat(self) -> int | None:
        return int(self.params["chat_id"]) if "chat_id" in self.params else None


@dataclass(frozen=True)
class Lost:
    """A fault: the connection breaks. `done`: after the method took effect, not before."""

    done: bool = True


@dataclass
class Flood:
    """Telegram's flood control, per chat: over `burst` writes in `window` seconds give 429.

    Writing during the ban starts it anew, as the real one does.
    """

    burst: int = 1
    window: float = 1.0
    retry_after: int = 3
    _writes: dict[int, list[float]] = field(default_factory=dict)
    _until: dict[int, float] = field(default_factory=dict)

    def check(self, chat: int, now: float) -> None:
        recent = [at for at in self._writes.get(chat, []) if now - at < self.window]
        if now < self._until.get(chat, 0.0) or len(recent) >= self.burst:
            self._until[chat] = now + self.retry_after
            raise too_many(self.retry_after)
        self._writes[chat] = [*recent, now]


def too_many(seconds: int) -> Refused:
    return Refused(429, f"Too Many Requests: retry after {seconds}", retry_after=seconds)


@dataclass
class _Fault:
    method: str
    what: Refused | Lost
    chat: int | None


class TelegramServer(People):
    """The server; an async context manager. See People for what people can do."""

    def __init__(
        self,
        token: str = TOKEN,
        *,
        username: str = "belay_bot",
        reads_all: bool = True,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        bot = User(int(token.partition(":")[0]), "Belay", username, "", is_bot=True)
        chats, updates = Chats(bot), Updates()
        flags = {
            "can_join_groups": True,
            "can_read_all_group_messages": reads_all,
            "supports_inline_queries": False,
            "can_connect_to_business": False,
            "has_main_web_app": False,
        }
        super().__init__(chats, updates, Methods(chats, flags))
        self.token = token
        self.calls: list[Call] = []
        self.file_redirect = ""  # where downloads are sent on to
        self.delivered: dict[str, bytes] = {}  # what is given in place of a file
        self.flood: Flood | None = None
        self.url = ""
        self._clock = clock
        self._faults: list[_Fault] = []
        self._held: dict[str, asyncio.Event] = {}
        self._changed = asyncio.Event()
        self._runner: web.AppRunner | None = None
        self._delivery: asyncio.Task[None] | None = None

    # What a test sees

    def sent(self, chat: Chat) -> list[Sent]:
        """The bot's messages as they are seen now, oldest first."""
        return list(self.chats.sent[chat.id].values())

    def drafts(self, chat: Chat) -> list[Draft]:
        """Every draft that was shown, in order."""
        return [draft for draft in self.chats.drafts if draft.chat == chat.id]

    def whispers(self, chat: Chat) -> list[Whisper]:
        """What only one person in the group was shown."""
        return [whisper for whisper in self.chats.whispers if whisper.chat == chat.id]

    def called(self, method: str, chat: Chat | None = None) -> list[Call]:
        return [
            call
            for call in self.calls
            if call.method.lower() == method.lower() and (chat is None or call.chat == chat.id)
        ]

    async def until(self, condition: Callable[[], Any], timeout: float = 20.0) -> None:
        """Waits until the condition holds; it is looked at after every request."""
        async with asyncio.timeout(timeout):
            while not condition():
                await self._changed.wait()

    # What a test arranges

    @property
    def rich(self) -> bool:
        """Whether rich messages exist here; False: an old self-hosted server."""
        return self.methods.rich

    @rich.setter
    def rich(self, value: bool) -> None:
        self.methods.rich = value

    def fail(self, method: str, *what: Refused | Lost, chat: Chat | None = None) -> None:
        """The next calls of a method (in this chat) meet these faults, one each."""
        chat_id = chat.id if chat else None
        self._faults += [_Fault(method.lower(), fault, chat_id) for fault in what]

    def hold(self, method: str) -> asyncio.Event:
        """Calls of this method wait until the event is set."""
        return self._held.setdefault(method.lower(), asyncio.Event())

    # HTTP

    async def __aenter__(self) -> Self:
        app = web.Application(client_max_size=64 * 1024 * 1024)
        app.router.add_route("*", "/bot{token}/{method}", self._handle)
        app.router.add_get("/file/bot{token}/{path:.+}", self._download)
        self._runner = web.AppRunner(
            app, access_log=None, handler_cancellation=True, shutdown_timeout=0.1
        )
        await self._runner.setup()
        await web.TCPSite(self._runner, "127.0.0.1", 0).start()
        host, port = self._runner.addresses[0][:2]
        self.url = f"http://{host}:{port}"
        self._delivery = asyncio.create_task(self.updates.deliver(self._answered))
        return self

    async def __aexit__(self, *_: object) -> None:
        assert self._runner is not None
        assert self._delivery is not None
        self.updates.close()
        self._delivery.cancel()
        await asyncio.wait([self._delivery])
        await self._runner.cleanup()

    async def _handle(self, http: web.Request) -> web.StreamResponse:
        method, params = http.match_info["method"], await _params(http)
        try:
            self._authorize(http)
            result = await self._call(method, params, http)
        except Refused as refusal:
            self._note(method, params, refusal.code, refusal.description)
            body: Json = {
                "ok": False,
                "error_code": refusal.code,
                "description": refusal.description,
            }
            if refusal.parameters:
                body["parameters"] = refusal.parameters
            return web.json_response(body, status=refusal.code)
        self._note(method, params)
        return web.json_response({"ok": True, "result": result})

    def _authorize(self, http: web.Request) -> None:
        if http.match_info["token"] != self.token:
            raise Refused(401, "Unauthorized")

    async def _call(self, method: str, params: Json, http: web.Request | None = None) -> Any:
        name = method.lower()
        if name in self._held:
            await self._held[name].wait()
        fault = self._fault(name, params)
        if isinstance(fault, Refused):
            raise fault
        if self.flood and name in _WRITES:
            self.flood.check(int(params.get("chat_id", 0)), self._clock())
        if fault is not None and not fault.done:
            _break(http)
        result = await self._run(name, params)
        if fault is not None:
            self._note(method, params, -1)
            _break(http)
        return result

    async def _run(self, name: str, params: Json) -> Any:
        updates: Mapping[str, Callable[[Json], Any]] = {
            "getupdates": self.updates.get,
            "setwebhook": self.updates.set_webhook,
            "deletewebhook": self.updates.delete_webhook,
            "getwebhookinfo": lambda _: self.updates.info(),
        }
        run = updates.get(name) or self.methods.find(name)
        if run is None:
            raise Refused(404, "Not Found: method not found")
        result = run(params)
        return await result if isinstance(result, Awaitable) else result

    def _fault(self, name: str, params: Json) -> Refused | Lost | None:
        for fault in self._faults:
            if fault.method == name and fault.chat in (None, _integer(params.get("chat_id"))):
                self._faults.remove(fault)
                return fault.what
        return None

    def _note(self, method: str, params: Json, error: int = 0, description: str = "") -> None:
        self.calls.append(Call(method, params, self._clock(), error, description))
        self._changed.set()
        self._changed = asyncio.Event()

    async def _answered(self, body: Json) -> None:
        if method := body.pop("method", None):
            try:
                await self._call(method, body)
            except Refused as refusal:
                self._note(method, body, refusal.code, refusal.description)
            else:
                self._note(method, body)

    async def _download(self, http: web.Request) -> web.StreamResponse:
        file_id = http.match_info["path"].removeprefix("documents/").partition("_")[0]
        self._note("download", {"file": file_id})
        if "download" in self._held:
            await self._held["download"].wait()
        if self.file_redirect:
            raise web.HTTPFound(self.file_redirect)
        if http.match_info["token"] != self.token or file_id not in self.methods.files:
            raise web.HTTPNotFound
        return web.Response(body=self.delivered.get(file_id) or self.methods.files[file_id][1])


def _integer(value: Any) -> int | None:
    try:
        return int(value)
    except (TypeError, ValueError):
        return None


def _break(http: web.Request | None) -> None:
    if http is not None and http.transport is not None:
        http.transport.close()
    raise ConnectionResetError


async def _params(http: web.Request) -> Json:
    if http.content_type == "application/json":
        return dict(await http.json())
    params: Json = dict(http.query)
    for name, value in (await http.post()).items():
        if isinstance(value, web.FileField):
            params[name] = (value.filename, value.file.read())
        else:
            params[name] = value
    for name in _JSON_FIELDS & set(params):
        params[name] = json.loads(params[name])
    attached = str(params.get("document", ""))
    if attached.startswith("attach://"):
        params["document"] = params.get(attached.removeprefix("attach://"))
    return params
