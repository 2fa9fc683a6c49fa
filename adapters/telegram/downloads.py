"""Files that people send to the bot: https://core.telegram.org/bots/api#getfile.

Telegram's own servers give files of up to 20 MB. A Bot API server of one's own that runs with
`--local` gives all, and tells where they lie on its disk.
"""

from __future__ import annotations

import asyncio
import logging
import os
from collections.abc import Sequence
from http import HTTPStatus
from pathlib import Path

from aiogram import Bot
from aiogram.methods import GetFile
from aiohttp import ClientError

from adapters.body import whole
from adapters.telegram.departure import DepartureSession
from adapters.telegram.options import Options
from adapters.telegram.requests import Refused, Requests, Unclear, Unreadable
from bot.attachments import Attachment, Download, NotFetched, Trouble
from bot.errors import PlatformGone
from bot.ports import Finding

_log = logging.getLogger(__name__)

_CHECK = "telegram"
_FOLDER = "name the folder of a Bot API server with --local, under the path that it has there"
_TOO_BIG = "file is too big"
_OWN_DISK = (
    "the Bot API server keeps files on its disk (--local): name its folder in BELAY_TELEGRAM_FILES"
)


class Downloads:
    """`folder` is where a Bot API server with `--local` keeps files, as this process sees it."""

    def __init__(
        self, bot: Bot, requests: Requests, options: Options, folder: Path | None = None
    ) -> None:
        assert isinstance(bot.session, DepartureSession)
        self._bot, self._session = bot, bot.session
        self._requests, self._options, self._folder = requests, options, folder

    async def __call__(self, file: Attachment, limit: int) -> Download:
        """Raises NotFetched."""
        if file.size > limit:
            raise NotFetched(Trouble.TOO_LARGE)
        path = await self._path(file)
        try:
            async with asyncio.timeout(self._options.file_timeout):
                data = await (self._read(path, limit) if _is_own(path) else self._get(path, limit))
        except (ClientError, TimeoutError, OSError) as error:
            _log.warning("a file was not fetched: %s", type(error).__name__)
            raise NotFetched(Trouble.UNREACHABLE) from error
        if data is None:
            raise NotFetched(Trouble.TOO_LARGE)
        return Download(file.name, data)

    async def check(self) -> Sequence[Finding]:
        """Whether the folder is there, if one is named."""
        folder = self._folder
        if folder is None:
            return ()
        if await asyncio.to_thread(os.access, folder, os.R_OK | os.X_OK):
            return (Finding(_CHECK, "ok", f"files of the Bot API server are read from {folder}"),)
        message = f"BELAY_TELEGRAM_FILES: there is no folder {folder} that can be read"
        return (Finding(_CHECK, "bad", message, _FOLDER),)

    async def _path(self, file: Attachment) -> str:
        try:
            told = await self._requests(GetFile(file_id=file.id), self._options.call_timeout)
        except Unreadable as error:
            if _TOO_BIG in str(error).lower():
                raise NotFetched(Trouble.TOO_LARGE, self._options.largest_file) from error
            raise NotFetched(Trouble.GONE) from error
        except (Refused, Unclear, PlatformGone) as error:
            _log.warning("a file was not fetched: %s", type(error).__name__)
            raise NotFetched(Trouble.UNREACHABLE) from error
        if told is None or not told.file_path:
            raise NotFetched(Trouble.UNREACHABLE)
        return told.file_path

    async def _get(self, path: str, limit: int) -> bytes | None:
        """The token stands in the address: no redirect is followed, and no address logged."""
        url = self._session.api.file_url(self._bot.token, path)
        session = await self._session.create_session()
        async with session.get(url, allow_redirects=False) as response:
            if response.status == HTTPStatus.NOT_FOUND:
                raise NotFetched(Trouble.GONE)
            if response.status != HTTPStatus.OK:
                _log.warning("a file was not given: status %d", response.status)
                raise NotFetched(Trouble.UNREACHABLE)
            return await whole(response.content, limit)

    async def _read(self, path: str, limit: int) -> bytes | None:
        if self._folder is None:
            _log.error(_OWN_DISK)
            raise NotFetched(Trouble.FORBIDDEN)
        return await asyncio.to_thread(_bytes, Path(path), self._folder, limit)


def _is_own(path: str) -> bool:
    """Whether the server names a place on its disk."""
    return path.startswith("/")


def _bytes(path: Path, folder: Path, limit: int) -> bytes | None:
    place = path.resolve()
    if not place.is_relative_to(folder.resolve()):
        _log.error("a file lies outside of BELAY_TELEGRAM_FILES")
        raise NotFetched(Trouble.FORBIDDEN)
    try:
        with place.open("rb") as file:
            data = file.read(limit + 1)
    except FileNotFoundError as error:
        raise NotFetched(Trouble.GONE) from error
    return data if len(data) <= limit else None
