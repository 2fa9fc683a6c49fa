"""Files that come with messages: what a platform says of them, and how they are fetched.

Name, type and size are a stranger's words. Nothing is fetched before it is known that whoever sent
the message may hand documents in.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol, runtime_checkable

from bot.errors import BotError


@dataclass(frozen=True, slots=True)
class Attachment:
    """A file as its message names it: `id` is the platform's, `size` in bytes, 0 when unknown.
    `message_id` is that of the message that brought it."""

    id: str
    name: str
    mime: str = ""
    size: int = 0
    message_id: str = ""


@dataclass(frozen=True, slots=True)
class Download:
    """A file that was fetched, with the name that the platform knows now."""

    name: str
    data: bytes


class Trouble(StrEnum):
    """Why a file was not given."""

    GONE = "gone"  # deleted since
    TOO_LARGE = "too large"
    FORBIDDEN = "forbidden"  # the bot lacks the right to read files
    ELSEWHERE = "elsewhere"  # only linked: it lies with another service
    UNREACHABLE = "unreachable"  # now; later perhaps


class NotFetched(BotError):
    """`limit` is the platform's own, in bytes, for a file that is larger."""

    def __init__(self, trouble: Trouble, limit: int = 0) -> None:
        super().__init__(f"a file was not fetched: {trouble}")
        self.trouble, self.limit = trouble, limit


@runtime_checkable
class Downloading(Protocol):
    """A platform whose files can be fetched. Optional."""

    async def download(self, file: Attachment, limit: int) -> Download:
        """The whole file. No more than `limit` bytes are read, whatever size it claims, and no
        longer than the platform's own time-out. Raises NotFetched."""
