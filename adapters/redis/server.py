"""The connection to Redis, whatever stands behind its URL."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from redis import exceptions

from adapters.redis import checks, clients, rights
from adapters.redis.address import Address, missing_file, parse
from adapters.redis.faults import ERRORS, described, forbidden, passing
from adapters.redis.script import Script
from bot.errors import StorageError
from bot.ports import Finding, SharedServer

PREFIX = "belay"


@dataclass(frozen=True, slots=True)
class Waits:
    """Seconds and counts."""

    connect: float = 2.0
    answer: float = 2.0  # of a command
    mark: float = 1.0  # of a mark, for which the whole process stands still
    attempts: int = 3  # at a command while the server restarts or fails over
    pause: float = 0.1  # between two of them; doubles
    ready: float = 30.0  # for the server at the start
    check: float = 15.0  # an idle connection is checked before it is used again


class Client(Protocol):
    """What is used of the library's clients."""

    def execute_command(self, *args: Any) -> Any: ...


class Server(SharedServer):
    """Commands and scripts under one prefix. All methods raise StorageError.

    A command is tried again while the server restarts or fails over, so that only such commands
    go through here which may happen twice. Nothing is connected before the first one.
    """

    def __init__(self, url: str, *, prefix: str = PREFIX, waits: Waits | None = None) -> None:
        self.address: Address = parse(url)
        self._prefix, self._waits = prefix, waits or Waits()
        self._client: clients.AsyncClient | None = None
        self._marker: clients.BlockingClient | None = None
        self._closed = self._permitted = False

    @property
    def waits(self) -> Waits:
        return self._waits

    def key(self, *words: str) -> str:
        """A key in the slot of this prefix."""
        return ":".join((f"{{{self._prefix}}}", *words))

    async def ready(self) -> None:
        """Waits `waits.ready` seconds for a server that is starting or failing over; what a
        person has to correct is raised at once: a right that this user lacks, and a file of TLS
        that is not there, as SettingsError.
        """
        if wrong := await asyncio.to_thread(missing_file, self.address):
            raise wrong
        end = time.monotonic() + self._waits.ready
        while True:
            try:
                await self._writable()
            except StorageError as error:
                if time.monotonic() >= end or not _transient(error):
                    raise
                await asyncio.sleep(self._waits.pause)
            else:
                return

    async def _writable(self) -> None:
        if not self._permitted:
            missing = await self._missing()
            if missing:
                raise forbidden(missing, self.address)
            self._permitted = True
        await self.command("SET", self.key("ready"), "1", "EX", "60")

    async def _missing(self) -> Sequence[str]:
        """Commands that this user may not use."""
        found: list[str] = await self.run(rights.MISSING, self.key("ready"), rights.ASKED)
        return found

    async def check(self) -> Sequence[Finding]:
        missing = await self._missing()
        if missing:
            error = forbidden(missing, self.address)
            return [Finding("redis", "bad", str(error), error.remedy)]
        begun = time.monotonic()
        await self.command("SET", self.key("ready"), "1", "EX", "60")
        taken = time.monotonic() - begun
        ahead = await self._ahead()
        return checks.findings(await self.command("INFO"), self.address, taken, ahead)

    async def _ahead(self) -> float:
        """Seconds that the server's clock is ahead of this machine's."""
        before = time.time()
        seconds, micros = await self.run(checks.CLOCK, self.key("ready"))
        return int(seconds) + int(micros) / 1e6 - (before + time.time()) / 2

    async def command(self, *words: Any, once: bool = False) -> Any:
        """One command, whose first key says where it goes. `once`: it is not tried again."""
        return await self._tried(lambda client: client.execute_command(*words), once=once)

    async def run(self, script: Script, key: str, *values: Any, once: bool = False) -> Any:
        """What the script returns."""

        async def call(client: Client) -> Any:
            try:
                return await client.execute_command("EVALSHA", script.digest, 1, key, *values)
            except exceptions.NoScriptError:
                return await client.execute_command("EVAL", script.text, 1, key, *values)

        return await self._tried(call, once=once, script=script.text)

    def run_now(self, script: Script, key: str, *values: Any) -> Any:
        """As `run`, with the whole process standing still for one round trip."""
        if self._closed:
            raise StorageError(f"The connection to Redis at {self.address} is closed.")
        try:
            if self._marker is None:
                self._marker = clients.blocking(self.address, self._waits)
            client: Client = self._marker
            try:
                return client.execute_command("EVALSHA", script.digest, 1, key, *values)
            except exceptions.NoScriptError:
                return client.execute_command("EVAL", script.text, 1, key, *values)
        except ERRORS as error:
            raise described(error, self.address, script.text) from error

    async def close(self) -> None:
        self._closed = True
        client, self._client = self._client, None
        marker, self._marker = self._marker, None
        if marker is not None:
            clients.close_blocking(marker)
        if client is not None:
            await clients.close(client)

    async def _tried(
        self, call: Callable[[Client], Awaitable[Any]], *, once: bool, script: str = ""
    ) -> Any:
        pause = self._waits.pause
        for left in reversed(range(1 if once else self._waits.attempts)):
            if self._closed:
                raise StorageError(f"The connection to Redis at {self.address} is closed.")
            try:
                if self._client is None:
                    self._client = clients.opened(self.address, self._waits)
                return await call(self._client)
            except ERRORS as error:
                if not left or not passing(error):
                    raise described(error, self.address, script) from error
            await asyncio.sleep(pause)
            pause *= 2
        raise AssertionError("unreachable")


def create(
    url: str, *, prefix: str = PREFIX, timeout: float = 2.0, start_timeout: float = 30.0
) -> Server:
    """A server at `url` that answers a command within `timeout` seconds, and is waited for
    `start_timeout` seconds. Raises SettingsError."""
    waits = Waits(connect=timeout, answer=timeout, mark=min(timeout, 1.0), ready=start_timeout)
    return Server(url, prefix=prefix, waits=waits)


def _transient(error: StorageError) -> bool:
    cause = error.__cause__
    return isinstance(cause, exceptions.TimeoutError) or (
        isinstance(cause, Exception) and passing(cause)
    )
