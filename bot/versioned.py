"""Sources that know what a file is without reading it: git repositories."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from bot.ports import Skipped, SourceFile


@dataclass(frozen=True, slots=True)
class Unchanged:
    """A file that is what it was at the version that the source was told of."""

    path: str


@runtime_checkable
class Versioned(Protocol):
    """A source that knows what a file is without reading it. Optional."""

    def files_since(
        self, versions: Mapping[str, str]
    ) -> AsyncIterator[SourceFile | Skipped | Unchanged]:
        """As `files`, with `Unchanged` for each path whose `revision` is the one in `versions`.
        Calls on one object read one state of the source. Raises SourceError."""
