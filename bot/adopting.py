"""An index that can become another one in one step."""

from __future__ import annotations

from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Protocol, runtime_checkable

from bot.ports import KnowledgeIndex


@runtime_checkable
class Adopting(Protocol):
    """An index that can become what another one in a file is, in one step. Optional."""

    async def adopt(self, other: Path) -> None:
        """Raises StorageError: then nothing has changed."""


@runtime_checkable
class Renewing(Protocol):
    """An index that can be filled anew beside itself. Optional."""

    def renewed(self) -> AbstractAsyncContextManager[KnowledgeIndex]:
        """An empty index, which takes the place of this one at the end of the block: in one step,
        for every process. When the block raises, this one stays.

        Raises StorageError, and SyncBusy when this one was renewed by another process meanwhile.
        """
