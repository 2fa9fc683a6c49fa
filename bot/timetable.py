"""What is remembered of scheduled syncs between two runs, and across processes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol


@dataclass(frozen=True, slots=True)
class Entry:
    """The last run of one source. All times are in UTC.

    `ended` is None while it runs, and stays so when its process died. `failures` are in a row.
    `missed` counts the moments that this run slept through, or that passed while nothing ran.
    """

    source: str
    started: datetime | None = None
    ended: datetime | None = None
    succeeded: datetime | None = None  # the end of the last complete one
    failures: int = 0
    error: str = ""
    indexed: int = 0
    unchanged: int = 0
    removed: int = 0
    skipped: int = 0
    missed: int = 0
    by: str = ""  # the process, for people
    reading: str = ""  # by which settings, see Shelf

    @property
    def unfinished(self) -> bool:
        return self.started is not None and self.ended is None


@dataclass(frozen=True, slots=True)
class Leader:
    """The process that runs the syncs, as host and number, and until when that is certain."""

    name: str
    until: datetime


class Timetable(Protocol):
    """Kept beside the index, for all processes that bring it up to date. All methods raise
    StorageError."""

    async def entries(self) -> Mapping[str, Entry]:
        """By source."""

    async def save(self, entry: Entry) -> None:
        """In place of what was known of this source."""

    async def leader(self) -> Leader | None:
        """The last one that signed."""

    async def sign(self, leader: Leader) -> None: ...
