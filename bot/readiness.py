"""Whether this process can answer: what it depends on, looked at now and then, and its own phase.

Served as /readyz. A load balancer sends nothing more to a process that says 503, so that is said
only for what keeps the bot from answering at all; what makes answers worse is a note.
"""

from __future__ import annotations

import asyncio
import json
import logging
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from bot.errors import BotError
from graph.errors import GraphError

_log = logging.getLogger(__name__)


class Health(StrEnum):
    OK = "ok"
    NOTE = "note"  # works, or is not needed; worth knowing
    DOWN = "down"


class Status(StrEnum):
    STARTING = "starting"  # before the first event is received
    READY = "ready"
    DEGRADED = "degraded"  # answers, but worse, slower, or not everywhere
    UNREADY = "unready"
    DRAINING = "draining"  # told to end: what is at work is finished

    @property
    def serves(self) -> bool:
        return self in (Status.READY, Status.DEGRADED)


@dataclass(frozen=True, slots=True)
class Seen:
    """What a look at a dependency found. `detail` is in our words: no address, no exception."""

    health: Health = Health.OK
    detail: str = ""


@dataclass(frozen=True, slots=True)
class Dependency:
    """`needed`: without it nothing is answered. Of those with the same `group` one is enough.
    `look` may raise BotError or GraphError, and may hang. `engine` is what stands behind it."""

    name: str
    look: Callable[[], Awaitable[Seen]]
    needed: bool = False
    group: str = ""
    engine: str = ""


@dataclass(frozen=True, slots=True)
class Report:
    status: Status
    checks: Sequence[tuple[Dependency, Seen]]

    def to_json(self) -> str:
        checks = {dependency.name: _row(dependency, seen) for dependency, seen in self.checks}
        return json.dumps({"status": self.status.value, "checks": checks}) + "\n"


@dataclass(frozen=True, slots=True)
class Pace:
    """Seconds: for one look at all dependencies, and between two."""

    timeout: float = 2.0
    every: float = 5.0


class Readiness:
    """Starts in the phase STARTING; `begin` and `drain` say what comes after."""

    def __init__(
        self,
        dependencies: Sequence[Dependency] = (),
        pace: Pace | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._dependencies, self._pace, self._clock = dependencies, pace or Pace(), clock
        self._phase = Status.STARTING
        self._turn = asyncio.Lock()
        self._seen: Sequence[tuple[Dependency, Seen]] = ()
        self._looked_at: float | None = None
        self._down: frozenset[str] = frozenset()

    def depend(self, dependencies: Sequence[Dependency]) -> None:
        """What is looked at from now on."""
        self._dependencies, self._looked_at = dependencies, None

    def begin(self) -> None:
        """The first events can come in."""
        self._looked_at = None
        if self._phase is Status.STARTING:
            self._phase = Status.READY

    def drain(self) -> None:
        self._phase = Status.DRAINING

    async def report(self) -> Report:
        """What is known, not older than `pace.every` seconds; returns within `pace.timeout`."""
        async with self._turn:
            now = self._clock()
            if self._looked_at is None or now - self._looked_at >= self._pace.every:
                self._seen = await self._look()
                self._looked_at = self._clock()
                self._tell()
        return Report(self._status(), self._seen)

    async def watch(self) -> None:
        """Looks from time to time, so that the log says when a dependency went and came back."""
        while True:
            await self.report()
            await asyncio.sleep(self._pace.every)

    async def _look(self) -> Sequence[tuple[Dependency, Seen]]:
        wanted = self._dependencies
        found = await asyncio.gather(*(self._one(dependency) for dependency in wanted))
        return tuple(zip(wanted, found, strict=True))

    async def _one(self, dependency: Dependency) -> Seen:
        try:
            async with asyncio.timeout(self._pace.timeout):
                return await dependency.look()
        except TimeoutError:
            return Seen(Health.DOWN, f"no answer within {self._pace.timeout:g} s")
        except (BotError, GraphError) as error:
            _log.debug("%s: %s", dependency.name, error)
            return Seen(Health.DOWN, "does not work")
        except Exception:
            _log.exception("the state of %s could not be told", dependency.name)
            return Seen(Health.DOWN, "could not be looked at")

    def _tell(self) -> None:
        """An outage is one line in the log, and its end another. Before the start everything is
        down that is not there yet."""
        if self._phase is Status.STARTING:
            return
        down = {item.name: seen.detail for item, seen in self._seen if seen.health is Health.DOWN}
        for name in down.keys() - self._down:
            _log.warning("%s is down: %s", name, down[name])
        for name in self._down - down.keys():
            _log.warning("%s works again", name)
        self._down = frozenset(down)

    def _status(self) -> Status:
        if self._phase is not Status.READY:
            return self._phase
        groups: dict[str, list[Health]] = {}
        for item, seen in self._seen:
            if item.needed:
                groups.setdefault(item.group or item.name, []).append(seen.health)
        if any(all(one is Health.DOWN for one in group) for group in groups.values()):
            return Status.UNREADY
        fine = all(seen.health is Health.OK for _, seen in self._seen)
        return Status.READY if fine else Status.DEGRADED


def _row(dependency: Dependency, seen: Seen) -> dict[str, Any]:
    row = {"state": seen.health.value, "engine": dependency.engine, "detail": seen.detail}
    return {key: value for key, value in row.items() if value} | {"needed": dependency.needed}
