"""What a pressed button does. Whoever presses is asked for access again, in the place they are."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime

from bot.access import Access
from bot.asking import Asking
from bot.buttons import Action, Press, parse
from bot.chat import Incoming, Place, Reply, question_id
from bot.curating import Curating
from bot.errors import StorageError
from bot.feedback import Feedback, FeedbackLog, Vote
from bot.hand_off import HandOff, cited_or_nearest
from bot.minutes import Minutes
from bot.ports import Conversation
from bot.posting import Posting
from bot.recall import Recall, Remembered, covers, room
from bot.reply import source_line
from bot.sessions import SessionTurn, drawn_from
from bot.source_types import Types
from bot.texts import language_of, text
from graph.machine import Finished
from graph.model import Answer, Language, Outcome, Question, Scope, Turn

_log = logging.getLogger(__name__)

_VOTES = {Action.UP: Vote.UP, Action.DOWN: Vote.DOWN}


@dataclass(frozen=True, slots=True)
class _Pressed:
    event: Incoming
    press: Press
    scope: Scope
    language: Language
    remembered: Remembered | None
    earlier: SessionTurn | None = None  # the question, where only the log knows of it

    @property
    def asked(self) -> str:
        if self.remembered is not None:
            return self.remembered.resolved
        return self.earlier.text if self.earlier is not None else ""


@dataclass(frozen=True, slots=True)
class _Anew:
    question: Question
    finished: Finished


class Pressing:
    """`web`: the button may search. `hand_off` says who is asked instead of the bot, `posting`
    shows private answers to a channel."""

    def __init__(
        self,
        asking: Asking,
        access: Access,
        feedback: FeedbackLog,
        recall: Recall,
        *,
        hand_off: HandOff,
        posting: Posting,
        curating: Curating | None = None,
        minutes: Minutes | None = None,
        web: bool,
        now: Callable[[], datetime],
    ) -> None:
        self._asking, self._access = asking, access
        self._feedback, self._recall = feedback, recall
        self._hand_off, self._posting = hand_off, posting
        self._web, self._now, self._curating = web, now, curating
        self._minutes = minutes

    async def __call__(self, event: Incoming, conversation: Conversation) -> None:
        """Raises StorageError, and what the conversation raises."""
        if self._curating is not None and await self._curating.pressed(event, conversation):
            return
        language = language_of("", event.language)
        press = parse(event.value)
        remembered = self._remembered(event, press)
        earlier = await self._earlier(event, press) if remembered is None else None
        if _is_private(press, remembered, earlier):
            event = replace(event, private=True)
        scope = await self._access.scope(event)
        if scope is None or press is None:
            key = "no_access" if scope is None else "unknown_button"
            await conversation.say(Reply(text(key, language), private=True))
            return
        if remembered is not None:
            language = remembered.answer.language
        elif earlier is not None:
            language = language_of(earlier.text, event.language)
        pressed = _Pressed(event, press, scope, language, remembered, earlier)
        if press.action is Action.POST:
            await self._posting(event, press, language, conversation)
        elif press.action is Action.WEB:
            await self._search(pressed, conversation)
        elif press.action in _VOTES:
            await conversation.say(await self._vote(pressed, _VOTES[press.action]))
        else:
            await self._tell(pressed, conversation)

    def _remembered(self, event: Incoming, press: Press | None) -> Remembered | None:
        """The answer, for those who saw it."""
        found = self._recall.answer(press.question_id, event.place) if press else None
        if found is None or found.asker not in ("", event.person.key):
            return None
        return found

    async def _earlier(self, event: Incoming, press: Press | None) -> SessionTurn | None:
        if press is None or self._minutes is None or press.action in (*_VOTES, Action.POST):
            return None
        try:
            found = await self._minutes.asked(event, press.question_id)
            if found is not None:
                await self._minutes.refresh(self._recall, _room(event, found))
        except StorageError as error:
            _log.warning("a question could not be looked up: %s", error)
            return None
        return found

    async def _tell(self, pressed: _Pressed, conversation: Conversation) -> None:
        """Tells of the answer, as it was or as it is found for those who may see less by now."""
        anew = await self._anew(pressed)
        remembered = pressed.remembered
        answer = remembered.answer if remembered else None
        reply = await self._reply(pressed, anew.finished.answer if anew else answer)
        private = reply.private or pressed.event.private
        try:
            await conversation.say(replace(reply, private=private))
        finally:
            if anew is not None:
                way = pressed.press.action.name.lower()
                await self._asking.audit(anew.finished, anew.question, pressed.event, way)

    async def _reply(self, pressed: _Pressed, answer: Answer | None) -> Reply:
        if pressed.press.action is Action.PERSON:
            return await self._hand_off.reply(
                pressed.event, pressed.asked, answer, pressed.language
            )
        if answer is None:
            return Reply(text("forgotten", pressed.language), private=True)
        if answer.outcome is Outcome.FAILED:
            return Reply(answer.text, private=True)
        return Reply(self._sources(answer), answer=answer)

    async def _vote(self, pressed: _Pressed, vote: Vote) -> Reply:
        """Stored also when the answer itself is forgotten: the id names it for ever."""
        person = pressed.event.person.key
        await self._feedback.save(Feedback(pressed.press.question_id, person, vote, self._now()))
        return Reply(text(f"voted_{vote}", pressed.language), private=True)

    async def _anew(self, pressed: _Pressed) -> _Anew | None:
        """The question asked again, unless all that the answer tells of may be seen here today."""
        remembered, scope = pressed.remembered, pressed.scope
        if remembered is None and pressed.earlier is None:
            return None
        if remembered is not None:
            documents = frozenset(drawn_from(remembered.answer))
            if covers(scope, remembered.scope) and documents == await self._asking.readable(
                documents, scope
            ):
                return None
        question = replace(await self._question(pressed), web_allowed=False)
        return _Anew(question, await self._asking.ask(question, None))

    async def _question(self, pressed: _Pressed) -> Question:
        """What was asked, for whoever presses now, of the documents that it was asked of."""
        known = pressed.remembered or pressed.earlier
        types = Types(known.scope.source_types or frozenset()) if known else Types(frozenset())
        scope = types.over(pressed.scope)
        history: tuple[Turn, ...] = ()
        if pressed.earlier is not None:
            place = _room(pressed.event, pressed.earlier)
            behind = self._recall.behind(place)
            history = self._recall.history(
                place,
                pressed.event.person,
                scope,
                None,
                closed=behind - await self._asking.readable(behind, scope),
                before=pressed.earlier.question_id,
            )
        return Question(pressed.asked, question_id(pressed.event), scope, history)

    def _sources(self, answer: Answer) -> str:
        shown = cited_or_nearest(answer)
        if not shown:
            return text("no_sources", answer.language)
        head = "sources" if answer.citations else "nearest"
        stale_days, now = self._asking.machine.policy.stale_days, self._now()
        lines = [f"- {source_line(item, answer.language, stale_days, now)}" for item in shown]
        return "\n".join([f"**{text(head, answer.language)}**", "", *lines])

    async def _search(self, pressed: _Pressed, conversation: Conversation) -> None:
        """Asks the same question again, of the web."""
        key = "" if self._web and self._asking.has_web else "web_off"
        if not pressed.asked:
            key = key or "forgotten"
        if key:
            await conversation.say(Reply(text(key, pressed.language), private=True))
            return
        question = replace(await self._question(pressed), scope=pressed.scope, web_first=True)
        await self._asking.answer(question, pressed.event, conversation)


def _is_private(
    press: Press | None, remembered: Remembered | None, earlier: SessionTurn | None
) -> bool:
    """Whether the button stands under a reply that only the asker sees."""
    posting = press is not None and press.action is Action.POST
    return (
        posting
        or (remembered is not None and bool(remembered.asker))
        or (earlier is not None and _is_own(earlier))
    )


def _is_own(turn: SessionTurn) -> bool:
    return turn.talk == f"{turn.person}:private"


def _room(event: Incoming, turn: SessionTurn) -> Place:
    """The conversation of the answer that a button stands under."""
    return room(replace(event, private=_is_own(turn)))
