"""One writer at a time of an index that several machines share."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from functools import wraps
from typing import Concatenate, ParamSpec, TypeVar

from bot.app import Library
from bot.fenced import FencedIndex
from bot.leadership import LEASE, leading
from bot.ports import KnowledgeIndex, SharedServer
from bot.registry import factory
from bot.settings import Settings
from bot.shared import shared_server

TASK = "sync"

_P = ParamSpec("_P")
_T = TypeVar("_T")


@asynccontextmanager
async def sole_writer(
    settings: Settings,
    task: str,
    index: KnowledgeIndex,
    *,
    server: SharedServer | None = None,
    seconds: float = LEASE,
) -> AsyncIterator[KnowledgeIndex]:
    """`index`, to be changed while this process leads in `task`: afterwards its changes raise
    LeadLost. Without a shared index or a Redis it is `index` itself: then the lock file of the
    data folder is enough, or all there is.

    `server` is the Redis of the settings, where its connections are open already. Raises SyncBusy
    when another machine leads, LeadLost after the block was cancelled, StorageError.
    """
    if not (settings.weaviate_url and settings.redis_url):
        yield index
        return
    async with shared_server(settings, server) as shared:
        leadership = factory("leadership.redis")(shared)
        async with leading(leadership, task, seconds=seconds) as lead:
            yield FencedIndex(index, lead)


def one_machine(
    function: Callable[Concatenate[Library, _P], Awaitable[_T]],
) -> Callable[Concatenate[Library, _P], Awaitable[_T]]:
    """Changes of the index that no two machines make at once."""

    @wraps(function)
    async def wrapped(app: Library, /, *args: _P.args, **named: _P.kwargs) -> _T:
        async with sole_writer(app.settings, TASK, app.index, server=app.server) as index:
            return await function(replace(app, index=index), *args, **named)

    return wrapped
