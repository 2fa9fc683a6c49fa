"""The states of sources as they are: a record says that a sync runs until the sync says otherwise,
which one that was killed never does."""

from __future__ import annotations

import logging
from collections.abc import Sequence

from bot.errors import StorageError
from bot.ingest.lock import as_seen
from bot.library import LOCK_FILE
from bot.ports import SharedServer, SourceRecord
from bot.registry import factory
from bot.settings import Settings
from bot.shared import shared_server
from bot.sync_lead import TASK

_log = logging.getLogger(__name__)


async def true_states(
    settings: Settings, records: Sequence[SourceRecord], server: SharedServer | None = None
) -> list[SourceRecord]:
    """Running is what this data folder is locked for, or what another machine leads in; else it
    was interrupted. `server` is the Redis of the settings, where it is open already."""
    seen = [as_seen(record, settings.home / LOCK_FILE) for record in records]
    if seen != list(records) and settings.weaviate_url and settings.redis_url:
        try:
            async with shared_server(settings, server, wait=False) as shared:
                if await factory("leadership.redis")(shared).held(TASK):
                    return list(records)
        except StorageError as error:
            _log.info("whether another machine syncs cannot be told: %s", error)
    return seen
