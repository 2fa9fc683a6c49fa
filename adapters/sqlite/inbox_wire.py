"""What is on its way to a platform right now: marks that a killed process leaves behind.

A transaction with its fsync takes milliseconds and wakes its caller later still. These marks are
one write of 16 bytes into a file beside the inbox, without a lock and without waiting, right
before a call goes out and right after it returned. The page cache keeps them when the process is
killed; after a power cut they may be missing, and a call in flight then is made again.
"""

from __future__ import annotations

import os
import struct
from pathlib import Path

from bot.delivery import CLOSING, Leg

_RECORD = struct.Struct("<QiB3x")  # token, part, leg
_SLOTS = 65_536  # a slot is used again after so many leases
_LEGS = (Leg.UNKNOWN, Leg.OUT, Leg.SHOWN, Leg.FAILED, Leg.VOID)  # by number in the file


class Wire:
    """One slot for each lease, holding the last mark. Raises OSError."""

    def __init__(self, path: Path) -> None:
        self._file = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)

    def prepare(self) -> None:
        """Takes all the room on the disk at once. One process at a time."""
        missing = _SLOTS * _RECORD.size - os.fstat(self._file).st_size
        if missing > 0:
            os.pwrite(self._file, bytes(missing), _SLOTS * _RECORD.size - missing)

    def mark(self, token: int, part: int, leg: Leg) -> None:
        record = _RECORD.pack(token, part, _LEGS.index(leg))
        os.pwrite(self._file, record, token % _SLOTS * _RECORD.size)

    def leg(self, token: int, part: int) -> Leg:
        """The last mark of this part, UNKNOWN without one. When a later part of the same lease
        was marked since, its own mark is gone: OUT."""
        record = os.pread(self._file, _RECORD.size, token % _SLOTS * _RECORD.size)
        marked, last, number = _RECORD.unpack(record)
        if marked != token or _turn(last) < _turn(part):
            return Leg.UNKNOWN
        return _LEGS[number] if last == part else Leg.OUT

    def close(self) -> None:
        os.close(self._file)


def _turn(part: int) -> float:
    """Parts go out one after the other; the closing sentence comes last."""
    return float("inf") if part == CLOSING else part
