"""Text files that come with a question: read for that question, and kept nowhere."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from adapters.slack.downloads import Hosted
from adapters.slack.file_objects import address_of, kept_away
from adapters.slack.options import Options
from adapters.slack.words import Json
from bot.attachments import NotFetched
from bot.chat import Quote
from bot.ingest.encoding import decode
from graph.followup import cut

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


class Files:
    def __init__(self, hosted: Hosted, options: Options) -> None:
        self._hosted, self._options = hosted, options

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
            and kept_away(file) is None
            and self._hosted.is_slacks(address_of(file))
        )

    async def _text(self, file: Json) -> str:
        """ "" for what cannot be read as text."""
        options = self._options
        try:
            data = await self._hosted.get(file, options.file_bytes, options.lookup_timeout)
        except NotFetched:
            return ""
        return (decode(data).text or "").strip()


def _name(file: Json) -> str:
    return str(file.get("name") or file.get("title") or "file")
