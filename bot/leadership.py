"""Who of several processes does what only one may do: schedules, syncs, indexing of sessions."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable
from typing import Protocol, TypeVar

from bot.errors import StorageError, SyncBusy

LEASE = 60.0  # seconds that a process which died keeps the others from its task

_T = TypeVar("_T")
_log = logging.getLogger(__name__)


class LeadLost(SyncBusy):
    """Another process may have taken the task over: what was done so far stays."""


class Leadership(Protocol):
    """A lead in a task, held for some time. All methods raise StorageError."""

    async def lead(self, task: str, seconds: float) -> bool:
        """True for one process at a time: whoever asks first, or asks again while it leads, leads
        for `seconds` from now. False for the others until that time is over."""

    async def leave(self, task: str) -> None:
        """Gives the lead up early; nothing happens when this process does not have it."""


async def led(
    leadership: Leadership,
    task: str,
    work: Callable[[], Awaitable[_T]],
    *,
    seconds: float = LEASE,
) -> _T:
    """What `work` returns, done while this process leads in `task`.

    Raises SyncBusy when another one leads, LeadLost after `work` was cancelled because the lead
    could not be prolonged, StorageError, and what `work` raises, as it is.
    """
    asked = time.monotonic()
    if not await leadership.lead(task, seconds):
        raise SyncBusy(
            f"Another process, maybe on another machine, leads in {task!r}.",
            f"Wait until it is done; one that died is taken over after {seconds:.0f} s.",
        )
    try:
        async with asyncio.TaskGroup() as group:
            keeping = group.create_task(_keep(leadership, task, seconds, asked))
            working = group.create_task(_result(work))
            working.add_done_callback(lambda _: keeping.cancel())
        return working.result()
    except BaseExceptionGroup as failed:
        first = failed.exceptions[0]
    finally:
        await _left(leadership, task)
    raise first


async def _result(work: Callable[[], Awaitable[_T]]) -> _T:
    return await work()


async def _keep(leadership: Leadership, task: str, seconds: float, since: float) -> None:
    """Prolongs the lead. Raises LeadLost when it is another's, or was not confirmed in time."""
    while True:
        await asyncio.sleep(seconds / 3)
        asked = time.monotonic()
        lost = asked - since >= seconds
        try:
            async with asyncio.timeout_at(asyncio.get_running_loop().time() + seconds / 3):
                if not lost and await leadership.lead(task, seconds):
                    since = asked
                else:
                    lost = True
        except (StorageError, TimeoutError) as error:
            _log.warning("the lead in %s was not prolonged: %s", task, error)
        if lost or time.monotonic() - since >= seconds * 2 / 3:
            raise LeadLost(
                f"The lead in {task!r} was lost; what was done so far stays.",
                "Run it again; look whether Redis or another process was in the way.",
            )


async def _left(leadership: Leadership, task: str) -> None:
    try:
        await leadership.leave(task)
    except StorageError as error:
        _log.info("the lead in %s ends by itself: %s", task, error)
