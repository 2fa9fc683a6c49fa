"""One sync at a time of an index that several machines share."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import wraps
from typing import Concatenate, ParamSpec, TypeVar

from bot.app import Library
from bot.leadership import led
from bot.registry import factory
from bot.settings import Settings
from bot.shared import shared_server

TASK = "sync"
ONE_MACHINE = "let one machine alone sync, migrate and serve, or set BELAY_REDIS_URL"

_P = ParamSpec("_P")
_T = TypeVar("_T")


async def alone(settings: Settings, task: str, work: Callable[[], Awaitable[_T]]) -> _T:
    """What `work` returns; with a shared index and a Redis, while this process leads in `task`.

    Without either the lock file of the data folder is enough, or all there is. Raises SyncBusy
    when another machine leads, LeadLost, StorageError.
    """
    if not (settings.weaviate_url and settings.redis_url):
        return await work()
    async with shared_server(settings) as server:
        return await led(factory("leadership.redis")(server), task, work)


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
        return await alone(app.settings, TASK, lambda: function(app, *args, **named))

    return wrapped
