"""What a pressed button does. Whoever presses is asked for access again, in the place they are."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

from bot.access import Access
from bot.asking import Asking, question_id
from bot.buttons import Action, Press, parse
from bot.chat import Incoming, Reply
from bot.feedback import Feedback, FeedbackLog, Vote
from bot.ports import Conversation
from bot.recall import Recall, Remembered, covers, owners
from bot.reply import source_line
from bot.texts import language_of, literal, text
from graph.model import Answer, Citation, Language, Question, Scope

_VOTES = {Action.UP: Vote.UP, Action.DOWN: Vote.DOWN}
_PEOPLE = 5  # owners named


@dataclass(frozen=True, slots=True)
class _Pressed:
    event: Incoming
    press: Press
    scope: Scope
    language: Language
    remembered: Remembered | None


class Pressing:
    """`contact` is who can always be asked, from the settings; `web`: the button may search."""

    def __init__(
        self,
        asking: Asking,
        access: Access,
        feedback: FeedbackLog,
        recall: Recall,
        *,
        web: bool,
        contact: str,
        now: Callable[[], datetime],
    ) -> None:
        self._asking, self._access = asking, access
        self._feedback, self._recall = feedback, recall
        self._web, self._contact, self._now = web, contact, now

    async def __call__(self, event: Incoming, conversation: Conversation) -> None:
        """Raises StorageError, and what the conversation raises."""
        language = language_of("", event.language)
        press, scope = parse(event.value), await self._access.scope(event)
        if scope is None or press is None:
            key = "no_access" if scope is None else "unknown_button"
            await conversation.say(Reply(text(key, language), private=True))
            return
        remembered = self._recall.answer(press.question_id, event.place)
        if remembered is not None:
            language = remembered.answer.language
        pressed = _Pressed(event, press, scope, language, remembered)
        if press.action is Action.WEB:
            await self._search(pressed, conversation)
        else:
            await conversation.say(await self._reply(pressed))

    async def _reply(self, pressed: _Pressed) -> Reply:
        if pressed.press.action in _VOTES:
            return await self._vote(pressed, _VOTES[pressed.press.action])
        answer = await self._visible(pressed)
        if pressed.press.action is Action.PERSON:
            return self._hand_off(pressed, answer)
        if answer is None:
            return Reply(text("forgotten", pressed.language), private=True)
        return Reply(self._sources(answer))

    async def _vote(self, pressed: _Pressed, vote: Vote) -> Reply:
        """Stored also when the answer itself is forgotten: the id names it for ever."""
        person = pressed.event.person.key
        await self._feedback.save(Feedback(pressed.press.question_id, person, vote, self._now()))
        return Reply(text(f"voted_{vote}", pressed.language), private=True)

    async def _visible(self, pressed: _Pressed) -> Answer | None:
        """The remembered answer; found anew when those who see it here may see less by now."""
        remembered = pressed.remembered
        if remembered is None or covers(pressed.scope, remembered.scope):
            return remembered.answer if remembered else None
        question = Question(
            remembered.resolved, pressed.press.question_id, pressed.scope, web_allowed=False
        )
        return (await self._asking.machine.answer(question)).answer

    def _sources(self, answer: Answer) -> str:
        cited = answer.citations
        head = "sources" if cited else "nearest"
        shown = cited or tuple(
            Citation(number, item.passage, item.scores.relevance)
            for number, item in enumerate(answer.nearest, start=1)
        )
        if not shown:
            return text("no_sources", answer.language)
        stale_days, now = self._asking.machine.policy.stale_days, self._now()
        lines = [f"- {source_line(item, answer.language, stale_days, now)}" for item in shown]
        return "\n".join([f"**{text(head, answer.language)}**", "", *lines])

    def _hand_off(self, pressed: _Pressed, answer: Answer | None) -> Reply:
        """Who could know, and the question in a form that can be passed on."""
        language = pressed.language
        named = owners(answer)[:_PEOPLE] if answer else ()
        people = ", ".join(literal(owner) for owner in named)
        sentences = [text("people", language, people=people)] if people else []
        if self._contact:
            sentences.append(text("contact", language, contact=literal(self._contact)))
        pieces = [" ".join(sentences) or text("no_people", language)]
        if pressed.remembered is not None and answer is not None:
            pieces += [text("pass_on", language), f"> {literal(pressed.remembered.resolved)}"]
        return Reply("\n\n".join(pieces))

    async def _search(self, pressed: _Pressed, conversation: Conversation) -> None:
        """Asks the same question again, of the web."""
        key = "" if self._web and self._asking.has_web else "web_off"
        if pressed.remembered is None:
            key = key or "forgotten"
        if key or pressed.remembered is None:
            await conversation.say(Reply(text(key, pressed.language), private=True))
            return
        question = Question(
            pressed.remembered.resolved,
            question_id(pressed.event),
            pressed.scope,
            web_first=True,
        )
        await self._asking.answer(question, pressed.event, conversation)
