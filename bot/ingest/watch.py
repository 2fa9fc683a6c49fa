"""Syncs a folder again whenever something in it changes."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path

from watchfiles import DefaultFilter, awatch

from bot.errors import SourceError

DEBOUNCE = 1600  # milliseconds: an editor or a git checkout writes many files in a row
_FIRST_LOOK = 1000  # milliseconds without a change


async def watch(
    root: Path,
    resync: Callable[[], Awaitable[object]],
    *,
    stop: asyncio.Event | None = None,
    debounce: int = DEBOUNCE,
    ignored: Path | None = None,
) -> None:
    """Awaits `resync` after each burst of changes below `root`, until `stop` is set, and once as
    soon as the watch is on: what changed just before would be missed.

    Changes below `ignored` do not count: the index itself may lie in the folder. Raises
    SourceError when the folder is not there (any more); what `resync` raises ends the watch.
    """
    place = await asyncio.to_thread(root.resolve)
    apart = [await asyncio.to_thread(ignored.resolve)] if ignored else None
    begun = False
    try:
        async for changes in awatch(
            place,
            watch_filter=DefaultFilter(ignore_paths=apart),
            stop_event=stop,
            debounce=debounce,
            rust_timeout=_FIRST_LOOK,
            yield_on_timeout=True,
        ):
            if changes or not begun:
                await resync()
            begun = True
    except FileNotFoundError as error:
        raise SourceError(
            f"The folder {root} does not exist.", "Check the path, or mount it again."
        ) from error
