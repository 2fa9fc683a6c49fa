"""A part of the shared Redis that belongs to one test."""

from __future__ import annotations

import uuid
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from adapters.redis.server import Server
from tests.servers.redis_server import RedisServer


@asynccontextmanager
async def redis_of(request: pytest.FixtureRequest) -> AsyncIterator[Server]:
    """Skips the test where there is no redis-server."""
    shared: RedisServer = request.getfixturevalue("redis_server")
    server = Server(shared.url, prefix=uuid.uuid4().hex)
    try:
        yield server
    finally:
        await server.close()
