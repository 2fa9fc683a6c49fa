"""What agents may look up: passages for a query, and whole documents by id, within a policy.

The policy is a scope and the names of sources; it comes from the settings and never from a
client. What lies outside of it is answered like what does not exist.
"""

from __future__ import annotations

import json
import time
import uuid
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime
from typing import Any, Protocol

from bot.app import App
from bot.auditor import Auditor
from bot.chat import Person, Place
from bot.ingest.secrets import hidden
from bot.mcp_settings import McpSettings
from bot.narrowed import Narrowed
from bot.search import (
    Hit,
    SearchBounds,
    document_id,
    documents_of,
    hits,
    near,
    whole,
)
from bot.settings import Settings
from bot.source_types import DOCUMENT_TYPES
from graph.errors import IndexEmpty
from graph.followup import cut
from graph.machine import Machine
from graph.model import (
    Document,
    Outcome,
    Passage,
    Question,
    Ranked,
    Scope,
    SourceType,
    levels_up_to,
)

_LONGEST_ID = 1024  # characters; a path in a source is shorter
_ROOM = 1024  # bytes kept free for what a protocol adds around a result


@dataclass(frozen=True, slots=True)
class ReadPolicy:
    """What a client may read. Without `sources`, all that the scope admits."""

    scope: Scope
    sources: frozenset[str] = frozenset()

    @classmethod
    def of(cls, settings: Settings) -> ReadPolicy:
        """Raises SettingsError for a level that is not on the ladder."""
        chosen, access = settings.mcp, settings.access
        scope = Scope(
            tenant=access.tenant,
            levels=levels_up_to(access.chosen(chosen.level or access.levels[0]), access.levels),
            labels=frozenset(chosen.labels),
            source_types=frozenset(chosen.types or DOCUMENT_TYPES),
        )
        return cls(scope, frozenset(chosen.sources))

    def now(self, source_type: SourceType | None = None) -> Scope:
        """The scope at this moment, narrowed to one type; never wider than the policy."""
        types = self.scope.source_types or frozenset(DOCUMENT_TYPES)
        if source_type is not None:
            types &= {source_type}
        return replace(self.scope, now=datetime.now(UTC), source_types=types)


@dataclass(frozen=True, slots=True)
class Client:
    """Who asks, as it calls itself, and the way it came ("stdio", "http")."""

    name: str = ""
    way: str = "stdio"


@dataclass(frozen=True, slots=True)
class Page:
    """A part of a document, in characters. `next_offset` is None at its end."""

    id: str
    source: str
    source_type: SourceType
    title: str
    url: str
    text: str
    offset: int = 0
    total: int = 0
    next_offset: int | None = None


@dataclass(frozen=True, slots=True)
class Results:
    """`left_out`: passages that would have made the result too large."""

    hits: tuple[Hit, ...] = ()
    left_out: int = 0


class Lookup(Protocol):
    """What a server for agents offers. Both raise GraphError, TimeoutError."""

    async def query(
        self, text: str, client: Client, *, source_type: SourceType | None, count: int | None
    ) -> Results: ...

    async def document(self, name: str, client: Client, *, offset: int) -> Page | None:
        """The page of a document from `offset`; None for an id that cannot be read."""


@dataclass(frozen=True, slots=True)
class Knowledge(Lookup):
    """The documents of an application, within `policy`, with every call in the audit."""

    machine: Machine
    policy: ReadPolicy
    auditor: Auditor
    options: McpSettings = field(default_factory=McpSettings)
    bounds: SearchBounds = field(default_factory=SearchBounds)

    @classmethod
    def of(cls, app: App, auditor: Auditor) -> Knowledge:
        policy, machine = ReadPolicy.of(app.settings), app.machine
        if policy.sources:
            ports = replace(machine.ports, retriever=Narrowed(app.index, policy.sources))
            machine = Machine(ports, machine.policy, machine.limits)
        return cls(machine, policy, auditor, app.settings.mcp)

    async def query(
        self, text: str, client: Client, *, source_type: SourceType | None, count: int | None
    ) -> Results:
        started = time.perf_counter()
        scope = self.policy.now(source_type)
        question = _question(cut(text, self.machine.limits.question_characters), scope)
        try:
            found = await self.machine.search(question.text, scope)
        except IndexEmpty:
            ranked: tuple[Ranked, ...] = ()
        except Exception:
            await self._audit(question, client, "query_knowledge", Outcome.FAILED)
            raise
        else:
            wanted = min(count or self.options.passages, self.bounds.most)
            ranked = near(found, self.machine.policy, wanted)
        results = self._within(hits(ranked, self.bounds))
        outcome = Outcome.ANSWERED if ranked else Outcome.NOT_FOUND
        elapsed = (time.perf_counter() - started) * 1000
        shown = ranked[: len(results.hits)]
        await self._audit(
            question, client, "query_knowledge", outcome, ranked=shown, milliseconds=elapsed
        )
        return results

    async def document(self, name: str, client: Client, *, offset: int) -> Page | None:
        scope = self.policy.now()
        question = _question(name[:_LONGEST_ID], scope)
        try:
            passages = await self._passages(name, scope)
        except Exception:
            await self._audit(question, client, "get_document", Outcome.FAILED)
            raise
        outcome = Outcome.ANSWERED if passages else Outcome.NOT_FOUND
        await self._audit(question, client, "get_document", outcome)
        return self._page(passages, max(offset, 0)) if passages else None

    async def _passages(self, name: str, scope: Scope) -> tuple[Passage, ...]:
        documents = documents_of(name) if len(name) <= _LONGEST_ID else ()
        if not documents:
            return ()
        retriever = self.machine.ports.retriever
        for document in sorted(await retriever.readable(documents, scope)):
            return tuple(await retriever.document(_of(document), scope))
        return ()

    def _page(self, passages: tuple[Passage, ...], offset: int) -> Page:
        first, text = passages[0], whole(passages)
        page = Page(
            id=document_id((first.source, first.document)),
            source=first.source,
            source_type=first.source_type,
            title=first.title,
            url=first.uri or first.document,
            text="",
            offset=offset,
            total=len(text),
        )
        end = self._fitting(page, text, offset)
        later = end if end < len(text) else None
        return replace(page, text=text[offset:end], next_offset=later)

    def _fitting(self, page: Page, text: str, offset: int) -> int:
        """The largest end of a page that a result has room for, by halving."""
        low, high = offset, len(text)
        if offset >= high:
            return offset
        if self._fits(asdict(replace(page, text=text[offset:]))):
            return high
        while high - low > 1:
            middle = (low + high) // 2
            fits = self._fits(asdict(replace(page, text=text[offset:middle], next_offset=middle)))
            low, high = (middle, high) if fits else (low, middle)
        return max(low, offset + 1)

    def _within(self, found: tuple[Hit, ...]) -> Results:
        kept = found
        while kept and not self._fits({"results": [asdict(hit) for hit in kept]}):
            kept = kept[:-1]
        return Results(kept, len(found) - len(kept))

    def _fits(self, value: Mapping[str, Any]) -> bool:
        """A result travels twice: as a structure, and as text with that structure in it."""
        plain = json.dumps(value, ensure_ascii=False)
        quoted = json.dumps(json.dumps(value, ensure_ascii=False, indent=2), ensure_ascii=False)
        size = len(plain.encode("utf-8", "replace")) + len(quoted.encode("utf-8", "replace"))
        return size <= self.options.result_bytes - _ROOM

    async def _audit(
        self,
        question: Question,
        client: Client,
        way: str,
        outcome: Outcome,
        *,
        ranked: tuple[Ranked, ...] = (),
        milliseconds: float = 0.0,
    ) -> None:
        await self.auditor.looked_up(
            question,
            person=Person("mcp", client.name or "client"),
            place=Place("mcp", client.way),
            way=way,
            ranked=ranked,
            outcome=outcome,
            milliseconds=milliseconds,
        )


def _question(text: str, scope: Scope) -> Question:
    return Question(hidden(text), uuid.uuid4().hex[:12], scope, web_allowed=False)


def _of(document: Document) -> Passage:
    """Stands for a document by its place alone."""
    source, path = document
    return Passage("", source, SourceType.FOLDER, path, "", (), "", "")
