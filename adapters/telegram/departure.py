"""The moment at which a request leaves the house: before it nothing was shown, after it who knows.

Opening a connection can take longer than all the rest of a call. aiohttp's tracing tells of a piece
of the body right before it is written to the socket, and nothing else runs in between.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from types import SimpleNamespace

from aiogram.client.session.aiohttp import AiohttpSession
from aiohttp import ClientSession, TraceConfig, TraceRequestChunkSentParams


class Departure:
    """One request with a body. `leaving` is called once, right before the first bytes; when it
    raises, they stay, and `error` is what it raised."""

    def __init__(self, leaving: Callable[[], None]) -> None:
        self._leaving = leaving
        self.left = False
        self.error: Exception | None = None

    def leave(self) -> None:
        if self.left:
            return
        try:
            self._leaving()
        except Exception as error:
            self.error = error
            raise
        self.left = True


_under_way: ContextVar[Departure | None] = ContextVar("departure", default=None)


@contextmanager
def departing(leaving: Callable[[], None]) -> Iterator[Departure]:
    """For the request that is made inside the block, by a bot with a DepartureSession."""
    departure = Departure(leaving)
    token = _under_way.set(departure)
    try:
        yield departure
    finally:
        _under_way.reset(token)


class DepartureSession(AiohttpSession):
    """aiogram's session, which tells the departure of each request."""

    async def create_session(self) -> ClientSession:
        session = await super().create_session()
        if not session.trace_configs:
            session.trace_configs.append(_trace())
        return session


def _trace() -> TraceConfig:
    trace = TraceConfig()
    trace.on_request_chunk_sent.append(_leave)
    trace.freeze()
    return trace


async def _leave(_: ClientSession, __: SimpleNamespace, ___: TraceRequestChunkSentParams) -> None:
    departure = _under_way.get()
    if departure is not None:
        departure.leave()
