"""The profile that a start finds missing or outdated: of an index whose first sync was cut off, so
that what was stored by then answers; of one that another version fitted to another formula."""

from __future__ import annotations

import asyncio
import logging

from bot.app import Library
from bot.errors import StorageError, SyncBusy
from bot.ingest.refresh import refresh
from bot.sync_lead import sole_writer
from graph.errors import EmbedderError

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


async def fit_outdated(library: Library) -> None:
    """Fits the profile again that another version fitted. Where that cannot be done now, questions
    are answered by the old one, which ranks as it did."""
    settings, server = library.settings, library.server
    try:
        async with sole_writer(settings, TASK, library.index, server=server) as index:
            await refresh(index, library.embedder, library.words, force=True)
    except (SyncBusy, StorageError, EmbedderError) as error:
        _log.warning("the scores of another version are used: %s", error)
