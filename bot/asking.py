"""Puts a question to the machine, shows how it goes, and delivers the answer with its buttons."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from contextlib import aclosing
from hashlib import sha256

from bot import buttons, logs
from bot.chat import Incoming, Reply
from bot.places import Moves
from bot.ports import Conversation
from bot.recall import Exchange, Recall, Remembered
from bot.reply import to_markdown
from bot.texts import known, text
from graph.machine import Finished, Machine
from graph.model import Language, Question
from graph.state import Stage, Token
from graph.text import question_language
from graph.trace import Trace

_ID_DIGITS = 12

Keep = Callable[[Trace], Awaitable[None]]


def question_id(event: Incoming) -> str:
    """12 hexadecimal digits, the same for every attempt at the event."""
    return sha256(event.key.encode()).hexdigest()[:_ID_DIGITS]


class Asking:
    """`keep` stores the trace of each question, for `belay why`; `moves` knows where a place is
    by the time that it is answered."""

    def __init__(self, machine: Machine, recall: Recall, keep: Keep, moves: Moves) -> None:
        self.machine = machine
        self._recall, self._keep, self._moves = recall, keep, moves

    @property
    def has_web(self) -> bool:
        return self.machine.ports.web is not None and self.machine.policy.web

    async def answer(
        self,
        question: Question,
        event: Incoming,
        conversation: Conversation,
        *,
        before: Sequence[str] = (),
        after: Sequence[str] = (),
    ) -> None:
        """Asks, and delivers the answer between the notes `before` and `after` it.

        It is remembered before it is delivered: a button may be pressed at once, and an answer
        that the platform did not take is sent again without being asked for anew. Raises what
        `conversation.answer` raises.
        """
        finished = await self.ask(question, conversation)
        answer, place = finished.answer, self._moves.now(event.place)
        remembered = Remembered(
            place, finished.trace.resolved, question.scope, answer, finished.trace
        )
        self._recall.remember(question.id, remembered)
        exchange = Exchange(
            question.id, event.person.key, question.text, answer.text, question.scope
        )
        self._recall.add(place, exchange)
        shown = to_markdown(
            answer, stale_days=self.machine.policy.stale_days, now=question.scope.now
        )
        pieces = [*_noted(before), shown, *_noted(after)]
        web = self.has_web and question.web_allowed
        await conversation.answer(
            Reply(
                "\n\n".join(pieces),
                buttons.under(finished, web=web),
                answer,
            )
        )

    async def ask(self, question: Question, conversation: Conversation) -> Finished:
        """The machine's last event; its stages and tokens go to the conversation as they come."""
        language = question_language(question.text)
        finished: Finished | None = None
        so_far = ""
        with logs.question(question.id):
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
            await self._keep(finished.trace)
        return finished


def _noted(notes: Sequence[str]) -> list[str]:
    return [f"*{note}*" for note in notes]


async def _show(stage: Stage, language: Language, conversation: Conversation) -> None:
    key = f"stage_{stage.name}"
    if known(key):
        await conversation.progress(text(key, language))
