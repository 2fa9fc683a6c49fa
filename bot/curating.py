"""What curators keep from a chat: notes and files as drafts, published or discarded by a button."""

from __future__ import annotations

import asyncio
import logging
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime

from bot.access import Access, Role
from bot.app import Library
from bot.auditor import Auditor
from bot.chat import Incoming, Person, Place, Reply, question_id
from bot.commands.spoken import spelled
from bot.drafts import Drafts, buttons, readers
from bot.errors import BotError
from bot.hand_ins import Fetch, HandIns, nothing
from bot.handed_in import NotTaken, understand
from bot.ingest.secrets import mask
from bot.kept import Kept, same
from bot.kept_changes import KeptChanges
from bot.ports import Conversation, SourceFile
from bot.texts import language_of, literal, literal_code, text
from graph.errors import GraphError
from graph.model import Language, Outcome, Question, Scope, SourceType

_BUTTON = re.compile(r"(k|x):([0-9a-f]{10})")
_NOTE = "note.md"
_DONE = {"publish": "kept_published", "delete": "kept_deleted", "discard": "kept_discarded"}
_SHOWN = 1_500  # characters of a draft
_TITLE = 80  # characters
_KNOWN = 1_000  # people whose names are remembered
_ASKED = 5  # people that are named to whoever may not

_log = logging.getLogger(__name__)


class Curating:
    """`curators` are keys of people who may do it beside the admins; `link` opens a message,
    `fetch` gets a file. `roots` names the one slash command of platforms that have one."""

    def __init__(
        self,
        library: Library,
        access: Access,
        *,
        curators: frozenset[str] = frozenset(),
        auditor: Auditor | None = None,
        link: Callable[[Place, str], str] = lambda place, message: "",
        fetch: Fetch = nothing,
        roots: Mapping[str, str] | None = None,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        self._library, self._access = library, access
        self._curators, self._auditor, self._roots = curators, auditor, roots or {}
        self._drafts = Drafts(library, access, link=link, now=now)
        self._changes = KeptChanges(library, self._drafts.store)
        self._changing = asyncio.Lock()
        self._names: dict[str, str] = {}  # of people who were seen lately, by key
        self.hand_ins = HandIns(library, access, self._drafts, fetch, now)

    async def may(self, person: Person) -> bool:
        """Raises StorageError."""
        role = await self._access.role(person)
        return role is Role.ADMIN or (role is Role.MEMBER and person.key in self._curators)

    async def refusal(self, event: Incoming, language: Language) -> Reply:
        """Names those who may. Nobody is told of it: only the asker sees it. Raises
        StorageError."""
        keys = sorted(self._curators | await self._access.admins())
        platform = event.place.platform
        own = [key.removeprefix(f"{platform}:") for key in keys if key.startswith(f"{platform}:")]
        here = [
            Person(platform, name, self._names.get(f"{platform}:{name}", ""))
            for name in own[:_ASKED]
        ]
        key = "curators_who" if here else "curators_only"
        return Reply(text(key, language), mentions=tuple(here), private=True)

    def saw(self, event: Incoming) -> None:
        """Remembers the name of whoever wrote, and the files that came along."""
        self._names[event.person.key] = event.person.name
        while len(self._names) > _KNOWN:
            del self._names[next(iter(self._names))]
        self.hand_ins.saw(event)

    async def draft(
        self, event: Incoming, words: str, author: str, language: Language, message_id: str = ""
    ) -> Reply:
        """Keeps a note as a draft, and shows what was understood. `message_id`: of the message
        that says it, when that is not the event's own. Raises StorageError."""
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
        except NotTaken:
            return Reply(text("note_refused", language), private=True)
        here = await self._drafts.listed(scope)
        kept = same(data, here)
        if kept is not None and not kept.draft:
            return Reply(text("note_known", language, id=kept.id), private=True)
        if kept is None:
            origin = self._drafts.origin(event.place, message_id or event.message_id)
            about = {**self._drafts.rights(scope), "title": title, "origin": origin}
            kept = await self._drafts.add(SourceType.MANUAL, _NOTE, data, event, **about)
        return self._shown(kept, said, language)

    def _shown(self, kept: Kept, said: str, language: Language) -> Reply:
        shown = said if len(said) <= _SHOWN else said[:_SHOWN] + "…"
        told = text(
            "note_draft",
            language,
            id=kept.id,
            title=literal(kept.title),
            shown=shown.replace("```", "'''"),
            readers=readers(kept.audience, kept.labels, language),
        )
        return Reply(told, buttons(kept.id, language))

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
        return await self._drafts.listed(scope)

    async def publish(self, event: Incoming, scope: Scope, name: str, language: Language) -> Reply:
        """Makes it findable at once, with what came in the same message. Raises StorageError."""
        async with self._changing:
            found = await self._drafts.named(name, scope)
            waiting = [kept for kept in found if not await self._changes.findable(kept)]
            if not waiting:
                return self._settled(event, found, name, language)
            try:
                made = await self._changes.publish(waiting)
            except (BotError, GraphError) as error:
                return _failed(error, waiting, language)
        return await self._done(event, scope, made, "publish", language)

    async def delete(self, event: Incoming, scope: Scope, name: str, language: Language) -> Reply:
        """Takes it out of the index and the data folder. Raises StorageError."""
        async with self._changing:
            found = [kept for kept in await self.listed(scope) if kept.id == name]
            if not found:
                key = "kept_foreign" if "/" in name else "kept_gone"
                return Reply(text(key, language, id=literal_code(name)), private=True)
            try:
                await self._changes.delete(found[0])
            except (BotError, GraphError) as error:
                return _failed(error, found, language)
        return await self._done(event, scope, found, "delete", language)

    async def _discard(self, event: Incoming, scope: Scope, name: str, language: Language) -> Reply:
        async with self._changing:
            found = await self._drafts.named(name, scope)
            waiting = [kept for kept in found if kept.draft]
            if not waiting:
                return self._settled(event, found, name, language)
            for kept in waiting:
                await self._changes.delete(kept)
        return await self._done(event, scope, waiting, "discard", language)

    def _settled(
        self, event: Incoming, found: Sequence[Kept], name: str, language: Language
    ) -> Reply:
        """Somebody was faster, or the draft's time is over."""
        if not found:
            days = f"{self._library.settings.uploads.draft_days:g}"
            told = text("draft_gone", language, id=literal_code(name), days=days)
            return Reply(told, private=True)
        command = spelled(self._roots, event.place.platform, "documents")
        lines = [
            text("kept_public", language, id=kept.id, delete=f"{command} delete") for kept in found
        ]
        return Reply("\n\n".join(lines), private=True)

    async def _done(
        self, event: Incoming, scope: Scope, done: Sequence[Kept], way: str, language: Language
    ) -> Reply:
        lines: list[str] = []
        for kept in done:
            title = kept.title or kept.name
            if self._auditor is not None:
                question = Question(f"{way} {kept.id} {title}", question_id(event), scope)
                await self._auditor.note(question, event.person, event.place, way, Outcome.ANSWERED)
            lines.append(text(_DONE[way], language, id=kept.id, title=literal(title)))
        return Reply("\n\n".join(lines))


def _failed(error: Exception, kept: Sequence[Kept], language: Language) -> Reply:
    names = ", ".join(item.id for item in kept)
    _log.warning("%s: the index was not brought up to date: %s", names, error)
    return Reply(text("kept_failed", language), private=True)


def _title(words: str) -> str:
    line = " ".join(words.strip().splitlines()[0].split()).lstrip("# ") if words.strip() else ""
    return line if len(line) <= _TITLE else line[: _TITLE - 1] + "…"
