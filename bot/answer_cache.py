"""Answers that are given again to the same question of the same audience.

Only what stands in documents and depends on nothing that was said before is kept, and it is used
only while the index is as it was and the asker may read every document behind it.
"""

from __future__ import annotations

import logging
import uuid
from collections.abc import Awaitable, Callable, Collection
from dataclasses import dataclass, replace
from datetime import datetime
from hashlib import sha256
from importlib.metadata import version
from typing import Any

from pydantic import TypeAdapter, ValidationError

from bot.app import App, zone
from bot.cache import Cache
from bot.errors import StorageError
from bot.ports import SharedServer
from bot.registry import factory
from bot.sessions import drawn_from, is_verified
from graph.machine import Finished
from graph.model import Document, Question, Scope

_log = logging.getLogger(__name__)

_FINISHED: TypeAdapter[Finished] = TypeAdapter(Finished)

Readable = Callable[[Collection[Document], Scope], Awaitable[frozenset[Document]]]
Revision = Callable[[], Awaitable[str]]
"""Names the state of the index and of all that decides on answers: model, thresholds, version."""


@dataclass(frozen=True, slots=True)
class AnswerCache:
    """`seconds`: how long an answer is given again."""

    cache: Cache
    revision: Revision
    readable: Readable
    seconds: float

    async def once(self, question: Question, make: Callable[[], Awaitable[Finished]]) -> Finished:
        """What is kept, or else what `make` returns, kept for others if they may get it."""
        key = await self.key(question)
        kept = await self.get(key, question)
        if kept is not None:
            return kept
        finished = await make()
        await self.keep(key, question, finished)
        return finished

    async def key(self, question: Question) -> str:
        """Names the question, its audience and the state of the index at this moment; "" when the
        answer depends on more than that, or the index cannot tell."""
        if question.history or question.web_first:
            return ""
        try:
            state = await self.revision()
        except StorageError as error:
            _log.warning("answers are made anew: %s", error)
            return ""
        scope = question.scope
        parts: list[Any] = [
            state,
            " ".join(question.text.split()),
            question.web_allowed,
            scope.tenant,
            sorted(scope.levels),
            sorted(sorted(labels) for labels in scope.readers),
            sorted(scope.source_types) if scope.source_types is not None else None,
            scope.place,
        ]
        return f"answer:{sha256(repr(parts).encode('utf-8', 'surrogatepass')).hexdigest()}"

    async def get(self, key: str, question: Question) -> Finished | None:
        """The answer under this question's id, or None: then it is to be made."""
        if not key:
            return None
        try:
            kept = await self.cache.get(key)
            if kept is not None:  # whoever is given it may have it forgotten
                await self.cache.put(_of(question.id), key, self.seconds)
        except StorageError as error:
            _log.warning("answers are made anew: %s", error)
            return None
        finished = _read(kept)
        if finished is None or not await self._may_read(finished, question.scope):
            return None
        return Finished(
            replace(finished.answer, question_id=question.id),
            replace(finished.trace, question_id=question.id, question=question.text, calls=()),
        )

    async def keep(self, key: str, question: Question, finished: Finished) -> None:
        """Keeps an answer if others may get it as well. `key` is from before it was made: what an
        index said that has changed meanwhile is given to nobody."""
        if not (key and _lasting(finished)):
            return
        try:
            value = _FINISHED.dump_json(finished).decode()
            await self.cache.put(_of(question.id), key, self.seconds)
            await self.cache.put(key, value, self.seconds)
        except StorageError as error:
            _log.warning("an answer was not kept for others: %s", error)

    async def forget(self, questions: Collection[str]) -> None:
        """Drops the answers that were made for these questions or given to them. Raises
        StorageError."""
        for name in questions:
            key = await self.cache.get(_of(name))
            if key is not None:
                await self.cache.drop([key, _of(name)])

    async def _may_read(self, finished: Finished, scope: Scope) -> bool:
        """A document may have come out of force, or been closed to some, since."""
        behind = frozenset(drawn_from(finished.answer))
        return bool(behind) and await self.readable(behind, scope) == behind


def answer_cache(app: App, server: SharedServer | None) -> AnswerCache | None:
    """That of a bot whose replicas share `server`; None without one, or when it is switched off.

    Only replicas that share the index as well give each other's answers: revisions of two files
    count alike and say nothing of each other.
    """
    settings = app.settings
    seconds = settings.redis.answers_seconds
    if server is None or not seconds:
        return None
    place = settings.weaviate_url or uuid.uuid4().hex
    model = (settings.model_url, settings.model)
    decides = (version("belay-bot"), *model, app.embedder.name, place, app.machine.policy)

    async def revision() -> str:
        info = await app.index.info()
        today = datetime.now(zone(settings)).date()  # the prompt holds it, answers may rest on it
        return repr((decides, today, info.revision, info.profile_revision))

    return AnswerCache(factory("cache.redis")(server), revision, app.index.readable, seconds)


def _of(question_id: str) -> str:
    return f"answer-of:{question_id}"


def _lasting(finished: Finished) -> bool:
    """Whether the documents alone gave a whole answer, with nothing out of order on the way."""
    answer = finished.answer
    return is_verified(answer) and not answer.notes and not answer.missing


def _read(kept: str | None) -> Finished | None:
    if kept is None:
        return None
    try:
        return _FINISHED.validate_json(kept)
    except ValidationError:  # of another version
        return None
