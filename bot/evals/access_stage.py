"""The whole bot before the people of a case: what each of them is shown, and what is logged."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator, Collection, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import asdict, dataclass, field, replace
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Any

from bot import logs
from bot.access import Access
from bot.answering import Answering
from bot.app import App
from bot.audience import Directory, PlaceRule
from bot.buttons import Action, value_of
from bot.chat import Incoming, Kind, Person, Place, Reply
from bot.evals.access_cases import Case, Member
from bot.evals.access_sessions import indexed_sessions
from bot.evals.run import SOURCE, CountedWeb, scratch
from bot.feedback import FeedbackLog
from bot.ports import Conversation
from bot.progress import Progress
from bot.readable_sources import readable_sources
from bot.registry import factory
from bot.settings import Settings
from graph.machine import Machine
from graph.model import Answer, Document, Outcome, Passage, Scope, SourceType
from graph.ports import Candidate, Retriever, Search
from graph.profile import Profile
from graph.trace import Trace

PLATFORM = "eval"


class Heard(Conversation):
    """Keeps whatever is shown. `public` leaves out what only the asker sees."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.replies: list[Reply] = []

    async def progress(self, stage: str) -> None:
        self.lines.append(stage)

    async def stream(self, markdown: str) -> None:
        self.lines.append(markdown)

    async def answer(self, reply: Reply) -> None:
        self.replies.append(reply)

    async def say(self, reply: Reply) -> None:
        self.replies.append(reply)

    @property
    def answers(self) -> list[Answer]:
        return [reply.answer for reply in self.replies if reply.answer is not None]

    def public(self) -> Heard:
        seen = Heard()
        seen.replies = [reply for reply in self.replies if not reply.private]
        return seen

    def texts(self) -> list[str]:
        """Every text, and every text inside the answers: passages and places of sources, too."""
        values = [asdict(answer) for answer in self.answers]
        shown = [reply.markdown for reply in self.replies]
        labels = [button.label for reply in self.replies for button in reply.buttons]
        return [*self.lines, *shown, *labels, *_texts(values)]


class Earlier(Retriever):
    """Earlier conversations, as far as they were held when a question is asked."""

    def __init__(self, sessions: Retriever) -> None:
        self._sessions = sessions

    async def profile(self) -> Profile:
        return await self._sessions.profile()

    async def search(self, search: Search, scope: Scope) -> Sequence[Candidate]:
        found = await self._sessions.search(search, scope)
        return [item for item in found if _before(item.passage, scope)]

    async def mentioned(self, terms: Sequence[str], scope: Scope) -> frozenset[str]:
        return await self._sessions.mentioned(terms, scope)

    async def document(self, passage: Passage, scope: Scope) -> Sequence[Passage]:
        found = await self._sessions.document(passage, scope)
        return [item for item in found if _before(item, scope)]

    async def readable(self, documents: Collection[Document], scope: Scope) -> frozenset[Document]:
        return await self._sessions.readable(documents, scope)


def _before(passage: Passage, scope: Scope) -> bool:
    return passage.updated_at is not None and passage.updated_at < scope.now


@dataclass(frozen=True, slots=True)
class Seen:
    """What came of a case: texts in which nothing hidden may stand, and the answer if any."""

    outcome: Outcome
    shown: str
    cited: tuple[str, ...]
    texts: tuple[str, ...]


@dataclass(slots=True)
class Stage:
    """`home` holds what people do with answers; nothing of it matters for the next case."""

    app: App
    machine: Machine
    home: Path
    now: datetime | None = None
    traces: list[Trace] = field(default_factory=list)

    async def play(self, case: Case) -> Seen:
        """Asks as the case says, looks at everything there is to be seen afterwards."""
        self.now = case.at
        self.traces.clear()
        bot = await self._bot(case)
        with _logged() as lines:
            heard = await (self._shared(bot, case) if case.share else self._asked(bot, case))
        texts = [*heard.texts(), *lines]
        if not case.share:  # the trace of a private answer is the asker's own
            texts += _texts([trace.to_json() for trace in self.traces])
        answer = heard.answers[-1] if heard.answers else None
        return Seen(
            answer.outcome if answer else Outcome.NOT_FOUND,
            "\n".join(reply.markdown for reply in heard.replies[:1]),
            tuple(_cited(answer)) if answer else (),
            tuple(texts),
        )

    async def _asked(self, bot: Answering, case: Case) -> Heard:
        """The question; then why, the sources, and the button below the answer."""
        heard = Heard()
        event = _event(case, Kind.QUESTION, "1", text=case.question)
        await bot(event, heard, 1, late=False)
        later = [
            _event(case, Kind.PRESS, answer.question_id, value=value_of(action, answer.question_id))
            for answer in heard.answers
            for action in (Action.SOURCES, Action.PERSON)
        ]
        for text in ("/why", "/sources", f"/runbook {case.question}"):
            later.append(_event(case, Kind.QUESTION, text.partition(" ")[0], text=text))
        for event in later:
            beside = Heard()
            await bot(event, beside, 1, late=False)
            heard.lines += beside.texts()
        return heard

    async def _shared(self, bot: Answering, case: Case) -> Heard:
        """What the others see once the asker posts a private answer to them."""
        heard = Heard()
        event = _event(case, Kind.QUESTION, "1", text=case.question, private=True)
        await bot(event, heard, 1, late=False)
        posted = Heard()
        for answer in heard.answers:
            value = value_of(Action.POST, answer.question_id)
            await bot(_event(case, Kind.PRESS, "2", value=value), posted, 1, late=False)
        return posted.public()

    async def _bot(self, case: Case) -> Answering:
        roll = factory("roll.sqlite")(self.home / "access.db")
        feedback: FeedbackLog = factory("feedback.sqlite")(self.home / "feedback.db")
        levels = self.app.settings.access.levels
        access = Access(roll, frozenset(), directory=directory(case, levels), now=self._at)
        return Answering(
            self.machine,
            access,
            roll,
            feedback,
            keep=self._keep,
            sources=partial(readable_sources, self.app.index),
            web=False,
            now=self._at,
        )

    async def _keep(self, trace: Trace) -> None:
        self.traces.append(trace)

    def _at(self) -> datetime:
        assert self.now is not None  # set before anything is asked
        return self.now


@asynccontextmanager
async def staged(settings: Settings, folder: Path, progress: Progress) -> AsyncIterator[Stage]:
    """A stage over the documents and the earlier conversations of `folder`. Raises BotError."""
    async with (
        scratch(settings, folder / "docs", CountedWeb(), progress) as app,
        indexed_sessions(app, folder, progress) as sessions,
    ):
        ports = app.machine.ports
        if sessions is not None:
            ports = replace(ports, sessions=Earlier(sessions))
        stage = Stage(app, app.machine, settings.home / "eval")
        stage.machine = Machine(ports, settings.policy(), settings.limit_values())
        yield stage


def directory(case: Case, levels: Sequence[str]) -> Directory:
    """The people of the case, and its place with its members."""
    members: tuple[Member, ...] = (case.asker, *case.place.members)
    people = {f"{PLATFORM}:{member.name}": member.reader for member in members}
    keys = tuple(f"{PLATFORM}:{member.name}" for member in case.place.members)
    rule = PlaceRule(members=keys)
    return Directory(people, {f"{PLATFORM}:{case.place.id}": rule}, levels=tuple(levels))


def _event(case: Case, kind: Kind, number: str, **values: Any) -> Incoming:
    guest = case.asker.reader.guest
    person = Person(PLATFORM, case.asker.name, outsider=guest)
    place = Place(PLATFORM, case.place.id, "private" if case.place.private else "channel")
    return Incoming(
        kind, place, person, f"{case.id}-{number}", at=case.at, language=case.lang, **values
    )


def _cited(answer: Answer) -> Iterator[str]:
    for citation in answer.citations:
        passage = citation.passage
        if passage.source_type is SourceType.SESSION:
            yield f"session:{passage.document.split('#')[0]}"
        elif passage.source == SOURCE:
            yield passage.document


def _texts(value: Any) -> Iterator[str]:
    """Every text inside a value. Figures are none: their digits mean nothing."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for item in value.values():
            yield from _texts(item)
    elif isinstance(value, list | tuple | set | frozenset):
        for item in value:
            yield from _texts(item)


class _Lines(logging.Handler):
    def __init__(self) -> None:
        super().__init__(logging.DEBUG)
        self.setFormatter(logs.TextFormatter())
        self.addFilter(logs.Redaction())
        self.lines: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.lines.append(self.format(record))


@contextmanager
def _logged() -> Iterator[list[str]]:
    """The log lines of a stretch of work, at the level that tells most."""
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
