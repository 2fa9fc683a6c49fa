"""Reading the text of a calendar from a web address or a file.

The address is a secret: whoever knows it sees who works when. No message here repeats it.
"""

from __future__ import annotations

import asyncio
import ssl
from dataclasses import dataclass
from datetime import UTC, datetime
from http import HTTPStatus
from ipaddress import ip_address
from pathlib import Path
from typing import Protocol

import aiohttp
from yarl import URL

from adapters.ical.options import Options

_CHUNK = 65_536  # bytes
_HEADERS = {"Accept": "text/calendar, text/plain;q=0.5, */*;q=0.1", "User-Agent": "belay"}
_ELSEWHERE = frozenset({301, 302, 303, 307, 308})


class Unreadable(Exception):
    """A calendar cannot be read now. The message, for an operator, names no address."""


@dataclass(frozen=True, slots=True)
class Text:
    """`read_at` tells how old it is: when a server sent it, when a file was written."""

    calendar: str
    read_at: datetime


class Origin(Protocol):
    """Where the text comes from. `identity` tells origins apart."""

    @property
    def identity(self) -> str: ...

    async def read(self, options: Options, now: datetime) -> Text:
        """Raises Unreadable."""


@dataclass(frozen=True, slots=True)
class File(Origin):
    path: Path

    @property
    def identity(self) -> str:
        return f"file:{self.path}"

    async def read(self, options: Options, now: datetime) -> Text:
        return await asyncio.to_thread(self._read, options)

    def _read(self, options: Options) -> Text:
        try:
            with self.path.open("rb") as file:
                data = file.read(options.most_bytes + 1)
            written = datetime.fromtimestamp(self.path.stat().st_mtime, UTC)
        except OSError as error:
            raise Unreadable(f"{self.path}: {error.strerror or 'cannot be read'}") from error
        return Text(_decoded(data, options), written)


@dataclass(frozen=True, slots=True)
class Web(Origin):
    """`url` begins with https://, or with http:// on this machine. `ca_file`: certificates that
    are trusted beside the system's, "" for none."""

    url: str
    ca_file: str = ""

    @property
    def identity(self) -> str:
        return self.url

    async def read(self, options: Options, now: datetime) -> Text:
        try:
            async with asyncio.timeout(options.timeout):
                return Text(_decoded(await self._fetch(options), options), now)
        except TimeoutError:
            raise Unreadable(f"no answer within {options.timeout:g} seconds") from None
        except aiohttp.ClientConnectorCertificateError:
            raise Unreadable("the server's certificate is not trusted") from None
        except (aiohttp.ClientError, OSError, ValueError) as error:
            raise Unreadable(f"the server cannot be reached ({type(error).__name__})") from None

    async def _fetch(self, options: Options) -> bytes:
        connector = aiohttp.TCPConnector(ssl=await asyncio.to_thread(self._context))
        async with aiohttp.ClientSession(
            connector=connector, cookie_jar=aiohttp.DummyCookieJar(), headers=_HEADERS
        ) as session:
            url = URL(self.url)
            for _ in range(options.redirects + 1):
                async with session.get(url, allow_redirects=False) as response:
                    if response.status not in _ELSEWHERE:
                        return await _body(response, options)
                    url = _next(url, response)
        raise Unreadable(f"it redirects more than {options.redirects} times")

    def _context(self) -> ssl.SSLContext:
        context = ssl.create_default_context()
        if self.ca_file:
            context.load_verify_locations(self.ca_file)
        return context


def is_allowed(address: str) -> bool:
    """Whether a calendar may be fetched there: over https, or without it on this machine."""
    try:
        url = URL(address)
    except ValueError:
        return False
    return bool(url.host) and (url.scheme == "https" or (url.scheme == "http" and _is_here(url)))


def _is_here(url: URL) -> bool:
    host = url.host or ""
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _next(url: URL, response: aiohttp.ClientResponse) -> URL:
    """Where a redirect leads; never from the world to this machine, nor out of https."""
    target = url.join(URL(response.headers.get("Location", "")))
    if not is_allowed(str(target)) or (_is_here(target) and not _is_here(url)):
        raise Unreadable("it redirects to an address that is not https")
    return target


async def _body(response: aiohttp.ClientResponse, options: Options) -> bytes:
    if response.status != HTTPStatus.OK:
        raise Unreadable(f"the server answers {response.status}")
    data = bytearray()
    async for chunk in response.content.iter_chunked(_CHUNK):
        data += chunk
        if len(data) > options.most_bytes:
            break
    return bytes(data)


def _decoded(data: bytes, options: Options) -> str:
    if len(data) > options.most_bytes:
        raise Unreadable(f"it is larger than {options.most_bytes} bytes")
    return data.decode("utf-8-sig", "replace")
