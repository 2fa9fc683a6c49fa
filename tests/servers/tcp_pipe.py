"""A wire to a server that can be cut, hold back what it carries, or be slow."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

_PIECE = 65536  # bytes


class Pipe:
    """Listens on a port of its own and hands everything on to `host:port`."""

    def __init__(self, host: str, port: int) -> None:
        self._target = (host, port)
        self._server: asyncio.Server | None = None
        self._writers: set[asyncio.StreamWriter] = set()
        self._flowing = asyncio.Event()
        self._flowing.set()
        self._left: int | None = None  # bytes of answers, before what is connected breaks
        self._delay = 0.0
        self.port = 0

    async def open(self) -> None:
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", self.port)
        self.port = self._server.sockets[0].getsockname()[1]

    async def cut(self) -> None:
        """Nobody listens any more, and what was connected is not."""
        assert self._server is not None
        self._server.close()
        for writer in self._writers:
            writer.transport.abort()
        self._flowing.set()

    def hold(self) -> None:
        """Connected, and nothing comes through."""
        self._flowing.clear()

    def flow(self) -> None:
        self._flowing.set()

    def break_after(self, size: int) -> None:
        """The next answers come through up to that many bytes; then what is connected breaks, once.
        The server has done what it was asked."""
        self._left = size

    def slow(self, seconds: float) -> None:
        """Every piece of an answer comes so much later."""
        self._delay = seconds

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        there, back = await asyncio.open_connection(*self._target)
        self._writers |= {writer, back}
        with suppress(OSError):
            async with asyncio.TaskGroup() as group:
                group.create_task(self._carry(reader, back))
                group.create_task(self._carry(there, writer, answers=True))

    async def _carry(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, *, answers: bool = False
    ) -> None:
        with suppress(OSError):
            while piece := await reader.read(_PIECE):
                await self._flowing.wait()
                if answers:
                    await asyncio.sleep(self._delay)
                    piece = self._through(piece)
                writer.write(piece)
                await writer.drain()
                if answers and self._left == 0:
                    self._left = None
                    break
        writer.transport.abort()

    def _through(self, piece: bytes) -> bytes:
        if self._left is None:
            return piece
        piece = piece[: self._left]
        self._left -= len(piece)
        return piece


@asynccontextmanager
async def piped(host: str, port: int) -> AsyncIterator[Pipe]:
    pipe = Pipe(host, port)
    await pipe.open()
    try:
        yield pipe
    finally:
        await pipe.cut()
