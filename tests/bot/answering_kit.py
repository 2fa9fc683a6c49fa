"""People and places around the handler, without a platform.

bot = Bot(machine)
seen = await bot.says(ANN, "which port does billing use?")
seen.answers[0].markdown
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from typing import Any

from adapters.memory.conversation import MemoryConversation
from adapters.memory.embedder import HashEmbedder
from adapters.memory.feedback import MemoryFeedback
from adapters.memory.index import MemoryIndex
from adapters.memory.roll import MemoryRoll
from bot.access import Access, Grant, place_key
from bot.answering import Answering
from bot.chat import Incoming, Kind, Person, Place, Quote
from bot.commands.call import Sources
from bot.ports import SourceRecord
from graph.machine import Machine
from graph.model import Document, Passage, Scope, SourceType
from graph.ports import Candidate, Ports, Retriever, Search
from graph.profile import Profile
from graph.trace import Trace

ANN = Person("telegram", "1", "Ann")
BORIS = Person("telegram", "2", "Boris")
BOSS = Person("telegram", "9", "Boss")
STRANGER = Person("telegram", "777", "Mallory")
GROUP = Place("telegram", "-100", "group", title="ops")
OTHER_GROUP = Place("telegram", "-999", "group", title="elsewhere")
NOW = datetime(2026, 3, 2, 3, 0, tzinfo=UTC)


def private(person: Person) -> Place:
    return Place(person.platform, person.id)


class Watched(Retriever):
    """An index that counts how often anything is asked of it."""

    def __init__(self, index: Retriever) -> None:
        self._index = index
        self.calls = 0

    async def profile(self) -> Profile:
        self.calls += 1
        return await self._index.profile()

    async def search(self, search: Search, scope: Scope) -> Sequence[Candidate]:
        self.calls += 1
        return await self._index.search(search, scope)

    async def mentioned(self, terms: Sequence[str], scope: Scope) -> frozenset[str]:
        self.calls += 1
        return await self._index.mentioned(terms, scope)

    async def document(self, passage: Passage, scope: Scope) -> Sequence[Passage]:
        self.calls += 1
        return await self._index.document(passage, scope)

    async def readable(self, documents: Collection[Document], scope: Scope) -> frozenset[Document]:
        self.calls += 1
        return await self._index.readable(documents, scope)


def empty_machine() -> Machine:
    """A machine without documents: it says so to every question."""
    words = HashEmbedder()
    return Machine(Ports(Watched(MemoryIndex()), words, words), now=lambda: NOW)


@dataclass
class Bot:
    """The handler with its memory stores. Boss is admin by the settings, nobody else is let in."""

    machine: Machine = field(default_factory=empty_machine)
    options: dict[str, Any] = field(default_factory=dict)
    now: datetime = NOW
    traces: list[Trace] = field(default_factory=list)
    roll: MemoryRoll = field(default_factory=MemoryRoll)
    feedback: MemoryFeedback = field(default_factory=MemoryFeedback)
    admins: frozenset[str] = frozenset({BOSS.key})
    records: tuple[SourceRecord, ...] = (SourceRecord("runbooks", SourceType.FOLDER, "/srv/x"),)
    sources: Sources | None = None  # in place of the records
    messages: int = 0

    def __post_init__(self) -> None:
        self.access = Access(self.roll, self.admins, now=lambda: self.now)
        self.handler = Answering(
            self.machine,
            self.access,
            self.roll,
            self.feedback,
            keep=self._keep,
            sources=self.sources or self._sources,
            now=lambda: self.now,
            **self.options,
        )

    async def _keep(self, trace: Trace) -> None:
        self.traces.append(trace)

    async def _sources(self, scope: Scope) -> Sequence[SourceRecord]:
        return self.records

    async def let_in(self, who: Person | Place, level: str = "staff", admin: bool = False) -> None:
        key = who.key if isinstance(who, Person) else place_key(who)
        await self.roll.save(Grant(key, level, admin))

    async def says(
        self,
        person: Person,
        text: str,
        place: Place | None = None,
        *,
        quote: str = "",
        attachments: tuple[str, ...] = (),
        late: timedelta | None = None,
        language: str = "en",
        addressed: bool = True,
        secretly: bool = False,
        context: Sequence[str | Quote] = (),
    ) -> MemoryConversation:
        """`secretly`: by a slash command whose answer nobody else sees."""
        event = replace(
            self._event(Kind.QUESTION, person, place, language),
            text=text,
            quote=Quote(quote) if quote else None,
            attachments=attachments,
            addressed=addressed,
            at=self.now - (late or timedelta()),
            private=secretly,
            context=tuple(Quote(item) if isinstance(item, str) else item for item in context),
        )
        return await self.handled(event, late=late is not None)

    async def presses(
        self, person: Person, value: str, place: Place | None = None, language: str = "en"
    ) -> MemoryConversation:
        event = self._event(Kind.PRESS, person, place, language)
        return await self.handled(replace(event, value=value))

    async def happens(self, kind: Kind, person: Person, place: Place) -> MemoryConversation:
        return await self.handled(self._event(kind, person, place, "en"))

    async def moves(self, place: Place, new_id: str) -> None:
        event = self._event(Kind.MOVED, ANN, place, "en")
        await self.handler.moved(replace(event, moved_to=new_id))

    async def handled(self, event: Incoming, *, late: bool = False) -> MemoryConversation:
        conversation = MemoryConversation()
        await self.handler(event, conversation, 1, late=late)
        return conversation

    def _event(self, kind: Kind, person: Person, place: Place | None, language: str) -> Incoming:
        self.messages += 1
        where = place or private(person)
        return Incoming(kind, where, person, str(self.messages), at=self.now, language=language)


def value(seen: MemoryConversation, letter: str) -> str:
    """The value of the button with this letter under the answer."""
    found = [
        button.value
        for reply in seen.answers
        for button in reply.buttons
        if button.value.startswith(f"{letter}:")
    ]
    assert found, f"no button {letter!r} under {seen.shown!r}"
    return found[0]
