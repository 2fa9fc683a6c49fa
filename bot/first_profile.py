"""The profile of an index whose first sync was cut off before it was fitted: the next start makes
it, so that what was stored by then answers."""

from __future__ import annotations

import asyncio
import logging

from bot.app import Library
from bot.errors import SyncBusy
from bot.ingest.refresh import refresh
from bot.sync_lead import sole_writer

TASK = "profile"
_LOOK = 0.5  # seconds between two looks at what another machine is fitting

_log = logging.getLogger(__name__)


async def fit_first(library: Library) -> None:
    """Fits the profile that is missing. Of machines that start at once with one index one does it,
    and the others wait for that; processes of one file may do it twice, and keep the later state.

    Raises StorageError, EmbedderError.
    """
    settings, server = library.settings, library.server
    while True:
        info = await library.index.info()
        if not info.chunks or info.profile_revision >= 0:
            return
        try:
            async with sole_writer(settings, TASK, library.index, server=server) as index:
                await refresh(index, library.embedder, library.words)
            return
        except SyncBusy as busy:
            _log.info("the first profile: %s", busy)
        await asyncio.sleep(_LOOK)
