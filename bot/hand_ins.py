"""Files that curators hand in by chat: fetched, read, and shown as drafts, which nobody finds."""

from __future__ import annotations

import asyncio
import logging
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import PurePosixPath
from typing import Any

from bot.access import Access
from bot.app import Library
from bot.attachments import Attachment, Download, NotFetched, Trouble
from bot.chat import Incoming, Place, Reply
from bot.drafts import Drafts, buttons
from bot.handed_in import NotTaken, Understood, check_name, understand
from bot.ingest.formats import suffix_of
from bot.ingest.report import Reason
from bot.ingest.secrets import is_secret_file
from bot.kept import Kept, file_name, same
from bot.ports import Skipped, SourceFile
from bot.texts import known, literal, text
from bot.twins import twin
from bot.understood import Shown
from bot.upload_texts import problem
from graph.model import Language, Scope, SourceType

Progress = Callable[[str], Awaitable[None]]
"""Shows what is being done."""

Fetch = Callable[[str, Attachment, int], Awaitable[Download]]
"""The file of a platform, up to so many bytes. Raises NotFetched."""

_PLACES = 1_000  # whose last files are remembered
_MEGABYTE = 1024 * 1024
_EVERYBODY = frozenset({"everyone", "everybody", "all", "всех"})
_SUFFIXES = {  # of files that have none, by their media types
    "application/pdf": ".pdf",
    "application/vnd.openxmlformats-officedocument.wordprocessingml.document": ".docx",
    "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet": ".xlsx",
    "text/markdown": ".md",
    "text/plain": ".txt",
    "text/html": ".html",
    "text/csv": ".csv",
}

_log = logging.getLogger(__name__)


async def nothing(_: str, __: Attachment, ___: int) -> Download:
    """Where no files can be fetched."""
    raise NotFetched(Trouble.FORBIDDEN)


async def unseen(_: str) -> None:
    """Where nobody watches."""


class ShownFiles:
    """The files that a person last sent to the bot alone: "add this" in the next message means
    them. In the memory of this process, for a while."""

    def __init__(self, library: Library, now: Callable[[], datetime]) -> None:
        self._life, self._now = library.settings.uploads.remembered, now
        self._last: OrderedDict[str, tuple[datetime, Incoming]] = OrderedDict()

    def saw(self, event: Incoming) -> None:
        if event.place.kind != "private" or not (event.attachments or event.files):
            return
        self._last[_sender(event)] = (self._now(), event)
        self._last.move_to_end(_sender(event))
        while len(self._last) > _PLACES:
            self._last.popitem(last=False)

    def before(self, event: Incoming) -> Incoming | None:
        at, last = self._last.get(_sender(event), (None, None))
        return last if at is not None and self._now() - at <= self._life else None


def _sender(event: Incoming) -> str:
    return f"{event.place.platform}:{event.place.id}:{event.person.id}"


@dataclass(frozen=True, slots=True)
class Given:
    """Files with the place they were sent to, and the names of what came along."""

    place: Place
    files: Sequence[Attachment] = ()
    others: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class _Task:
    """What is the same for all files of one message."""

    event: Incoming
    place: Place
    scope: Scope
    rights: dict[str, Any]
    language: Language
    progress: Progress


class HandIns:
    """`fetch` gets a file from its platform."""

    def __init__(
        self,
        library: Library,
        access: Access,
        drafts: Drafts,
        fetch: Fetch = nothing,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        self._library, self._access, self._drafts = library, access, drafts
        self._fetch, self._shown = fetch, ShownFiles(library, now)

    def saw(self, event: Incoming) -> None:
        self._shown.saw(event)

    def given(self, event: Incoming) -> Given:
        """The files that a message means, its own before others."""
        if event.nearby and not (event.files or event.attachments):
            return Given(event.place, event.nearby)
        own = event.files or event.attachments
        last = event if own else self._shown.before(event) or event
        return Given(last.place, last.files, last.attachments)

    async def __call__(
        self,
        event: Incoming,
        given: Given,
        language: Language,
        *,
        level: str = "",
        progress: Progress | None = None,
    ) -> Reply:
        """Keeps each file that can be read as a draft, and shows what was understood of it.
        `level` is the lowest that may read them, "" for the rights of the place. Raises
        StorageError."""
        scope = await self._access.scope(replace(event, private=False))
        if scope is None:
            return Reply(text("no_access", language), private=True)
        level = level.casefold()
        level = self._drafts.levels[0] if level in _EVERYBODY else level
        if level and level not in scope.levels:
            here = [name for name in self._drafts.levels if name in scope.levels]
            told = {"level": literal(level), "levels": literal(", ".join(here))}
            return Reply(text("add_level", language, **told), private=True)
        rights = self._drafts.rights(scope, level)
        task = _Task(event, given.place, scope, rights, language, progress or unseen)
        return await self._all(task, given.files)

    async def _all(self, task: _Task, files: Sequence[Attachment]) -> Reply:
        most, language = self._library.settings.uploads.files, task.language
        waiting: list[Kept] = []
        shown: list[str] = []
        left: list[str] = []
        await task.progress(text("stage_read", language))
        for file in files[:most]:
            draft, told = await self._one(task, file, waiting)
            (shown if draft else left).append(told)
            waiting += [draft] if draft else []
        for file in files[most:]:
            left.append(text("file_too_many", language, name=_named(file.name), count=most))
        pieces = [text("add_head", language), *shown] if waiting else []
        if left:
            head = text("add_left" if waiting else "add_failed", language)
            pieces += [head, "\n".join(f"- {line}" for line in left)]
            unread = text(f"skip_{Reason.UNSUPPORTED}", language)
            pieces += [text("formats", language)] if any(unread in line for line in left) else []
        under = buttons(waiting[0].id, language, several=len(waiting) > 1) if waiting else ()
        return Reply("\n\n".join(pieces), under)

    async def _one(
        self, task: _Task, file: Attachment, waiting: Sequence[Kept]
    ) -> tuple[Kept | None, str]:
        """The draft, if one is waiting now, and what to say of the file. `waiting` are those of the
        same message."""
        language = task.language
        try:
            name, data = await self._fetched(task.event, file)
            here = await self._drafts.listed(task.scope)
            old = _replaced(name, here)
            rights = {**task.rights, **_taken_over(old)}
            given = SourceFile(name, data, access=self._drafts.access(rights))
            understood = await understand(self._library, SourceType.UPLOAD, given)
        except NotFetched as error:
            return None, _left(file.name, self._why(error, language), language)
        except NotTaken as error:
            return None, _left(file.name, _reason(error.skipped, language), language)
        found = same(data, [kept for kept in here if kept.kind is SourceType.UPLOAD])
        if found is not None and (not found.draft or found.id in {kept.id for kept in waiting}):
            title = literal(found.title or found.name)
            told = text("file_known", language, name=_named(name), id=found.id, title=title)
            return None, told
        origin = self._drafts.origin(task.place, file.message_id or task.event.message_id)
        batch = waiting[0].id if waiting else ""
        fields = {**rights, "title": understood.title, "origin": origin, "batch": batch}
        draft = await self._kept(task.event, given, found, fields, here)
        twin = await self._twin(task, understood, old)
        shown = Shown(draft, understood, self._drafts.levels[0], old, twin)
        return draft, shown.told(language, task.scope.now)

    async def _kept(
        self,
        event: Incoming,
        file: SourceFile,
        found: Kept | None,
        fields: Mapping[str, Any],
        here: Sequence[Kept],
    ) -> Kept:
        """A draft of this content: the one that is `found`, or a new one."""
        if found is not None:
            draft = replace(found, name=file.path, **fields)
            await asyncio.to_thread(self._drafts.store.put, draft)
            return draft
        await self._drop_older(event, file.path, fields["batch"], here)
        return await self._drafts.add(SourceType.UPLOAD, file.path, file.data, event, **fields)

    async def _twin(self, task: _Task, understood: Understood, old: Kept | None) -> str:
        """The document that says the same already, for people; "" for none."""
        besides = (old.path,) if old else ()
        found = await twin(self._library.index, understood.probes, task.scope, besides)
        return "" if found is None else f"{found.title} ({found.source}/{found.document})"

    async def _fetched(self, event: Incoming, file: Attachment) -> tuple[str, bytes]:
        """Raises NotTaken for what its name and size rule out, and NotFetched."""
        settings = self._library.settings
        for name in (_last_part(file.name), _fit(file)):
            if is_secret_file(name):
                raise NotTaken(Skipped(name, Reason.SECRET_FILE))
        check_name(settings, _fit(file), file.size)
        limit = settings.ingest.max_file_bytes
        got = await self._fetch(event.place.platform, file, limit)
        name = _fit(replace(file, name=got.name))
        check_name(settings, name, len(got.data))
        return name, got.data

    async def _drop_older(
        self, event: Incoming, name: str, batch: str, here: Sequence[Kept]
    ) -> None:
        """The person's earlier drafts by this name: what was sent last counts."""
        for kept in here:
            own = kept.draft and kept.by == event.person.key and _same_name(kept.name, name)
            if own and not (batch and batch in (kept.id, kept.batch)):
                await asyncio.to_thread(self._drafts.store.delete, kept)

    def _why(self, error: NotFetched, language: Language) -> str:
        limit = error.limit or self._library.settings.ingest.max_file_bytes
        size = text("size_mb", language, count=round(limit / _MEGABYTE, 1))
        return text(f"fetch_{error.trouble}", language, limit=size)


def _left(name: str, why: str, language: Language) -> str:
    return text("file_left", language, name=_named(name), why=why)


def _reason(skipped: Skipped, language: Language) -> str:
    key = f"skip_{skipped.reason}"
    told = text(key, language) if known(key) else literal(skipped.reason)
    detail = literal(problem(skipped.detail, language))
    return f"{told} ({detail})" if detail else told


def _replaced(name: str, here: Sequence[Kept]) -> Kept | None:
    """The newest published file of this name."""
    found = [
        kept
        for kept in here
        if kept.kind is SourceType.UPLOAD and not kept.draft and _same_name(kept.name, name)
    ]
    return found[-1] if found else None


def _taken_over(old: Kept | None) -> dict[str, Any]:
    """The fields of Kept that a document hands on to the one that replaces it."""
    if old is None:
        return {"replaces": ""}
    return {
        "replaces": old.id,
        "audience": old.audience,
        "labels": old.labels,
        "tenant": old.tenant,
        "expires": old.expires,
    }


def _same_name(first: str, second: str) -> bool:
    return first.casefold() == second.casefold()


def _fit(file: Attachment) -> str:
    """A stranger's file name as one that can be kept; without a suffix it gets that of its type."""
    name = file_name(file.name)
    return name if suffix_of(name) else name + _SUFFIXES.get(file.mime.partition(";")[0], "")


def _last_part(name: str) -> str:
    return PurePosixPath(name.replace("\\", "/")).name


def _named(name: str) -> str:
    return literal(file_name(name))
