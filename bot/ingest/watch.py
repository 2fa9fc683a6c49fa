"""Syncs a folder again whenever something in it changes."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path

from watchfiles import awatch

from bot.errors import SourceError

DEBOUNCE = 1600  # milliseconds: an editor or a git checkout writes many files in a row


async def watch(
    root: Path,
    resync: Callable[[], Awaitable[object]],
    *,
    stop: asyncio.Event | None = None,
    debounce: int = DEBOUNCE,
) -> None:
    """Awaits `resync` after each burst of changes below `root`, until `stop` is set.

    Raises SourceError when the folder is not there (any more); what `resync` raises ends the watch.
    """
    try:
        async for _ in awatch(root, stop_event=stop, debounce=debounce):
            await resync()
    except FileNotFoundError as error:
        raise SourceError(
            f"The folder {root} does not exist.", "Check the path, or mount it again."
        ) from error
