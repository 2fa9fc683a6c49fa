"""Lines as they are typed or piped in, waited for without a thread.

A thread that waits in `readline` cannot be stopped: Ctrl-C would end the program only after one
more line.
"""

from __future__ import annotations

import asyncio
import codecs
import io
import os
from collections.abc import AsyncIterator
from typing import TextIO

_AT_ONCE = 65536  # bytes
_UTF16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)


async def lines(stream: TextIO) -> AsyncIterator[str]:
    """Each line of `stream` without its line end; bytes that are no text become U+FFFD."""
    try:
        descriptor = stream.fileno()
    except (OSError, ValueError):  # a text in memory
        for line in stream:
            yield line.rstrip("\r\n")
        return
    decoder: codecs.IncrementalDecoder | None = None
    begun = ""
    while True:
        data = await _read(descriptor)
        decoder = decoder or _decoder(stream, data)
        *whole, begun = (begun + decoder.decode(data, final=not data)).split("\n")
        for line in whole:
            yield line.rstrip("\r")
        if not data:
            if begun:
                yield begun.rstrip("\r")
            return


async def _read(descriptor: int) -> bytes:
    """The next bytes; none at the end of the input."""
    loop, ready = asyncio.get_running_loop(), asyncio.Event()
    try:
        loop.add_reader(descriptor, ready.set)
    except PermissionError:  # a file: it never keeps anybody waiting
        return os.read(descriptor, _AT_ONCE)
    try:
        await ready.wait()
        return os.read(descriptor, _AT_ONCE)
    except OSError:  # the terminal went away
        return b""
    finally:
        loop.remove_reader(descriptor)


def _decoder(stream: TextIO, first: bytes) -> codecs.IncrementalDecoder:
    """Of UTF-16 where a mark at the beginning says so, else of the locale or of UTF-8."""
    encoding = codecs.lookup(stream.encoding or "utf-8").name
    if first.startswith(_UTF16):
        encoding = "utf-16"
    elif encoding in ("ascii", "utf-8"):
        encoding = "utf-8-sig"
    return codecs.getincrementaldecoder(encoding)(errors="replace")


def nothing() -> TextIO:
    """A standard stream of a process that was started without it."""
    return io.StringIO()
