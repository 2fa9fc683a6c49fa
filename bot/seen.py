"""The states of sources as they are: a record says that a sync runs until the sync says otherwise,
which one that was killed never does."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence

from bot.errors import StorageError
from bot.ingest.lock import as_seen
from bot.library import LOCK_FILE
from bot.ports import KnowledgeIndex, SharedServer, SourceRecord
from bot.registry import factory
from bot.settings import Settings
from bot.shared import shared_server
from bot.sync_lead import TASK

_log = logging.getLogger(__name__)


async def seen_sources(
    settings: Settings,
    index: KnowledgeIndex,
    server: SharedServer | None = None,
    *,
    patience: float | None = None,
) -> list[SourceRecord]:
    """All sources of the index, with their `true_states`. Raises StorageError."""
    return await true_states(settings, await index.sources(), server, patience=patience)


async def true_states(
    settings: Settings,
    records: Sequence[SourceRecord],
    server: SharedServer | None = None,
    *,
    patience: float | None = None,
) -> list[SourceRecord]:
    """Running is what this data folder is locked for, or what another machine leads in; else it
    was interrupted. `server` is the Redis of the settings, where it is open already.

    A Redis that is away, or says nothing for `patience` seconds (by default the time of one
    command), leaves what is known here.
    """
    seen = [as_seen(record, settings.home / LOCK_FILE) for record in records]
    if seen == list(records) or not (settings.weaviate_url and settings.redis_url):
        return seen
    waited = settings.redis.timeout if patience is None else patience
    try:
        async with asyncio.timeout(waited), shared_server(settings, server, wait=False) as shared:
            led = await factory("leadership.redis")(shared).held(TASK)
    except (StorageError, TimeoutError) as error:
        _log.info("whether another machine syncs cannot be told: %s", error)
        return seen
    return list(records) if led else seen
