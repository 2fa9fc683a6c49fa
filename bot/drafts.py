"""Drafts from chats, and what else was handed in, as far as those in a place may read it.

A document is open to nobody who has less than the weakest rights of the place it was said in.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from bot.access import Access
from bot.app import Library
from bot.chat import Button, Incoming, Place
from bot.kept import Kept, KeptDocuments
from bot.texts import literal, text
from graph.model import EVERYBODY, Language, Scope, SourceType
from graph.model import Access as DocumentAccess

Link = Callable[[Place, str], str]
"""Opens a message of a place by its id; "" where there is no such link."""


class Drafts:
    """All methods raise StorageError."""

    def __init__(
        self,
        library: Library,
        access: Access,
        *,
        link: Link,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        self.store = KeptDocuments(library.settings.home)
        self._settings, self._access = library.settings, access
        self._link, self._now = link, now

    @property
    def levels(self) -> tuple[str, ...]:
        """The ladder, lowest first."""
        return self._access.levels

    async def listed(self, scope: Scope) -> list[Kept]:
        """What may be read in `scope`, drafts as well, oldest first. Drafts whose time is over
        go first."""
        found = await asyncio.to_thread(self._current)
        return [kept for kept in found if self.open(kept, scope)]

    def open(self, kept: Kept, scope: Scope) -> bool:
        access = kept.access(self._settings.access.documents())
        return scope.admits(replace(access, effective_until=None))

    async def named(self, name: str, scope: Scope) -> list[Kept]:
        """The document with this id, or all that came with it in one message."""
        return [kept for kept in await self.listed(scope) if name in (kept.id, kept.batch)]

    async def add(
        self, kind: SourceType, name: str, data: bytes, event: Incoming, **about: Any
    ) -> Kept:
        """A new draft of whoever sent `event`; `about` are further fields of Kept."""
        until = self._now() + self._settings.uploads.draft_life
        return await asyncio.to_thread(
            lambda: self.store.add(
                kind, name, data, event.person.key, draft=True, draft_until=until, **about
            )
        )

    def rights(self, scope: Scope, level: str = "") -> dict[str, Any]:
        """The fields of Kept that bound its readers: those of `scope`, or from a lower level on."""
        labels = frozenset[str]().union(*scope.readers) or {EVERYBODY}
        return {
            "audience": level or max(scope.levels, key=self._access.levels.index),
            "labels": tuple(sorted(labels)),
            "tenant": scope.tenant,
        }

    def access(self, rights: Mapping[str, Any]) -> DocumentAccess:
        """What these fields of Kept open to whom."""
        return replace(
            self._settings.access.documents(),
            tenant=rights["tenant"],
            audience=rights["audience"],
            labels=frozenset(rights["labels"]),
            effective_until=rights.get("expires"),
        )

    def origin(self, place: Place, message_id: str) -> str:
        """A link to the message, or to the one that begins a thread."""
        begins = place.thread == message_id
        return self._link(replace(place, thread="") if begins else place, message_id)

    def _current(self) -> Sequence[Kept]:
        found = self.store.all()
        now = self._now()
        over = [k for k in found if k.draft and k.draft_until is not None and k.draft_until <= now]
        for kept in over:
            self.store.delete(kept)
        return [kept for kept in found if kept not in over]


def readers(level: str, labels: Collection[str], language: Language) -> str:
    """Who will be able to read it."""
    names = literal(", ".join(sorted(labels)))
    return text("readers", language, level=literal(level), labels=names)


def buttons(name: str, language: Language, *, several: bool = False) -> tuple[Button, ...]:
    """Publish and Discard, of one draft or of all that came with it."""
    more = "_all" if several else ""
    return (
        Button(text(f"button_publish{more}", language), f"k:{name}"),
        Button(text(f"button_discard{more}", language), f"x:{name}"),
    )
