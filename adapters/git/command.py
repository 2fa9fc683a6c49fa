"""Running the `git` program: nothing of the machine's own settings, no questions, an end in time.

A token is in the environment of the process only, where the askpass script reads it; neither an
argument nor a file holds it.
"""

from __future__ import annotations

import asyncio
import os
import shlex
import signal
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from bot.errors import SourceError
from bot.source_settings import GitLimits, Remote

ASKPASS = """#!/bin/sh
case "$1" in
  Username*) printf '%s\\n' "$BELAY_GIT_USER" ;;
  *) printf '%s\\n' "$BELAY_GIT_TOKEN" ;;
esac
"""
_OPTIONS = (
    "core.hooksPath=/dev/null",
    "core.fsmonitor=false",
    "credential.helper=",
    "submodule.recurse=false",
    "gc.autoDetach=false",
    "maintenance.autoDetach=false",
    "gc.pruneExpire=now",
    "http.lowSpeedLimit=1",
)
_LOOK = 0.5  # seconds between two looks at the size of what is fetched
_AT_ONCE = 65536  # bytes
_STDERR_BYTES = 20_000  # of the last words


@dataclass(frozen=True, slots=True)
class Output:
    """What git said. `words` is its standard error, for finding the cause and never shown."""

    code: int
    data: bytes
    words: str


class TooLarge(Exception):
    """The repository, or what git says of it, outgrew its limit."""


class Git:
    """`git` in one bare repository. `folder` need not exist before the first command."""

    def __init__(self, folder: Path, remote: Remote, limits: GitLimits) -> None:
        self._folder, self._remote, self._limits = folder, remote, limits

    async def run(
        self,
        *arguments: str,
        stdin: bytes = b"",
        seconds: float = 0,
        bounded: bool = False,
        most: int = 0,
    ) -> Output:
        """Runs one command; `bounded` ends it when the repository outgrows the limit, `most` when
        it says more bytes than that.

        Raises TimeoutError, TooLarge, and SourceError when there is no git.
        """
        options = [part for option in (*_OPTIONS, *self._more()) for part in ("-c", option)]
        try:
            process = await asyncio.create_subprocess_exec(
                "git", *options, *arguments,
                cwd=self._folder, env=self._environment(), start_new_session=True,
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.PIPE,
            )  # fmt: skip
        except FileNotFoundError as error:
            raise SourceError(
                "Repositories are read with git, and there is no git program.",
                "Install it, on Debian: apt-get install git openssh-client.",
            ) from error
        try:
            async with asyncio.timeout(seconds or self._limits.local_seconds):
                data, words = await self._watched(process, stdin, bounded, most)
        finally:
            await _ended(process)
        if bounded and not process.returncode:
            await self._measure()  # it may have been quicker than a look
        return Output(process.returncode or 0, data, words.decode(errors="replace"))

    async def _watched(
        self, process: asyncio.subprocess.Process, stdin: bytes, bounded: bool, most: int
    ) -> tuple[bytes, bytes]:
        talking = asyncio.gather(
            _heard(process, most), _last_words(process), _told(process, stdin), process.wait()
        )
        try:
            while not (await asyncio.wait([talking], timeout=_LOOK))[0]:
                if bounded:
                    await self._measure()
        except BaseException:
            talking.cancel()
            with suppress(asyncio.CancelledError):
                await talking
            raise
        data, words, _, _ = talking.result()
        if data is None:
            raise TooLarge
        return data, words

    async def _measure(self) -> None:
        if await asyncio.to_thread(_size, self._folder) > self._limits.bytes:
            raise TooLarge

    def _more(self) -> list[str]:
        remote = self._remote
        found = [f"http.lowSpeedTime={int(self._limits.silence)}"]
        if remote.token:  # a redirect would take the token to another server
            found.append("http.followRedirects=false")
        if remote.ca_file:
            found.append(f"http.sslCAInfo={remote.ca_file}")
        return found

    def _environment(self) -> dict[str, str]:
        remote = self._remote
        environment = {
            "PATH": os.pathsep.join(os.get_exec_path()),
            "HOME": str(self._folder),
            "LC_ALL": "C",
            "GIT_DIR": str(self._folder),
            "GIT_CONFIG_NOSYSTEM": "1",
            "GIT_CONFIG_GLOBAL": os.devnull,
            "GIT_TERMINAL_PROMPT": "0",
            "GIT_ALLOW_PROTOCOL": ":".join(self._limits.protocols),
            "GIT_NO_LAZY_FETCH": "1",
            "GIT_SSH_VARIANT": "ssh",
            "GIT_SSH_COMMAND": ssh_command(remote, self._limits),
        }
        if remote.proxy:  # it may hold a password: an argument would show in the process list
            environment["http_proxy"] = environment["https_proxy"] = remote.proxy
        if remote.token:
            environment["GIT_ASKPASS"] = str(askpass_file(self._folder))
            environment["BELAY_GIT_USER"] = remote.user
            environment["BELAY_GIT_TOKEN"] = remote.token
        return environment


def askpass_file(folder: Path) -> Path:
    return folder / "belay-askpass"


def ssh_command(remote: Remote, limits: GitLimits) -> str:
    """One identity and no other, no question, no host that is not known."""
    parts = ["ssh", "-o", "BatchMode=yes", "-o", "StrictHostKeyChecking=yes"]
    parts += ["-o", f"ConnectTimeout={int(limits.silence)}"]
    if remote.key:
        parts += ["-F", os.devnull, "-i", str(remote.key)]
        parts += ["-o", "IdentitiesOnly=yes", "-o", "IdentityAgent=none"]
    if remote.known_hosts:
        parts += ["-o", f'UserKnownHostsFile="{remote.known_hosts}"']
        parts += ["-o", f"GlobalKnownHostsFile={os.devnull}"]
    return shlex.join(parts)


async def _heard(process: asyncio.subprocess.Process, most: int) -> bytes | None:
    """What the process says; None, and its end, when that is more than `most` bytes."""
    assert process.stdout is not None
    pieces, size = [], 0
    while piece := await process.stdout.read(_AT_ONCE):
        size += len(piece)
        if most and size > most:
            _kill(process)
            return None
        pieces.append(piece)
    return b"".join(pieces)


async def _last_words(process: asyncio.subprocess.Process) -> bytes:
    assert process.stderr is not None
    words = b""
    while piece := await process.stderr.read(_AT_ONCE):
        words = (words + piece)[-_STDERR_BYTES:]
    return words


async def _told(process: asyncio.subprocess.Process, data: bytes) -> None:
    assert process.stdin is not None
    with suppress(BrokenPipeError, ConnectionResetError):  # it ended without listening
        process.stdin.write(data)
        await process.stdin.drain()
    process.stdin.close()


async def _ended(process: asyncio.subprocess.Process) -> None:
    """No program that git started outlives it."""
    if process.returncode is None:
        _kill(process)
        await process.wait()


def _kill(process: asyncio.subprocess.Process) -> None:
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)


def _size(folder: Path) -> int:
    total = 0
    for place, _, names in os.walk(folder / "objects"):
        for name in names:
            with suppress(OSError):  # git renames its files as it goes
                total += (Path(place) / name).lstat().st_size
    return total
