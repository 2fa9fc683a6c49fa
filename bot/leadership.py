"""Who of several processes does what only one may do: schedules, syncs, indexing of sessions."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Protocol, TypeVar

from bot.errors import StorageError, SyncBusy

LEASE = 60.0  # seconds that a process which died keeps the others from its task
_AGAIN = 1 / 60  # of a lease: between two attempts at a store that is away

_T = TypeVar("_T")
_log = logging.getLogger(__name__)


class LeadLost(SyncBusy):
    """Another process may have taken the task over: what was done so far stays."""


class Leadership(Protocol):
    """A lead in a task, held for some time. All methods raise StorageError."""

    async def lead(self, task: str, seconds: float) -> int:
        """A number for one process at a time: whoever asks first, or asks again while it leads,
        leads for `seconds` from now. 0 for the others until that time is over.

        Each new lead has a greater number than all before, over restarts and losses of the store:
        what is written under a smaller one comes too late.
        """

    async def renew(self, task: str, number: int, seconds: float) -> bool:
        """Whether this process still has the lead of that number, which then lasts `seconds` from
        now. A lead that ran out is not renewed, even if nobody else took it."""

    async def held(self, task: str) -> bool:
        """Whether any process leads."""

    async def leave(self, task: str) -> None:
        """Gives the lead up early; nothing happens when this process does not have it."""


class Lead:
    """A lead as its holder knows it. It may have stood still (a debugger, a suspended machine)
    since it last looked, and the task be another's by now: it confirms before it writes."""

    def __init__(
        self, leadership: Leadership, task: str, number: int, *, since: float, seconds: float
    ) -> None:
        self.task, self.number = task, number
        self._leadership, self._since, self._seconds = leadership, since, seconds

    async def confirm(self) -> None:
        """Returns once the store has said that this process leads. Raises LeadLost when it says
        no, or nothing until a third of the lease is left."""
        while True:
            if await self._renewed():
                return
            await asyncio.sleep(self._seconds * _AGAIN)

    async def _renewed(self) -> bool:
        asked = time.monotonic()
        try:
            async with asyncio.timeout(self._seconds / 3):
                leads = await self._leadership.renew(self.task, self.number, self._seconds)
        except (StorageError, TimeoutError) as error:
            _log.warning("the lead in %s was not prolonged: %s", self.task, error)
            if time.monotonic() - self._since >= self._seconds * 2 / 3:
                raise self._lost() from error
            return False
        if not leads:
            raise self._lost()
        self._since = max(self._since, asked)
        return True

    async def keep(self) -> None:
        """Confirms from time to time, until cancelled. Raises LeadLost."""
        while True:
            await asyncio.sleep(self._seconds / 3)
            await self.confirm()

    def _lost(self) -> LeadLost:
        return LeadLost(
            f"The lead in {self.task!r} was lost, and another process may have taken it over: "
            "nothing more is written; what was done before stays.",
            "Run it again; look whether Redis was away or this machine stood still.",
        )


@asynccontextmanager
async def leading(
    leadership: Leadership, task: str, *, seconds: float = LEASE
) -> AsyncIterator[Lead]:
    """The block runs while this process leads in `task`, and is cancelled when it no longer does.

    What must not be written late is written after `Lead.confirm`. Raises SyncBusy when another
    one leads, LeadLost after the block was cancelled, StorageError, and what the block raises.
    """
    asked = time.monotonic()
    number = await leadership.lead(task, seconds)
    if not number:
        raise SyncBusy(
            f"Another process, maybe on another machine, leads in {task!r}.",
            f"Wait until it is done; one that died is taken over after {seconds:.0f} s.",
        )
    lead = Lead(leadership, task, number, since=asked, seconds=seconds)
    try:
        async with asyncio.TaskGroup() as group:
            keeping = group.create_task(lead.keep())
            yield lead
            keeping.cancel()
        return
    except BaseExceptionGroup as failed:
        first = failed.exceptions[0]
    finally:
        await _left(leadership, task)
    raise first


async def led(
    leadership: Leadership,
    task: str,
    work: Callable[[], Awaitable[_T]],
    *,
    seconds: float = LEASE,
) -> _T:
    """What `work` returns, done while this process leads in `task`. Raises as `leading` does."""
    async with leading(leadership, task, seconds=seconds):
        return await work()


async def _left(leadership: Leadership, task: str) -> None:
    try:
        await leadership.leave(task)
    except StorageError as error:
        _log.info("the lead in %s ends by itself: %s", task, error)
