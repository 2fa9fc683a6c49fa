"""The one HTTP server of a process: `/healthz`, further pages, and what platforms mount."""

from __future__ import annotations

import logging
import os
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from http import HTTPStatus
from types import TracebackType
from typing import Protocol, Self

from aiohttp import web

from bot.errors import SettingsError

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Answered:
    """What goes back to the sender of a POST: an HTTP status, and a text where one is expected."""

    status: int
    text: str = ""
    content_type: str = "text/plain"


Handler = Callable[[Mapping[str, str], bytes], Awaitable[int | Answered]]
"""Takes the headers (names in lower case) and the body of a POST; returns at least the status."""

Page = Callable[[], Awaitable[Answered]]
"""What a GET shows."""

HEALTH = "/healthz"


class Mount(Protocol):
    """Where a platform says what it listens to."""

    def mount(self, path: str, handler: Handler) -> None:
        """POSTs to `path` go to `handler`, at any time from now on."""


@dataclass(frozen=True, slots=True)
class Listening:
    """`port` 0 takes a free one. `largest` is of a body, in bytes; `grace` in seconds, for requests
    that are answered while the server closes."""

    host: str = "127.0.0.1"
    port: int = 8080
    largest: int = 1024 * 1024
    grace: float = 5.0


class HttpServer(Mount):
    """An async context manager. `healthy` says whether the process can serve.

    A handler that raises gives 500 and a line in the log: the sender tries again. So does a POST
    to what is not mounted yet, until `complete` says that nothing more will be: 503.
    """

    def __init__(
        self, listening: Listening | None = None, healthy: Callable[[], bool] = lambda: True
    ) -> None:
        self._listening = listening or Listening()
        self._healthy = healthy
        self._handlers: dict[str, Handler] = {}
        self._pages: dict[str, Page] = {}
        self._complete = True
        self._runner: web.AppRunner | None = None

    @property
    def port(self) -> int:
        """The port that is listened to, once the server runs."""
        assert self._runner is not None
        return int(self._runner.addresses[0][1])

    def mount(self, path: str, handler: Handler) -> None:
        self._handlers[path] = handler

    def show(self, path: str, page: Page) -> None:
        """GETs of `path` get `page`, at any time from now on."""
        self._pages[path] = page

    def complete(self, complete: bool) -> None:
        """Whether everything is mounted that is to be."""
        self._complete = complete

    async def __aenter__(self) -> Self:
        """Raises SettingsError when the address cannot be listened to."""
        app = web.Application(client_max_size=self._listening.largest)
        app.router.add_get(HEALTH, self._health)
        app.router.add_get("/{path:.*}", self._get)
        app.router.add_post("/{path:.*}", self._post)
        runner = web.AppRunner(app, access_log=None, shutdown_timeout=self._listening.grace)
        await runner.setup()
        host, port = self._listening.host, self._listening.port
        try:
            await web.TCPSite(runner, host, port).start()
        except OSError as error:
            await runner.cleanup()
            raise SettingsError(
                f"BELAY_HTTP: nothing can listen on {host}:{port}: {_reason(error)}",
                "Set it to another host:port, as in 127.0.0.1:8081, or stop the process that "
                "listens there.",
            ) from error
        self._runner = runner
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._runner is not None:
            await self._runner.cleanup()
            self._runner = None

    async def _health(self, _: web.Request) -> web.Response:
        if self._healthy():
            return web.Response(text="ok\n")
        return web.Response(status=HTTPStatus.SERVICE_UNAVAILABLE, text="not ready\n")

    async def _get(self, request: web.Request) -> web.Response:
        page = self._pages.get(request.path)
        if page is None:
            raise web.HTTPNotFound
        try:
            return _response(await page())
        except Exception:
            _log.exception("the page %s failed", request.path)
            return web.Response(status=HTTPStatus.INTERNAL_SERVER_ERROR)

    async def _post(self, request: web.Request) -> web.Response:
        handler = self._handlers.get(request.path)
        if handler is None and not self._complete:
            return web.Response(status=HTTPStatus.SERVICE_UNAVAILABLE)
        if handler is None:
            raise web.HTTPNotFound
        headers = {name.lower(): value for name, value in request.headers.items()}
        body = await request.read()
        try:
            answered = await handler(headers, body)
        except Exception:
            _log.exception("a request to %s failed", request.path)
            return web.Response(status=HTTPStatus.INTERNAL_SERVER_ERROR)
        if isinstance(answered, Answered):
            return _response(answered)
        return web.Response(status=answered)


def _response(answered: Answered) -> web.Response:
    return web.Response(
        status=answered.status, text=answered.text, content_type=answered.content_type
    )


def _reason(error: OSError) -> str:
    """asyncio puts an address into the text of an error, which is named already."""
    if error.errno is not None and error.errno > 0:
        return os.strerror(error.errno)
    return error.strerror or str(error)  # of a name that cannot be looked up
