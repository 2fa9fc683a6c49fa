"""When what was said is made findable: at the start, from time to time, and on shutdown."""

from __future__ import annotations

import asyncio
import logging
from pathlib import Path

from bot.app import App, Library
from bot.errors import BotError, SyncBusy
from bot.ingest.sessions import SessionReport, index_sessions
from bot.ports import KnowledgeIndex
from bot.progress import Progress
from bot.registry import factory
from bot.sessions import SessionLog
from bot.settings import Settings
from graph.errors import GraphError

TURNS_FILE, LOCK_FILE = "turns.db", "sessions.lock"

_log = logging.getLogger(__name__)


def open_log(settings: Settings, home: Path | None = None) -> SessionLog:
    """The session log of a data folder, by default that of the settings."""
    log: SessionLog = factory("sessions.sqlite")(
        (home or settings.home) / TURNS_FILE,
        stored=settings.sessions.stored,
        pause=settings.sessions.pause_time,
    )
    return log


async def index_said(
    library: Library,
    log: SessionLog,
    index: KnowledgeIndex,
    *,
    progress: Progress | None = None,
) -> SessionReport:
    """One run of the indexer. Raises SyncBusy, StorageError, EmbedderError."""
    return await index_sessions(
        log,
        index,
        library.embedder,
        library.words,
        lock=library.settings.home / LOCK_FILE,
        lowest=library.settings.access.levels[0],
        progress=progress,
    )


class SessionRuns:
    """The indexer beside a running bot. A run that fails is made up for by the next one."""

    def __init__(self, app: App, log: SessionLog, index: KnowledgeIndex) -> None:
        self._app, self._log, self._index = app, log, index

    async def run(self) -> None:
        """Until cancelled."""
        while True:
            await self.once()
            await asyncio.sleep(self._app.settings.sessions.seconds_between)

    async def last(self) -> None:
        """On shutdown: what does not get done in time is done by the next process."""
        seconds = self._app.settings.sessions.last_run
        try:
            async with asyncio.timeout(seconds):
                await self.once()
        except TimeoutError:
            _log.info("conversations were not indexed within %s s; the next start does it", seconds)

    async def once(self) -> None:
        try:
            report = await index_said(self._app, self._log, self._index)
        except SyncBusy:
            _log.info("conversations are being indexed by another process")
        except (BotError, GraphError) as error:
            _log.warning("conversations were not indexed: %s", error)
        else:
            _log.info("conversations: %d new, %d removed", report.embedded, report.removed)
