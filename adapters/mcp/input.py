"""Standard input that ends when the process is told to end.

The SDK reads it in a thread that nothing can interrupt, so a signal would wait for the next line.
Here that thread reads from a socket that a signal closes.
"""

from __future__ import annotations

import asyncio
import os
import signal
import socket
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from threading import Thread

_AT_ONCE = 65536  # bytes
_SIGNALS = (signal.SIGTERM, signal.SIGINT)


@contextmanager
def ending_with_signals() -> Iterator[None]:
    """Puts the socket in the place of standard input."""
    loop = asyncio.get_running_loop()
    ours, theirs = socket.socketpair()
    real = os.dup(0)
    os.dup2(ours.fileno(), 0)
    ours.close()
    Thread(target=_copy, args=(real, theirs), daemon=True).start()
    for number in _SIGNALS:
        loop.add_signal_handler(number, _end, theirs)
    try:
        yield
    finally:
        for number in _SIGNALS:
            loop.remove_signal_handler(number)
        os.dup2(real, 0)


def _copy(real: int, theirs: socket.socket) -> None:
    with suppress(OSError):  # the other end is closed: nobody reads any more
        while data := os.read(real, _AT_ONCE):
            theirs.sendall(data)
    _end(theirs)


def _end(theirs: socket.socket) -> None:
    with suppress(OSError):
        theirs.shutdown(socket.SHUT_WR)
