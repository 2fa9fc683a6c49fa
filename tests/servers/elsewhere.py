"""A server that is not the platform's: what comes here by a redirect has gone too far."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from aiohttp import web


@dataclass(frozen=True)
class Elsewhere:
    """`asked` holds the path and the Authorization header of each request."""

    address: str
    asked: list[tuple[str, str]] = field(default_factory=list)


@asynccontextmanager
async def elsewhere() -> AsyncIterator[Elsewhere]:
    async def answer(request: web.Request) -> web.Response:
        server.asked.append((request.path, request.headers.get("Authorization", "")))
        return web.Response(text="evil")

    app = web.Application()
    app.router.add_get("/{path:.*}", answer)
    runner = web.AppRunner(app)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    server = Elsewhere(f"http://127.0.0.1:{runner.addresses[0][1]}")
    try:
        yield server
    finally:
        await runner.cleanup()
