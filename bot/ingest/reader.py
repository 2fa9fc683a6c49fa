"""Reading of documents that are no text: what a reader gives, and what it may cost."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from bot.ingest.parse import Converted  # settings name the limits, and need no parser


@dataclass(frozen=True, slots=True)
class ReadingLimits:
    """What one file may cost before it is given up.

    `seconds` holds for the processor and for the clock; `megabytes` is the address space of the
    process that parses. `unpacked_bytes` is the sum over an archive or an Office document.
    """

    seconds: float = 60.0
    megabytes: int = 1024
    pages: int = 1000
    rows: int = 20_000
    unpacked_bytes: int = 256 * 1024 * 1024
    members: int = 20_000  # files in an archive
    ratio: int = 200  # unpacked to packed bytes of one member over a megabyte
    columns: int = 200


class Refused(Exception):
    """A document is not read; `reason` is one of bot/ingest/report.py's words."""

    def __init__(self, reason: str, detail: str = "") -> None:
        super().__init__(f"{reason} ({detail})" if detail else reason)
        self.reason = reason
        self.detail = detail


@dataclass(frozen=True, slots=True)
class Member:
    """A document inside an archive. `path` is relative to the archive; `format` is the suffix
    that says how it is read when the path has none. Without data it was skipped for `reason`."""

    path: str
    data: bytes = b""
    format: str = ""
    updated_at: datetime | None = None
    reason: str = ""
    detail: str = ""


class Reader(Protocol):
    """Reads documents in a process of its own, so that a hostile file costs nothing but itself.

    All methods block: call them in a thread.
    """

    def read(self, suffix: str, data: bytes) -> Converted:
        """The document as Markdown. Raises Refused."""

    def unpack(self, data: bytes) -> Iterator[Member]:
        """The documents of an archive, in its order. Raises Refused."""

    def close(self) -> None:
        """Ends the process."""
