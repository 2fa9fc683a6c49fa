"""Has a question answered, shows how it goes, and delivers the answer with its buttons."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Sequence
from contextlib import aclosing
from dataclasses import replace
from enum import StrEnum
from functools import partial

from bot import buttons, logs
from bot.absent_types import naming_absent
from bot.answer_cache import AnswerCache
from bot.auditor import Auditor
from bot.chat import Incoming, Reply
from bot.meter import Meter, Silent
from bot.minutes import Minutes
from bot.places import Moves
from bot.ports import Conversation, Sources
from bot.recall import Exchange, Offer, Recall, Remembered, room
from bot.reply import to_markdown
from bot.runbooks import Runbooks
from bot.sessions import drawn_from
from bot.source_types import Types
from bot.texts import known, text
from graph.errors import StoreError
from graph.machine import Finished, Machine
from graph.model import Document, Language, Outcome, Question, Scope
from graph.state import Stage, Token
from graph.text import question_language
from graph.trace import Trace

Keep = Callable[[Trace], Awaitable[None]]

Readable = Callable[[Collection[Document], Scope], Awaitable[frozenset[Document]]]
"""Those of the documents that a scope may read now."""


class Way(StrEnum):
    """How a question is answered. The values are commands."""

    ASK = "ask"  # by the machine
    RUNBOOK = "runbook"  # by a document's name
    INCIDENT = "incident"  # by what happens


class Asking:
    """`keep` stores the trace of each question, for `belay why`; `moves` knows where a place is
    by the time that it is answered; `sources` lists what a scope may read; `auditor` writes down
    who asked, `minutes` what was said; `meter` counts; `answers` are those that need not be made
    again."""

    def __init__(
        self,
        machine: Machine,
        recall: Recall,
        keep: Keep,
        *,
        moves: Moves,
        sources: Sources,
        auditor: Auditor | None = None,
        minutes: Minutes | None = None,
        meter: Meter | None = None,
        answers: AnswerCache | None = None,
    ) -> None:
        self.machine, self._answers = machine, answers
        self._meter, self._sources = meter or Silent(), sources
        self._runbooks = Runbooks(machine)
        self._recall, self._keep, self._moves = recall, keep, moves
        self._auditor, self._minutes = auditor, minutes

    @property
    def has_web(self) -> bool:
        return self.machine.ports.web is not None and self.machine.policy.web

    async def readable(self, documents: Collection[Document], scope: Scope) -> frozenset[Document]:
        """Those of the documents that may be read today; none while the index cannot tell."""
        if not documents:
            return frozenset()
        try:
            return await self.machine.ports.retriever.readable(documents, scope)
        except StoreError:
            return frozenset()

    async def answer(
        self,
        question: Question,
        event: Incoming,
        conversation: Conversation,
        *,
        way: Way = Way.ASK,
        before: Sequence[str] = (),
        after: Sequence[str] = (),
    ) -> None:
        """Asks, and delivers the answer between the notes `before` and `after` it.

        Raises what `conversation.answer` raises.
        """
        finished = await self.ask(question, conversation, way)
        pieces = [*_noted(before), self.shown(finished, question), *_noted(after)]
        shown = "\n\n".join(pieces)
        try:
            await self.deliver(finished, question, event, conversation, way=way, shown=shown)
        finally:
            await self.audit(finished, question, event, way)

    async def audit(
        self, finished: Finished, question: Question, event: Incoming, way: str
    ) -> None:
        """Counts the question and writes down who asked. To be awaited when the answer has left:
        it may take a moment."""
        self._meter.answered(finished, question, event.place.platform)
        if self._auditor is not None:
            await self._auditor(finished, question, event.person, event.place, way)

    async def note(self, question: Question, event: Incoming, way: str, outcome: Outcome) -> None:
        """Counts and writes down what no search was made for; to be awaited like `audit`."""
        self._meter.noted(event.place.platform, outcome)
        if self._auditor is not None:
            await self._auditor.note(question, event.person, event.place, way, outcome)

    async def deliver(
        self,
        finished: Finished,
        question: Question,
        event: Incoming,
        conversation: Conversation,
        *,
        way: Way,
        shown: str,
    ) -> None:
        """Remembers the answer, then delivers it as `shown`: a button may be pressed at once, and
        an answer that the platform did not take is sent again without being asked for anew."""
        answer, trace = finished.answer, finished.trace
        asker = event.person.key
        event = replace(event, place=self._moves.now(event.place))
        remembered = Remembered(
            event.place,
            trace.resolved,
            question.scope,
            answer,
            trace,
            asker if event.private else "",
        )
        self._recall.remember(question.id, remembered)
        exchange = Exchange(
            question.id,
            asker,
            question.text,
            answer.text,
            question.scope,
            event.text,
            drawn_from(answer),
        )
        self._recall.add(room(event), exchange)
        if self._minutes is not None:
            await self._minutes.record(question, event, answer)
        post = event.private and event.place.kind != "private"
        if post:
            types = Types(question.scope.source_types or frozenset())
            line = f"/{way} {types.before(trace.resolved)}"
            self._recall.offer(question.id, Offer(event.place, asker, line))
        web = self.has_web and question.web_allowed and way is Way.ASK
        under = buttons.under(finished, web=web, post=post)
        await conversation.answer(Reply(shown, under, answer, private=event.private))

    def shown(self, finished: Finished, question: Question) -> str:
        stale_days = self.machine.policy.stale_days
        return to_markdown(finished.answer, stale_days=stale_days, now=question.scope.now)

    async def ask(
        self, question: Question, conversation: Conversation | None, way: Way = Way.ASK
    ) -> Finished:
        """The answer. Stages and tokens go to the conversation, if there is one, as they come."""
        with logs.question(question.id):
            match way:
                case Way.RUNBOOK:
                    finished = await self._runbooks.by_name(question)
                case Way.INCIDENT:
                    finished = await self._runbooks.by_symptom(question)
                case _:
                    finished = await self._made_once(question, conversation)
            finished = await naming_absent(finished, question.scope, self._sources)
            await self._keep(finished.trace)
        return finished

    async def _made_once(self, question: Question, conversation: Conversation | None) -> Finished:
        """The answer that others of this audience got a moment ago, or a new one."""
        make = partial(self._made, question, conversation)
        return await (self._answers.once(question, make) if self._answers else make())

    async def _made(self, question: Question, conversation: Conversation | None) -> Finished:
        if conversation is None:
            return await self.machine.answer(question)
        return await self._streamed(question, conversation)

    async def _streamed(self, question: Question, conversation: Conversation) -> Finished:
        language = question_language(question.text)
        finished: Finished | None = None
        so_far = ""
        async with aclosing(self.machine.ask(question)) as events:
            async for event in events:
                if isinstance(event, Stage):
                    await _show(event, language, conversation)
                elif isinstance(event, Token):
                    so_far += event.text
                    await conversation.stream(so_far)
                else:
                    finished = event
        assert finished is not None  # the machine ends in Finished, whatever breaks
        return finished


def _noted(notes: Sequence[str]) -> list[str]:
    return [f"*{note}*" for note in notes]


async def _show(stage: Stage, language: Language, conversation: Conversation) -> None:
    key = f"stage_{stage.name}"
    if known(key):
        await conversation.progress(text(key, language))
