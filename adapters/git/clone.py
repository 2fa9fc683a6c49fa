"""A shallow copy of one branch in the data folder, and its files at the commit that was fetched."""

from __future__ import annotations

import asyncio
import os
import shutil
import stat
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from adapters.git.command import ASKPASS, Git, Output, TooLarge, askpass_file
from adapters.git.faults import fault, is_damaged, other_format
from bot.errors import SourceError, StorageError
from bot.source_settings import GitLimits, Remote

_FETCHED = "refs/belay/fetched"
_OPEN_TO_OTHERS = 0o077
_LINE_BYTES = 1000  # of a tree, more than they have on average anywhere


@dataclass(frozen=True, slots=True)
class Entry:
    """A line of a tree. `mode` is git's: 120000 a link, 160000 a submodule."""

    path: bytes
    mode: str
    blob: str
    size: int


class Clone:
    """One process at a time; what a killed git left behind is cleared away."""

    def __init__(self, folder: Path, remote: Remote, limits: GitLimits) -> None:
        self._folder, self._remote, self._limits = folder, remote, limits
        self._git = Git(folder, remote, limits)

    async def fetch(self) -> str:
        """The commit at the tip of the branch, fetched. Raises SourceError, StorageError."""
        _check_protocol(self._remote, self._limits)
        await asyncio.to_thread(_check_files, self._remote)
        output = await self._fetched()
        if output.code:
            raise fault(self._remote, output.words)
        found = await self._local("rev-parse", "--verify", f"{_FETCHED}^{{commit}}")
        return found.data.decode().strip()

    async def tree(self, commit: str) -> list[Entry]:
        """Every file below the folder of the source. Raises SourceError."""
        remote = self._remote
        place = f"{commit}:{remote.folder}"
        words = ("ls-tree", "-r", "-z", "-l", "--full-tree", place)
        try:
            output = await self._local(*words, check=False, most=self._limits.files * _LINE_BYTES)
        except TooLarge:
            raise self._too_many() from None
        if output.code:
            raise SourceError(
                f"{remote.url} has no folder {remote.folder!r} at commit {commit[:10]}.",
                "Correct `folder`, or leave it out for the whole repository.",
            )
        entries = [_entry(line) for line in output.data.split(b"\0") if line]
        if len(entries) > self._limits.files:
            raise self._too_many()
        return entries

    def _too_many(self) -> SourceError:
        return SourceError(
            f"{self._remote.url} holds more than {self._limits.files} files.",
            "Name the folder with the documents: folder, or raise files under [git].",
        )

    async def blobs(self, names: Sequence[str]) -> list[bytes]:
        """The contents of some files, in their order. Raises SourceError."""
        request = "".join(f"{name}\n" for name in names).encode()
        output = await self._local("cat-file", "--batch", stdin=request)
        found, data = [], output.data
        start = 0
        for _ in names:
            end = data.index(b"\n", start)
            size = int(data[start:end].rpartition(b" ")[2])
            found.append(data[end + 1 : end + 1 + size])
            start = end + size + 2
        return found

    async def _fetched(self) -> Output:
        """A copy that is damaged, or names its objects in another way than the server, or is full
        of what was deleted there, is made anew, once."""
        fresh = not (self._folder / "HEAD").exists()
        try:
            output = await self._attempt()
        except TooLarge:
            await self._drop()
            if fresh:
                raise self._too_large() from None
        else:
            if not output.code or not (is_damaged(output.words) or other_format(output.words)):
                return output
            await self._drop()
            return await self._attempt(other_format(output.words))
        try:
            return await self._attempt()
        except TooLarge:
            await self._drop()
            raise self._too_large() from None

    async def _attempt(self, form: str = "") -> Output:
        """`form` is how objects are named; "" for that of the copy, or git's own in a new one."""
        remote = self._remote
        await asyncio.to_thread(self._prepare)
        if not (self._folder / "HEAD").exists():
            forms = [f"--object-format={form}"] if form else []
            words = ("init", "--quiet", "--bare", "--template=", *forms, str(self._folder))
            await self._local(*words)
        branch = remote.branch
        name = branch if not branch or branch.startswith("refs/") else f"refs/heads/{branch}"
        try:
            return await self._git.run(
                "fetch", "--quiet", "--depth=1", "--no-tags", "--no-recurse-submodules",
                "--no-write-fetch-head", "--force", "--", remote.url,
                f"+{name or 'HEAD'}:{_FETCHED}",
                seconds=self._limits.fetch_seconds, bounded=True,
            )  # fmt: skip
        except TimeoutError:
            raise SourceError(
                f"{remote.url} was not fetched within {self._limits.fetch_seconds:g} seconds.",
                "Check the network, or raise fetch_seconds under [git] in belay.toml.",
            ) from None

    async def _drop(self) -> None:
        await asyncio.to_thread(shutil.rmtree, self._folder, ignore_errors=True)

    def _too_large(self) -> SourceError:
        return SourceError(
            f"{self._remote.url} is larger than {self._limits.bytes // 1_000_000} MB.",
            "Move the documents to a repository of their own, or raise megabytes under [git].",
        )

    async def _local(
        self, *arguments: str, stdin: bytes = b"", check: bool = True, most: int = 0
    ) -> Output:
        try:
            output = await self._git.run(*arguments, stdin=stdin, most=most)
        except TimeoutError:
            raise SourceError(
                f"git takes too long in the copy of {self._remote.url}.", "Check the disk."
            ) from None
        if check and output.code:
            raise SourceError(
                f"The copy of {self._remote.url} in {self._folder} cannot be read.",
                "Delete that folder: the next run fetches it again.",
            )
        return output

    def _prepare(self) -> None:
        """The folder, the script that hands over the token, no leftovers of a killed git."""
        try:
            self._folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            for left in (*self._folder.rglob("*.lock"), *self._folder.rglob("tmp_*")):
                with suppress(OSError):
                    left.unlink()
            if self._remote.token:
                script = askpass_file(self._folder)
                script.write_text(ASKPASS, encoding="ascii")
                script.chmod(0o700)
        except OSError as error:
            raise StorageError(
                f"{self._folder} cannot be written: {error.strerror}.",
                "Check the space and the permissions of the data folder.",
            ) from error


def _entry(line: bytes) -> Entry:
    about, _, path = line.partition(b"\t")
    mode, _, blob, size = about.decode().split()
    return Entry(path, mode, blob, int(size) if size != "-" else 0)


def _check_protocol(remote: Remote, limits: GitLimits) -> None:
    if remote.protocol not in limits.protocols:
        raise SourceError(
            f"{remote.url} cannot be fetched: the protocol {remote.protocol} is not allowed.",
            "Use https or ssh, or add it to protocols under [git] in belay.toml.",
        )


def _check_files(remote: Remote) -> None:
    """Raises SourceError for a key that ssh would refuse, and for files that are not there."""
    for name, file in (("key", remote.key), ("known_hosts", remote.known_hosts)):
        if file is None:
            continue
        if not file.is_file() or not os.access(file, os.R_OK):
            raise SourceError(
                f"{remote.url}: the file {file} cannot be read.",
                f"Correct `{name}` of this source, or make the file readable for Belay.",
            )
    if remote.key and stat.S_IMODE(remote.key.stat().st_mode) & _OPEN_TO_OTHERS:
        raise SourceError(
            f"{remote.url}: others may read the key {remote.key}, and ssh refuses such a key.",
            f"Run: chmod 600 {remote.key}",
        )
