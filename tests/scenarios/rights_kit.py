"""A company with random people, channels and documents, and everything that the bot shows of it.

Each document holds a code that stands nowhere else: whoever sees the code saw the document.
"""

from __future__ import annotations

import logging
import tempfile
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

from adapters.memory.conversation import MemoryConversation
from adapters.memory.embedder import HashEmbedder
from adapters.memory.feedback import MemoryFeedback
from adapters.memory.index import MemoryIndex
from adapters.memory.roll import MemoryRoll
from adapters.memory.sessions import MemorySessions
from bot import logs
from bot.access import Access as Gate
from bot.answering import Answering
from bot.audience import Directory, PlaceRule, Reader
from bot.buttons import Action, value_of
from bot.chat import Incoming, Kind, Person, Place
from bot.ingest.refresh import refresh
from bot.ingest.sessions import index_sessions
from bot.ingest.sync import sync
from bot.minutes import Minutes
from bot.ports import Skipped, Source, SourceFile
from bot.readable_sources import readable_sources
from graph.machine import Machine
from graph.model import LEVELS, Access, Answer, SourceType, in_common
from graph.ports import Ports
from graph.trace import Trace

PLATFORM = "slack"
NOW = datetime(2026, 6, 15, 3, 0, tzinfo=UTC)
TOPICS = ("vpn gateway token", "salary band amounts", "backup retention days", "gate door code")


@dataclass(frozen=True, slots=True)
class Page:
    """A document about a topic; `code` is what only it holds."""

    code: str
    topic: str
    access: Access

    @property
    def file(self) -> SourceFile:
        rule = self.access
        lines = [
            "---",
            f"title: The {self.topic} {self.code}",
            f"owner: owner-{self.code}",
            f"tenant: {rule.tenant}",
            f"audience: {rule.audience}",
            f"labels: [{', '.join(sorted(rule.labels))}]",
            f"status: {rule.status}",
            *([f"effective_from: {rule.effective_from}"] if rule.effective_from else []),
            *([f"effective_until: {rule.effective_until}"] if rule.effective_until else []),
            "---",
            f"# The {self.topic} {self.code}",
            "",
            f"The {self.topic} is kept by the team {self.code}. Ask for {self.code} at night.",
        ]
        return SourceFile(f"{self.code}/page-{self.code}.md", "\n".join(lines).encode())

    def open_to(self, readers: Sequence[Reader], now: datetime = NOW) -> bool:
        """The rule in other words than the product's: everybody who reads passes it alone."""
        rule = self.access
        return bool(readers) and all(
            not reader.guest
            and reader.tenant == rule.tenant
            and LEVELS.index(reader.level) >= LEVELS.index(rule.audience)
            and in_common(reader.labels, rule.labels)
            and rule.status == "published"
            and (rule.effective_from is None or rule.effective_from <= now)
            and (rule.effective_until is None or rule.effective_until > now)
            for reader in readers
        )


class Shelf(Source):
    """One collection a tenant, named after its first code: its name is a secret as well."""

    def __init__(self, name: str, pages: Sequence[Page]) -> None:
        self._name, self._pages = name, pages

    @property
    def name(self) -> str:
        return self._name

    @property
    def kind(self) -> SourceType:
        return SourceType.FOLDER

    async def files(self) -> AsyncIterator[SourceFile | Skipped]:
        for page in self._pages:
            yield page.file

    def uri(self, path: str, line: int) -> str:
        return f"{path}#L{line}"


@dataclass(frozen=True, slots=True)
class Ask:
    """Somebody's question in a channel (""  for a private chat); `share`: asked for their own eyes
    and then posted. `joins`: somebody who becomes a member of the channel before it is asked."""

    who: str
    channel: str
    topic: str
    share: bool = False
    joins: str = ""


@dataclass
class Company:
    people: Mapping[str, Reader]
    members: dict[str, list[str]]  # of channels
    pages: Sequence[Page]
    traces: list[Trace] = field(default_factory=list)
    messages: int = 0
    now: datetime = NOW

    async def opens(self, folder: Path) -> None:
        self.index, self.said, self.log = MemoryIndex(), MemoryIndex(), MemorySessions()
        self.words, self.folder = HashEmbedder(), folder
        for page in self.pages:
            await self._shelves(page)
        await refresh(self.index, self.words, self.words)
        ports = Ports(self.index, self.words, self.words, sessions=self.said)
        self.places: dict[str, PlaceRule] = {}
        people = {f"{PLATFORM}:{name}": reader for name, reader in self.people.items()}
        roll = MemoryRoll()
        self.bot = Answering(
            Machine(ports, now=self._clock),
            Gate(roll, frozenset(), directory=Directory(people, self.places), now=self._clock),
            roll,
            MemoryFeedback(),
            keep=self._keep,
            minutes=Minutes(self.log, index=self.said),
            sources=partial(readable_sources, self.index),
            now=self._clock,
        )

    async def _shelves(self, page: Page) -> None:
        """Reads the page into a collection of its own."""
        shelf, lock = Shelf(f"shelf-{page.code}", [page]), self.folder / f"{page.code}.lock"
        await sync(shelf, self.index, self.words, lock=lock)

    async def changes(self, page: Page) -> None:
        """The page in place of the one with the same code: other rights, for example."""
        self.pages = [page if item.code == page.code else item for item in self.pages]
        await self._shelves(page)
        await refresh(self.index, self.words, self.words)

    def _clock(self) -> datetime:
        return self.now

    async def _keep(self, trace: Trace) -> None:
        self.traces.append(trace)

    async def plays(self, ask: Ask) -> list[str]:
        """Everything that the audience of the question could see of it, and the log."""
        await self._meets(ask)
        with _logged() as lines:
            seen = await (self._shared(ask) if ask.share else self._asked(ask))
        return [*seen, *lines]

    async def hears(self, ask: Ask, text: str) -> MemoryConversation:
        """What one message gets; `ask` says who writes it and where."""
        await self._meets(ask)
        return await self._event(ask, Kind.QUESTION, text=text)

    async def presses(self, ask: Ask, action: Action, answer: Answer) -> MemoryConversation:
        value = value_of(action, answer.question_id)
        return await self._event(ask, Kind.PRESS, value=value)

    async def _meets(self, ask: Ask) -> None:
        """Who joins is there, and what was said is findable."""
        if ask.joins and ask.channel:
            self.members[ask.channel].append(ask.joins)
        for name, who in self.members.items():
            keys = tuple(f"{PLATFORM}:{one}" for one in who)
            self.places[f"{PLATFORM}:{name}"] = PlaceRule(members=keys)
        lock = self.folder / "sessions.lock"
        await index_sessions(self.log, self.said, self.words, self.words, lock=lock)
        self.traces.clear()

    async def _asked(self, ask: Ask) -> list[str]:
        question = f"where is the {ask.topic}?"
        heard = await self._event(ask, Kind.QUESTION, text=question)
        seen = _texts_of(heard)
        for answer in [reply.answer for reply in heard.answers if reply.answer]:
            for action in (Action.SOURCES, Action.PERSON):
                seen += _texts_of(await self.presses(ask, action, answer))
        later = ("/why", "/sources", f"/runbook {ask.topic}", f"/incident the {ask.topic} is gone")
        for text in (*later, "and who keeps it?"):
            seen += _texts_of(await self._event(ask, Kind.QUESTION, text=text))
        return [*seen, *_texts([trace.to_json() for trace in self.traces])]

    async def _shared(self, ask: Ask) -> list[str]:
        question = f"where is the {ask.topic}?"
        heard = await self._event(ask, Kind.QUESTION, text=question, private=True)
        seen: list[str] = []
        for answer in [reply.answer for reply in heard.answers if reply.answer]:
            posted = await self.presses(ask, Action.POST, answer)
            public = MemoryConversation()
            public.answers = [reply for reply in posted.answers if not reply.private]
            public.said = [reply for reply in posted.said if not reply.private]
            seen += _texts_of(public)
        return seen

    async def _event(self, ask: Ask, kind: Kind, **values: Any) -> MemoryConversation:
        self.messages += 1
        person = Person(PLATFORM, ask.who)
        place = Place(
            PLATFORM, ask.channel or f"D{ask.who}", "channel" if ask.channel else "private"
        )
        event = Incoming(kind, place, person, str(self.messages), at=self.now, **values)
        conversation = MemoryConversation()
        await self.bot(event, conversation, 1, late=False)
        return conversation

    def closed(self, ask: Ask) -> list[str]:
        """The codes that the audience of the question may not see."""
        names = {ask.who, *(self.members[ask.channel] if ask.channel else ())}
        readers = [self.people[name] for name in sorted(names)]
        return [page.code for page in self.pages if not page.open_to(readers, self.now)]


def _texts_of(heard: MemoryConversation) -> list[str]:
    answers = [asdict(reply.answer) for reply in heard.answers if reply.answer]
    return [heard.shown, *_texts(answers)]


def _texts(value: Any) -> list[str]:
    if isinstance(value, str):
        return [value]
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, list | tuple | set | frozenset):
        return [text for item in value for text in _texts(item)]
    return []


class _Lines(logging.Handler):
    def __init__(self) -> None:
        super().__init__(logging.DEBUG)
        self.lines: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.lines.append(logs.TextFormatter().format(record))


@contextmanager
def _logged() -> Iterator[list[str]]:
    handler, loggers = _Lines(), [logging.getLogger(name) for name in logs.OURS]
    before = [logger.level for logger in loggers]
    for logger in loggers:
        logger.addHandler(handler)
        logger.setLevel(logging.DEBUG)
    try:
        yield handler.lines
    finally:
        for logger, level in zip(loggers, before, strict=True):
            logger.removeHandler(handler)
            logger.setLevel(level)


@contextmanager
def scratch_folder() -> Iterator[Path]:
    with tempfile.TemporaryDirectory() as folder:
        yield Path(folder)
