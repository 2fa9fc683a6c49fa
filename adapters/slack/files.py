"""Text files that come with a question: read for that question, and kept nowhere.

The token goes to Slack's own hosts alone, and no redirect is followed: an address in a message is
a stranger's word.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from http import HTTPStatus
from urllib.parse import urlsplit

from aiohttp import ClientError, ClientSession

from adapters.slack.options import Options
from adapters.slack.words import Json
from bot.chat import Quote
from bot.ingest.encoding import decode
from graph.followup import cut

_log = logging.getLogger(__name__)

_KIND_NAMES = (
    "bash c cfg conf cpp csharp css csv diff go groovy hcl html http ini java javascript json "
    "kotlin log lua makefile markdown md nginx patch perl php powershell properties python ruby "
    "rust scala sh shell sql swift tf toml tsv txt text typescript xml yaml yml"
)
_KINDS = frozenset(_KIND_NAMES.split())
_TYPES = frozenset(
    f"application/{name}"
    for name in ("javascript", "json", "sql", "toml", "x-sh", "x-yaml", "xml", "yaml")
)
_NOT_HOSTED = frozenset({"external", "tombstone", "hidden_by_limit"})
_SLACK = "slack.com"


class Files:
    """`own_host` is the host and port of a Web API that is not Slack's own."""

    def __init__(
        self, session: ClientSession, token: str, options: Options, *, own_host: str, proxy: str
    ) -> None:
        self._session, self._token, self._options = session, token, options
        self._own_host, self._proxy = own_host, proxy

    async def read(self, files: Sequence[Json]) -> tuple[tuple[Quote, ...], tuple[str, ...]]:
        """The texts of at most `options.files` of them, and the names of the others."""
        readable = [file for file in files if self._is_readable(file)][: self._options.files]
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(self._text(file)) for file in readable]
        read: list[Quote] = []
        unread = [_name(file) for file in files if file not in readable]
        for file, task in zip(readable, tasks, strict=True):
            text = task.result()
            if text:
                read.append(Quote(cut(text, self._options.file_characters), _name(file)))
            else:
                unread.append(_name(file))
        return tuple(read), tuple(unread)

    def _is_readable(self, file: Json) -> bool:
        mimetype = str(file.get("mimetype") or "")
        kind = str(file.get("filetype") or "")
        size = file.get("size")
        return (
            (mimetype.startswith("text/") or mimetype in _TYPES or kind in _KINDS)
            and isinstance(size, int)
            and size <= self._options.file_bytes
            and file.get("mode") not in _NOT_HOSTED
            and not file.get("is_external")
            and self._is_slacks(_address(file))
        )

    def _is_slacks(self, address: str) -> bool:
        try:
            parts = urlsplit(address)
            host = parts.hostname or ""
        except ValueError:
            return False
        if self._own_host and parts.netloc == self._own_host:
            return True
        domain = f".{self._own_host or _SLACK}"
        return parts.scheme == "https" and parts.netloc == host and host.endswith(domain)

    async def _text(self, file: Json) -> str:
        """ "" for what cannot be read as text."""
        limit = self._options.file_bytes
        try:
            async with (
                asyncio.timeout(self._options.lookup_timeout),
                self._session.get(
                    _address(file),
                    headers={"Authorization": f"Bearer {self._token}"},
                    allow_redirects=False,
                    proxy=self._proxy or None,
                ) as response,
            ):
                if response.status != HTTPStatus.OK or _is_sign_in(response.content_type, file):
                    _log.warning("a file was not given: status %d", response.status)
                    return ""
                data = await response.content.read(limit + 1)
                while len(data) <= limit and (more := await response.content.read(limit)):
                    data += more
        except (ClientError, TimeoutError, OSError) as error:
            _log.warning("a file was not read: %s", type(error).__name__)
            return ""
        return (decode(data).text or "").strip() if len(data) <= limit else ""


def _name(file: Json) -> str:
    return str(file.get("name") or file.get("title") or "file")


def _address(file: Json) -> str:
    return str(file.get("url_private_download") or file.get("url_private") or "")


def _is_sign_in(content_type: str, file: Json) -> bool:
    """Instead of a refusal Slack shows a page to sign in."""
    return content_type == "text/html" and file.get("mimetype") != "text/html"
