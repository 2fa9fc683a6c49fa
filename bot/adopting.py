"""An index that can become another one in one step."""

from __future__ import annotations

from pathlib import Path
from typing import Protocol, runtime_checkable


@runtime_checkable
class Adopting(Protocol):
    """An index that can become what another one in a file is, in one step. Optional."""

    async def adopt(self, other: Path) -> None:
        """Raises StorageError: then nothing has changed."""
