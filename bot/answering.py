"""What becomes of an event: access first, then commands, questions, buttons, changes of a place.

Whoever was not let in learns how to ask for it and nothing else: no search, no document, no name.
"""

from __future__ import annotations

import logging
from collections import Counter, OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Literal

from bot.access import Access, Role, Roll, place_key
from bot.asking import Asking, Keep, question_id
from bot.chat import Incoming, Kind, Place, Reply
from bot.commands.call import Ask, Call, Command, Desk, Sources, may_use, parse
from bot.commands.table import find
from bot.feedback import FeedbackLog
from bot.places import Moves
from bot.ports import Conversation
from bot.pressing import Pressing
from bot.recall import Bounds, Recall
from bot.texts import attachment, language_of, literal_code, text
from graph.followup import needs_context
from graph.machine import Machine
from graph.mentions import weight
from graph.model import Question, Scope, Turn
from graph.smalltalk import is_blank, is_small_talk

_log = logging.getLogger(__name__)

_SHORT = 2  # words
_NAMED = 5  # attachments
_HOURS_FROM = timedelta(hours=2)  # from here on an age is told in hours


class Answering:
    """The handler of the desk (bot/inbox.py). One for all conversations of a process.

    `sources` lists what a scope may read, `keep` stores traces, `contact` is who can always be
    asked, `web` allows the web search in chats.
    """

    def __init__(
        self,
        machine: Machine,
        access: Access,
        roll: Roll,
        feedback: FeedbackLog,
        *,
        keep: Keep,
        sources: Sources,
        web: bool = True,
        contact: str = "",
        leave_strangers: bool = True,
        bounds: Bounds | None = None,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        self._access, self._roll = access, roll
        self._web, self._leave_strangers, self._now = web, leave_strangers, now
        self._recall = Recall(bounds)
        self._moves = Moves()
        self._asking = Asking(machine, self._recall, keep, self._moves)
        self._pressing = Pressing(
            self._asking, access, feedback, self._recall, web=web, contact=contact, now=now
        )
        self._desk = Desk(access, roll, self._recall, sources)
        self._told: OrderedDict[str, datetime] = OrderedDict()

    async def __call__(
        self, event: Incoming, conversation: Conversation, attempt: int, *, late: bool
    ) -> None:
        """Says exactly one thing to whoever addressed the bot.

        Raises StorageError, PlatformGone, DeliveryFailed; the desk decides what follows.
        """
        if event.person.is_bot:
            return  # two bots that answer each other never stop
        event = replace(event, place=self._moves.now(event.place))
        match event.kind:
            case Kind.QUESTION if event.addressed:
                await self._question(event, conversation, late)
            case Kind.PRESS:
                await self._pressing(event, conversation)
            case Kind.ADDED:
                await self._added(event, conversation)
            case Kind.REMOVED:
                await self.gone(event.place)
            case _:
                return  # edits, deletions, stops and moves are the desk's

    async def on_added(self, event: Incoming) -> Literal["stay", "leave"]:
        """Whether to stay in a group that `event.person` added the bot to.

        An outsider's group is left, unless an admin has let it in before. Raises StorageError.
        """
        if not self._leave_strangers or event.place.kind == "private":
            return "stay"
        known = await self._access.role(event.person) is not Role.STRANGER
        granted = await self._roll.grant(place_key(event.place)) is not None
        return "stay" if known or granted else "leave"

    async def gone(self, place: Place) -> None:
        """The place is closed to the bot: what was said there is forgotten."""
        self._recall.forget(place)

    async def _added(self, event: Incoming, conversation: Conversation) -> None:
        if event.place.kind == "private" or await self.on_added(event) == "leave":
            return
        if await self._access.scope(event) is not None:
            language = language_of("", event.language)
            await conversation.say(Reply(text("may_ask", language)))
        else:
            await self._tell_how(event, conversation)

    async def moved(self, event: Incoming) -> None:
        """The place keeps what it was granted and what was said there. Raises StorageError."""
        if event.moved_to:
            await self._access.moved(event.place, event.moved_to)
            self._recall.move(event.place, event.moved_to)
            self._moves.add(event.place, event.moved_to)

    async def _question(self, event: Incoming, conversation: Conversation, late: bool) -> None:
        scope = await self._access.scope(event)
        called = parse(event.text)
        if called is not None:
            await self._called(event, conversation, scope, called, late)
        elif scope is None:
            await self._tell_how(event, conversation)
        else:
            await self._ask(event, conversation, scope, event.text, late)

    async def _called(
        self,
        event: Incoming,
        conversation: Conversation,
        scope: Scope | None,
        called: tuple[str, str],
        late: bool,
    ) -> None:
        name, argument = called
        command = find(name)
        language = language_of(argument if command and not command.changes else "", event.language)
        if scope is None and (command is None or command.role is Role.MEMBER):
            await self._tell_how(event, conversation)
            return
        if command is None:
            words = text("unknown_command", language, name=literal_code(name))
            await conversation.say(Reply(words))
            return
        role = await self._role(event, scope)
        call = Call(event, argument, language, role, scope, self._desk)
        result = _refusal(command, call) or await command.run(call)
        if isinstance(result, Ask):
            assert scope is not None  # a member's command
            await self._ask(event, conversation, scope, result.text, late)
        elif command.changes:
            await conversation.answer(result)
        else:
            await conversation.say(result)

    async def _role(self, event: Incoming, scope: Scope | None) -> Role:
        """The person's role, raised to a member's where everybody may ask."""
        role = await self._access.role(event.person)
        if role is Role.ADMIN:
            return role
        return Role.STRANGER if scope is None else Role.MEMBER

    async def _tell_how(self, event: Incoming, conversation: Conversation) -> None:
        """How to ask for access: to a person whenever they write, to a group once an hour."""
        private = event.place.kind == "private"
        if not private and not self._may_tell(place_key(event.place)):
            return
        code = await self._access.code(event)
        key = "ask_access" if private else "ask_access_group"
        words = "" if parse(event.text) else event.text
        language = language_of(words, event.language)
        await conversation.say(Reply(text(key, language, code=code.text)))

    def _may_tell(self, key: str) -> bool:
        bounds, now = self._recall.bounds, self._now()
        told = self._told.get(key)
        if told is not None and now - told < bounds.tell_every:
            return False
        self._told[key] = now
        self._told.move_to_end(key)
        while len(self._told) > bounds.places_told:
            self._told.popitem(last=False)
        return True

    async def _ask(
        self, event: Incoming, conversation: Conversation, scope: Scope, words: str, late: bool
    ) -> None:
        history = self._recall.history(event.place, event.person, scope, event.quote)
        question = Question(
            _about_quote(words, event, history),
            question_id(event),
            scope,
            history,
            web_allowed=self._web,
        )
        await self._asking.answer(
            question,
            event,
            conversation,
            before=self._late_note(event, words) if late else (),
            after=_unread(event, words),
        )

    def _late_note(self, event: Incoming, words: str) -> list[str]:
        age = max(self._now() - event.at, timedelta())
        language = language_of(words, event.language)
        if age >= _HOURS_FROM:
            return [text("late_hours", language, count=age // timedelta(hours=1))]
        return [text("late_minutes", language, count=age // timedelta(minutes=1))]


def _refusal(command: Command, call: Call) -> Reply | None:
    """The short denial of a command; it says nothing of documents."""
    if not may_use(command, call.role):
        _log.info("refused /%s to %s", command.name, call.event.person.key)
        return Reply(text("admins_only", call.language), private=True)
    if command.private_only and not call.private:
        return Reply(text("in_private", call.language), private=True)
    return None


def _about_quote(words: str, event: Incoming, history: Sequence[Turn]) -> str:
    """The question, with the quoted message where the words alone would ask nothing.

    Follow-ups such as "why?" stay as they are: the machine resolves them from the history.
    """
    quote = event.quote.text.strip() if event.quote else ""
    if not quote or len(history) > 1:
        return words
    quote = history[0].text if history else quote
    if is_blank(words):
        return quote
    short = len(words.split()) <= _SHORT and weight(words) <= 1
    if not short or is_small_talk(words) or needs_context(words, history):
        return words
    return f"{quote}\n\n{words}"


def _unread(event: Incoming, words: str) -> list[str]:
    """That pictures and files beside the question were not read."""
    if not event.attachments:
        return []
    language, counted = language_of(words, event.language), Counter(event.attachments)
    shown = [
        attachment(name, language) + (f" × {n}" if n > 1 else "") for name, n in counted.items()
    ]
    names = ", ".join(shown[:_NAMED]) + (", …" if len(shown) > _NAMED else "")
    return [text("not_read", language, names=names)]
