"""Files that lie with Slack, fetched.

The token goes to Slack's own hosts alone, and no redirect is followed: an address in a message is
a stranger's word.
"""

from __future__ import annotations

import asyncio
import logging
from http import HTTPStatus
from urllib.parse import urlsplit

from aiohttp import ClientError, ClientSession

from adapters.body import whole
from adapters.slack.file_objects import address_of, kept_away, size_of
from adapters.slack.options import Options
from adapters.slack.reading import NotGiven, Reading
from adapters.slack.words import Json
from bot.attachments import Attachment, Download, NotFetched, Trouble
from bot.errors import DeliveryFailed

_log = logging.getLogger(__name__)

_SLACK = "slack.com"
_HTML = "text/html"
_REFUSED = frozenset({HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN})
_NO_SCOPE = "a file was not given (%s): the bot token may lack the scope files:read"
_GONE = frozenset({"file_not_found", "file_deleted"})


class Hosted:
    """What Slack stores. `own_host` is the host and port of a Web API that is not Slack's own."""

    def __init__(self, session: ClientSession, token: str, *, own_host: str, proxy: str) -> None:
        self._session, self._token = session, token
        self._own_host, self._proxy = own_host, proxy

    def is_slacks(self, address: str) -> bool:
        try:
            parts = urlsplit(address)
            host = parts.hostname or ""
        except ValueError:
            return False
        if self._own_host and parts.netloc == self._own_host:
            return True
        domain = f".{self._own_host or _SLACK}"
        return parts.scheme == "https" and parts.netloc == host and host.endswith(domain)

    async def get(self, file: Json, limit: int, seconds: float) -> bytes:
        """The content of a file object. Raises NotFetched."""
        if trouble := kept_away(file):
            raise NotFetched(trouble)
        address = address_of(file)
        if not self.is_slacks(address):
            raise NotFetched(Trouble.ELSEWHERE)
        try:
            async with asyncio.timeout(seconds):
                data = await self._body(address, limit, file)
        except (ClientError, TimeoutError, OSError) as error:
            _log.warning("a file was not fetched: %s", type(error).__name__)
            raise NotFetched(Trouble.UNREACHABLE) from error
        if data is None:
            raise NotFetched(Trouble.TOO_LARGE)
        return data

    async def _body(self, address: str, limit: int, file: Json) -> bytes | None:
        headers = {"Authorization": f"Bearer {self._token}"}
        async with self._session.get(
            address, headers=headers, allow_redirects=False, proxy=self._proxy or None
        ) as response:
            if response.status == HTTPStatus.NOT_FOUND:
                raise NotFetched(Trouble.GONE)
            if response.status in _REFUSED or response.status // 100 == 3:  # noqa: PLR2004 - 3xx
                _log.warning(_NO_SCOPE, f"status {response.status}")
                raise NotFetched(Trouble.FORBIDDEN)
            if response.status != HTTPStatus.OK:
                _log.warning("a file was not given: status %d", response.status)
                raise NotFetched(Trouble.UNREACHABLE)
            data = await whole(response.content, limit)
            if data is not None and response.content_type == _HTML and _is_sign_in(data, file):
                _log.warning(_NO_SCOPE, "a page to sign in")
                raise NotFetched(Trouble.FORBIDDEN)
            return data


class Downloads:
    """Any file that somebody may hand in, by its id. What its message said of it may be outdated,
    and in a channel shared with others it says nothing: Slack is asked."""

    def __init__(self, hosted: Hosted, reading: Reading, options: Options) -> None:
        self._hosted, self._reading, self._options = hosted, reading, options

    async def __call__(self, file: Attachment, limit: int) -> Download:
        """Raises NotFetched, and AccessWithdrawn."""
        if file.size > limit:
            raise NotFetched(Trouble.TOO_LARGE)
        try:
            told = (await self._reading("files.info", file=file.id)).get("file") or {}
        except NotGiven as refusal:
            if refusal.code in _GONE:
                raise NotFetched(Trouble.GONE) from refusal
            _log.warning(_NO_SCOPE, refusal.code)
            raise NotFetched(Trouble.FORBIDDEN) from refusal
        except DeliveryFailed as error:
            _log.warning("a file was not fetched: %s", error)
            raise NotFetched(Trouble.UNREACHABLE) from error
        if size_of(told) > limit:
            raise NotFetched(Trouble.TOO_LARGE)
        data = await self._hosted.get(told, limit, self._options.file_timeout)
        return Download(str(told.get("name") or file.name), data)


def _is_sign_in(data: bytes, file: Json) -> bool:
    """Instead of a refusal Slack shows a page to sign in, which is no file of that size."""
    return file.get("mimetype") != _HTML or len(data) != size_of(file)
