"""Lines that a chat model writes beside a document: how people ask who do not know the page.

They move the vector of the document's first chunk, and are nothing else: they are not shown,
not quoted, no evidence, and their words are none of the document's. With the mean l of their
vectors

    v' = unit((1 - w) v + w unit(l)),  w = 0.3

On 159 questions over 586 runbooks this finds more, with any w from 0.2 to 0.4 alike
(docs/decisions/0015-expansion-by-vector.md).
"""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from hashlib import sha256

import numpy as np

from bot.cache import Cache
from bot.errors import StorageError
from bot.ingest.document import Document
from graph.context import fence_for, label, language_name
from graph.errors import (
    ContentFiltered,
    ContextOverflow,
    ModelBusy,
    ModelError,
    ModelRefused,
    ModelUnavailable,
    ReplyUnusable,
)
from graph.model import Language
from graph.ports import ChatModel, Completion, Matrix, Prompt
from graph.prompts import fill, load
from graph.steering import without_orders
from graph.text import has_words

log = logging.getLogger(__name__)

WEIGHT = 0.3
_LONGEST = 300  # characters of a line; what is longer is no question
_TOKENS_A_LINE = 60
_SCHEMA = {
    "type": "object",
    "properties": {"lines": {"type": "array", "items": {"type": "string"}}},
    "required": ["lines"],
    "additionalProperties": False,
}


@dataclass(frozen=True, slots=True)
class Wanted:
    """What is asked of the model. `seconds` bounds one call; `tries` are made while it is away,
    `pause` seconds apart at first, twice as long each time; `kept` seconds its lines are kept."""

    lines: int = 3
    languages: tuple[Language, ...] = ("en", "ru")
    characters: int = 8000
    parallel: int = 4
    seconds: float = 45.0
    tries: int = 3
    pause: float = 2.0
    longest_pause: float = 30.0
    kept: float = 180 * 86400.0

    def mark(self, model: str) -> str:
        """The same as long as a document would get the same lines, as far as that can be known."""
        parts = (load("expand"), model, self.lines, self.languages, self.characters, WEIGHT)
        return sha256(repr(parts).encode()).hexdigest()


@dataclass(frozen=True, slots=True)
class Expansion:
    """The lines of one document. Not `settled`: the model was away, and is to be asked again."""

    lines: tuple[str, ...] = ()
    settled: bool = True


@dataclass(slots=True)
class Expander:
    """Asks `model`, which is made when a document needs it first, and keeps what it wrote.

    A model that stays away is not asked again by the same expander: the documents are stored
    without lines, and get them at a later sync.
    """

    name: str  # of the model
    model: Callable[[], Awaitable[ChatModel]]
    cache: Cache
    wanted: Wanted = field(default_factory=Wanted)
    away: str = ""  # why the model is not asked any more, for the log
    _made: ChatModel | None = None
    _making: asyncio.Lock = field(default_factory=asyncio.Lock)

    @property
    def mark(self) -> str:
        return self.wanted.mark(self.name)

    async def expand(self, documents: Sequence[Document]) -> list[Expansion]:
        """The lines of each document, in order. Raises SettingsError for a model that cannot be
        made, and nothing for one that fails."""
        free = asyncio.Semaphore(self.wanted.parallel)

        async def one(document: Document) -> Expansion:
            async with free:
                return await self._of(document)

        try:
            async with asyncio.TaskGroup() as group:
                tasks = [group.create_task(one(document)) for document in documents]
        except ExceptionGroup as errors:
            raise errors.exceptions[0] from errors
        return [task.result() for task in tasks]

    async def _of(self, document: Document) -> Expansion:
        page = _page(document, self.wanted.characters)
        key = f"expansion:{sha256(f'{self.mark}{page}'.encode()).hexdigest()}"
        kept = await self._kept(key)
        if kept is not None:
            return Expansion(kept)
        reply = await self._asked(page)
        if reply is None:
            return Expansion(settled=False)
        if isinstance(reply, ModelError):
            log.info("%s has no lines of the model: %s", document.file.path, type(reply).__name__)
            return Expansion()
        lines = _lines(reply, self.wanted.lines * len(self.wanted.languages))
        await self._keep(key, lines)
        return Expansion(lines)

    async def _asked(self, page: str) -> Completion | ModelError | None:
        """The reply, or the error of a call that another try would not mend; None while the model
        is away."""
        for turn in range(self.wanted.tries):
            if self.away:
                return None
            reply = await self._call(page)
            if isinstance(reply, Completion) or not _is_away(reply):
                return reply
            if not reply.retry_helps or turn + 1 == self.wanted.tries:
                self.away = type(reply).__name__
                log.warning("documents are stored without lines of the model: %s", self.away)
                return None
            pause = min(self.wanted.pause * 2**turn, self.wanted.longest_pause)
            asked = reply.retry_after if isinstance(reply, ModelBusy) else None
            await asyncio.sleep(min(asked or pause, self.wanted.longest_pause))
        return None

    async def _call(self, page: str) -> Completion | ModelError:
        async with self._making:
            model = self._made = self._made or await self.model()
        try:
            async with asyncio.timeout(self.wanted.seconds):
                return await model.complete(_prompt(page, self.wanted))
        except TimeoutError:
            return ModelUnavailable("the model did not answer in time")
        except ModelError as error:
            return error

    async def _kept(self, key: str) -> tuple[str, ...] | None:
        try:
            found = await self.cache.get(key)
        except StorageError as error:
            log.warning("lines of documents are written anew: %s", error)
            return None
        return None if found is None else tuple(json.loads(found))

    async def _keep(self, key: str, lines: tuple[str, ...]) -> None:
        try:
            await self.cache.put(key, json.dumps(lines, ensure_ascii=False), self.wanted.kept)
        except StorageError as error:
            log.warning("lines of a document were not kept: %s", error)


def toward(rows: Matrix, lines: Matrix) -> Matrix:
    """The vectors of a document's chunks, the first one moved toward the mean of its `lines`."""
    if not len(lines) or not len(rows):
        return rows
    moved = rows.copy()
    moved[0] = _unit((1 - WEIGHT) * rows[0] + WEIGHT * _unit(lines.mean(axis=0)))
    return moved


def _unit(vector: Matrix) -> Matrix:
    return np.asarray(vector / max(float(np.linalg.norm(vector)), 1e-9), dtype=np.float32)


def _is_away(error: ModelError) -> bool:
    """Whether the next document would fare as this one did."""
    return not isinstance(error, ContextOverflow | ContentFiltered | ModelRefused | ReplyUnusable)


def _page(document: Document, characters: int) -> str:
    """What the model reads: title and text as they are indexed, secrets masked, planted orders
    left out."""
    pieces: list[str] = []
    for passage in document.passages:
        fields = without_orders(passage)
        if not pieces:
            pieces.append(label(fields.get("title", document.title)))
        pieces.append(" > ".join(fields.get("heading", passage.heading)))
        pieces.append(fields.get("text", passage.text))
    return "\n".join(filter(None, pieces))[:characters]


def _prompt(page: str, wanted: Wanted) -> Prompt:
    fence = fence_for([page])
    count = wanted.lines * len(wanted.languages)
    languages = ", ".join(language_name(language) for language in wanted.languages)
    return Prompt(
        purpose="expand",
        system=fill("expand", lines=wanted.lines, languages=languages),
        user=f"<<<PAGE {fence}>>>\n{page}\n<<<END {fence}>>>",
        max_tokens=count * _TOKENS_A_LINE,
        schema=_SCHEMA,
    )


def _lines(reply: Completion, most: int) -> tuple[str, ...]:
    found = (reply.data or {}).get("lines")
    items = found if isinstance(found, list) else []
    texts = [" ".join(item.split()) for item in items if isinstance(item, str)]
    good = [text for text in texts if has_words(text) and len(text) <= _LONGEST]
    return tuple(dict.fromkeys(good))[:most]
