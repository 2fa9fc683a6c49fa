"""When what was said is made findable: at the start, from time to time, and on shutdown."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from bot.app import App, Library, of_other_tools
from bot.errors import BotError, SyncBusy
from bot.fenced import FencedIndex, fenced
from bot.ingest.lock import held
from bot.ingest.sessions import SessionReport, index_sessions
from bot.leadership import Leadership, leading
from bot.ports import KnowledgeIndex, SharedServer
from bot.progress import Progress
from bot.registry import factory
from bot.sessions import SessionLog
from bot.settings import Settings
from bot.shared import shared_server
from bot.sync_lead import sole_writer
from graph.errors import GraphError

TURNS_FILE, LOCK_FILE = "turns.db", "sessions.lock"
TASK = "sessions"

_log = logging.getLogger(__name__)


def open_log(settings: Settings, server: SharedServer | None = None) -> SessionLog:
    """The session log that the settings name: in `server` when they name one, else a file."""
    chosen = settings.sessions
    bounds = {"stored": chosen.stored, "pause": chosen.pause_time}
    log: SessionLog
    if server is None:
        log = factory("sessions.sqlite")(settings.home / TURNS_FILE, **bounds)
    else:
        log = factory("sessions.redis")(server, life=settings.redis.sessions_kept, **bounds)
    return log


@asynccontextmanager
async def opened_log(settings: Settings) -> AsyncIterator[SessionLog]:
    """The same for a command, with its server. Raises SettingsError, StorageError."""
    if not settings.redis_url:
        yield open_log(settings)
        return
    async with shared_server(settings) as server:
        yield open_log(settings, server)


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


async def begin_anew(library: Library, index: KnowledgeIndex) -> None:
    """Drops what another embedder indexed, while nobody else writes there. Whoever is at it now
    has done so, or goes by other settings: the next run drops that. Raises StorageError."""
    settings = library.settings
    try:
        async with sole_writer(settings, TASK, index, server=library.server) as led:
            with held(settings.home / LOCK_FILE):
                writer = await fenced(led)
                if await of_other_tools(writer, library.embedder):
                    await writer.reset()
    except SyncBusy:
        _log.info("conversations are being indexed by another process")


class SessionRuns:
    """The indexer beside a running bot. A run that fails is made up for by the next one.

    An index that several replicas share is kept by the one that leads; each keeps a file of its
    own itself.
    """

    def __init__(
        self, app: App, log: SessionLog, index: KnowledgeIndex, leadership: Leadership
    ) -> None:
        self._app, self._log, self._index = app, log, index
        self._leadership = leadership

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
            report = await self._indexed()
        except SyncBusy:
            _log.info("conversations are being indexed by another process")
        except (BotError, GraphError) as error:
            _log.warning("conversations were not indexed: %s", error)
        else:
            _log.info("conversations: %d new, %d removed", report.embedded, report.removed)

    async def _indexed(self) -> SessionReport:
        if not self._app.settings.weaviate_url:
            return await index_said(self._app, self._log, self._index)
        async with leading(self._leadership, TASK) as lead:
            return await index_said(self._app, self._log, FencedIndex(self._index, lead))
