"""What curators keep from a chat: notes as drafts, published or discarded by a button.

A note is open to nobody who has less than the weakest rights of the place it was said in.
"""

from __future__ import annotations

import asyncio
import logging
import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from bot.access import Access, Role
from bot.app import Library
from bot.auditor import Auditor
from bot.chat import Button, Incoming, Person, Place, Reply, question_id
from bot.errors import BotError, SourceError
from bot.handed_in import understand
from bot.ingest.secrets import mask
from bot.kept import Kept, KeptDocuments
from bot.library import sync_kept
from bot.ports import Conversation, SourceFile
from bot.progress import Silent
from bot.texts import language_of, literal, literal_code, text
from graph.errors import GraphError
from graph.model import EVERYBODY, Language, Outcome, Question, Scope, SourceType

_BUTTON = re.compile(r"(k|x):([0-9a-f]{10})")
_NOTE = "note.md"
_DONE = {"publish": "kept_published", "delete": "kept_deleted", "discard": "kept_discarded"}
_SHOWN = 1_500  # characters of a draft
_TITLE = 80  # characters

_log = logging.getLogger(__name__)


class Curating:
    """`curators` are keys of people who may do it beside the admins; `link` opens a message."""

    def __init__(
        self,
        library: Library,
        access: Access,
        *,
        curators: frozenset[str] = frozenset(),
        auditor: Auditor | None = None,
        link: Callable[[Place, str], str] = lambda place, message: "",
    ) -> None:
        self._library, self._access = library, access
        self._curators, self._auditor, self._link = curators, auditor, link
        self._store = KeptDocuments(library.settings.home)
        self._changing = asyncio.Lock()

    async def may(self, person: Person) -> bool:
        """Raises StorageError."""
        role = await self._access.role(person)
        return role is Role.ADMIN or (role is Role.MEMBER and person.key in self._curators)

    async def draft(self, event: Incoming, words: str, author: str, language: Language) -> Reply:
        """Keeps a note as a draft, and shows what was understood. Raises StorageError."""
        scope = await self._access.scope(replace(event, private=False))
        if scope is None:
            return Reply(text("no_access", language), private=True)
        byline = text("note_byline", language, author=author, date=event.at.date().isoformat())
        said = mask(words.strip())
        data = f"{said}\n\n{byline}\n".encode("utf-8", "replace")
        title = _title(said)
        try:
            file = SourceFile(_NOTE, data, title=title)
            await understand(self._library, SourceType.MANUAL, file)
        except SourceError:
            return Reply(text("note_refused", language), private=True)
        kept = await asyncio.to_thread(self._store.holding, data)
        if kept is not None and not kept.draft:
            return Reply(text("note_known", language, id=kept.id), private=True)
        if kept is None:
            about = self._about(event, scope, title)
            kept = await asyncio.to_thread(
                lambda: self._store.add(SourceType.MANUAL, _NOTE, data, event.person.key, **about)
            )
        return self._shown(kept, said, language)

    def _about(self, event: Incoming, scope: Scope, title: str) -> dict[str, Any]:
        """The fields of Kept that bound its readers and say where it comes from."""
        labels = frozenset[str]().union(*scope.readers) or {EVERYBODY}
        return {
            "title": title,
            "audience": max(scope.levels, key=self._access.levels.index),
            "labels": tuple(sorted(labels)),
            "tenant": scope.tenant,
            "origin": self._link(event.place, event.message_id),
            "draft": True,
        }

    def _shown(self, kept: Kept, said: str, language: Language) -> Reply:
        shown = said if len(said) <= _SHOWN else said[:_SHOWN] + "…"
        told = text(
            "note_draft",
            language,
            id=kept.id,
            title=literal(kept.title),
            shown=shown.replace("```", "'''"),
            level=literal(kept.audience),
            labels=literal(", ".join(kept.labels)),
        )
        publish = Button(text("button_publish", language), f"k:{kept.id}")
        return Reply(told, (publish, Button(text("button_discard", language), f"x:{kept.id}")))

    async def pressed(self, event: Incoming, conversation: Conversation) -> bool:
        """Whether the button was one under a draft. Raises StorageError, and what the
        conversation raises."""
        match = _BUTTON.fullmatch(event.value)
        if match is None:
            return False
        language = language_of("", event.language)
        scope = await self._access.scope(event)
        if scope is None:
            reply = Reply(text("no_access", language), private=True)
        elif not await self.may(event.person):
            reply = Reply(text("curators_only", language), private=True)
        elif match[1] == "k":
            reply = await self.publish(event, scope, match[2], language)
        else:
            reply = await self._discard(event, scope, match[2], language)
        await conversation.say(reply)
        return True

    async def listed(self, scope: Scope) -> list[Kept]:
        """What was handed in and may be read in `scope`, drafts as well. Raises StorageError."""
        found = await asyncio.to_thread(self._store.all)
        return [kept for kept in found if self._open(kept, scope)]

    async def publish(self, event: Incoming, scope: Scope, name: str, language: Language) -> Reply:
        """Makes it findable at once. Raises StorageError."""
        kept = await self._find(name, scope)
        if kept is None:
            return _gone(name, language)
        await asyncio.to_thread(self._store.publish, kept.id)
        if not await self._synced(kept):
            if kept.draft:
                await asyncio.to_thread(self._store.withdraw, kept.id)
            return Reply(text("kept_failed", language), private=True)
        return await self._done(event, scope, kept, "publish", language)

    async def delete(self, event: Incoming, scope: Scope, name: str, language: Language) -> Reply:
        """Takes it out of the index and the data folder. Raises StorageError."""
        kept = await self._find(name, scope)
        if kept is None:
            key = "kept_foreign" if "/" in name else "kept_gone"
            return Reply(text(key, language, id=literal_code(name)), private=True)
        await asyncio.to_thread(self._store.withdraw, kept.id)
        if not await self._synced(kept):
            if not kept.draft:
                await asyncio.to_thread(self._store.publish, kept.id)
            return Reply(text("kept_failed", language), private=True)
        await asyncio.to_thread(self._store.delete, kept.id)
        return await self._done(event, scope, kept, "delete", language)

    async def _discard(self, event: Incoming, scope: Scope, name: str, language: Language) -> Reply:
        kept = await self._find(name, scope)
        if kept is None:
            return _gone(name, language)
        if not kept.draft:
            told = text("kept_public", language, id=kept.id, delete="documents delete")
            return Reply(told, private=True)
        await asyncio.to_thread(self._store.delete, kept.id)
        return await self._done(event, scope, kept, "discard", language)

    async def _find(self, name: str, scope: Scope) -> Kept | None:
        return next((kept for kept in await self.listed(scope) if kept.id == name), None)

    def _open(self, kept: Kept, scope: Scope) -> bool:
        access = kept.access(self._library.settings.access.documents())
        return scope.admits(replace(access, effective_until=None))

    async def _synced(self, kept: Kept) -> bool:
        async with self._changing:
            try:
                await sync_kept(self._library, kept.kind, Silent())
            except (BotError, GraphError) as error:
                _log.warning("%s was not brought into the index: %s", kept.id, error)
                return False
        return True

    async def _done(
        self, event: Incoming, scope: Scope, kept: Kept, way: str, language: Language
    ) -> Reply:
        title, key = kept.title or kept.name, _DONE[way]
        if self._auditor is not None:
            question = Question(f"{way} {kept.id} {title}", question_id(event), scope)
            await self._auditor.note(question, event.person, event.place, way, Outcome.ANSWERED)
        return Reply(text(key, language, id=kept.id, title=literal(title)))


def _gone(name: str, language: Language) -> Reply:
    return Reply(text("kept_gone", language, id=literal_code(name)), private=True)


def _title(words: str) -> str:
    line = " ".join(words.strip().splitlines()[0].split()).lstrip("# ") if words.strip() else ""
    return line if len(line) <= _TITLE else line[: _TITLE - 1] + "…"
