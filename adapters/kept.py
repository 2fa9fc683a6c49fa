"""The documents that people handed in, as a source."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

from bot.errors import StorageError
from bot.ingest.report import Reason
from bot.kept import NAMES, Kept, KeptDocuments
from bot.ports import Skipped, Source, SourceFile
from graph.model import Access, SourceType


class KeptSource(Source):
    """Offers what was confirmed. `default` holds for what a document does not say."""

    def __init__(self, home: Path, kind: SourceType, default: Access) -> None:
        self._kept, self._kind, self._default = KeptDocuments(home), kind, default

    @property
    def name(self) -> str:
        return NAMES[self._kind]

    @property
    def kind(self) -> SourceType:
        return self._kind

    async def files(self) -> AsyncIterator[SourceFile | Skipped]:
        """Raises StorageError when the list of documents cannot be read."""
        for kept in await asyncio.to_thread(self._kept.all, self._kind):
            if not kept.draft:
                yield await asyncio.to_thread(self._file, kept)

    def _file(self, kept: Kept) -> SourceFile | Skipped:
        try:
            data = self._kept.data(kept)
        except StorageError:
            return Skipped(kept.path, Reason.UNREADABLE)
        return SourceFile(
            kept.path,
            data,
            kept.added_at,
            access=kept.access(self._default),
            title=kept.title,
            uri=kept.origin,
        )

    def uri(self, path: str, line: int) -> str:
        return f"{path}#L{line}"


def create(home: Path, kind: SourceType, default: Access) -> Source:
    """The factory that bot/registry.py names."""
    return KeptSource(home, kind, default)
