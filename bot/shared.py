"""The server that replicas of a bot share, when the settings name one."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from bot.ports import SharedServer
from bot.registry import factory
from bot.settings import Settings


@asynccontextmanager
async def shared_server(
    settings: Settings, opened: SharedServer | None = None, *, wait: bool = True
) -> AsyncIterator[SharedServer]:
    """The Redis of `settings.redis_url`, closed at the end; with `wait` one that takes writes.
    `opened` is that server where its connections are open already, and stays open.

    Raises SettingsError for a wrong address, StorageError when it is not there in time.
    """
    if opened is not None:
        if wait:
            await opened.ready()
        yield opened
        return
    chosen = settings.redis
    server: SharedServer = factory("server.redis")(
        settings.redis_url,
        prefix=chosen.prefix,
        timeout=chosen.timeout,
        start_timeout=chosen.start_timeout,
    )
    try:
        if wait:
            await server.ready()
        yield server
    finally:
        await server.close()
