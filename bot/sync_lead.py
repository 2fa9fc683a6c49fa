"""One writer at a time of an index that several machines share."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from functools import wraps
from typing import Concatenate, ParamSpec, TypeVar

from bot.app import Library
from bot.fenced import behind
from bot.leadership import LEASE, Lead, leading
from bot.ports import KnowledgeIndex, SharedServer
from bot.registry import factory
from bot.settings import Settings
from bot.shared import shared_server

TASK = "sync"
ONE_MACHINE = "let one machine alone sync, migrate and serve, or set BELAY_REDIS_URL"

_P = ParamSpec("_P")
_T = TypeVar("_T")


@asynccontextmanager
async def sole(
    settings: Settings, task: str, *, server: SharedServer | None = None, seconds: float = LEASE
) -> AsyncIterator[Lead | None]:
    """The lead in `task` among the machines that share an index; None without a shared index or a
    Redis: then the lock file of the data folder is enough, or all there is.

    `server` is the Redis of the settings, where its connections are open already. Raises SyncBusy
    when another machine leads, LeadLost after the block was cancelled, StorageError.
    """
    if not (settings.weaviate_url and settings.redis_url):
        yield None
        return
    async with shared_server(settings, server) as shared:
        leadership = factory("leadership.redis")(shared)
        async with leading(leadership, task, seconds=seconds) as lead:
            yield lead


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
    LeadLost. Raises as `sole` does."""
    async with sole(settings, task, server=server, seconds=seconds) as lead:
        yield behind(index, lead) if lead else index


def unguarded(settings: Settings) -> bool:
    """Whether machines share an index that nothing keeps two of them from changing at once.

    Weaviate has no lock to take: two inserts of one id at a time can both succeed.
    """
    return bool(settings.weaviate_url and not settings.redis_url)


def one_machine(
    function: Callable[Concatenate[Library, _P], Awaitable[_T]],
) -> Callable[Concatenate[Library, _P], Awaitable[_T]]:
    """Changes of the index that no two machines make at once."""

    @wraps(function)
    async def wrapped(app: Library, /, *args: _P.args, **named: _P.kwargs) -> _T:
        async with sole_writer(app.settings, TASK, app.index, server=app.server) as index:
            return await function(replace(app, index=index), *args, **named)

    return wrapped
