"""What is kept for some time because it costs much to make again. It may be lost at any moment."""

from __future__ import annotations

from collections.abc import Collection
from typing import Protocol


class Cache(Protocol):
    """Texts by key. All methods raise StorageError; whoever asks then goes on without."""

    async def get(self, key: str) -> str | None: ...

    async def put(self, key: str, value: str, seconds: float) -> None:
        """Keeps `value` for `seconds`, or for less when room is needed."""

    async def drop(self, keys: Collection[str]) -> None: ...
