"""The body of a response, as far as it is wanted."""

from __future__ import annotations

from aiohttp import StreamReader

_PIECE = 65_536  # bytes


async def whole(content: StreamReader, limit: int) -> bytes | None:
    """All of it, and None when it is longer than `limit` bytes: then the rest is not read."""
    data = bytearray()
    async for piece in content.iter_chunked(_PIECE):
        data += piece
        if len(data) > limit:
            return None
    return bytes(data)
