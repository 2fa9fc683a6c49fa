"""What becomes of an event: access first, then commands, questions, buttons, changes of a place.

Whoever was not let in learns how to ask for it and nothing else: no search, no document, no name.
"""

from __future__ import annotations

import logging
from collections import OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from typing import Literal

from bot import buttons
from bot.access import Access, Role, Roll, is_personal, place_key
from bot.answer_cache import AnswerCache
from bot.asides import without_asides
from bot.asked import about, belated, named, unread
from bot.asking import Asking, Keep, Way
from bot.auditor import Auditor
from bot.chat import Incoming, Kind, Place, Reply, question_id
from bot.commands.ask import plain
from bot.commands.call import Ask, Call, Command, Desk, may_use, parse
from bot.commands.called import Called, called
from bot.commands.table import find
from bot.curating import Curating
from bot.feedback import FeedbackLog
from bot.hand_off import HandOff, OnDuty
from bot.ingest.secrets import hidden
from bot.meter import Meter
from bot.minutes import Minutes
from bot.oncall import Watch
from bot.oncall_question import inquiry
from bot.places import Moves
from bot.ports import Conversation, Sources
from bot.posting import Posting
from bot.pressing import Pressing
from bot.recall import Bounds, Offer, Recall, room
from bot.texts import language_of, literal_code, text
from bot.threads import FollowedThreads
from graph.machine import Machine
from graph.model import Language, Question, Scope, Turn

_log = logging.getLogger(__name__)

_OF_ONE_ORGANISATION = frozenset({"slack"})  # whose people alone can add the bot to a channel


class Answering:
    """The handler of the desk (bot/inbox.py). One for all conversations of a process.

    `sources` lists what a scope may read, `keep` stores traces, `auditor` writes down who asked and
    `minutes` what was said, `contact` is who can always be asked, `on_duty` who is on call,
    `watch` is what /oncall answers from, `web` allows the web search in chats. `threads` are those
    in which the bot needs no mention. `meter` counts; `answers` are not made again. `roots` names
    the one slash command of platforms that have one.
    """

    def __init__(
        self,
        machine: Machine,
        access: Access,
        roll: Roll,
        feedback: FeedbackLog,
        *,
        keep: Keep,
        auditor: Auditor | None = None,
        minutes: Minutes | None = None,
        sources: Sources,
        web: bool = True,
        contact: str = "",
        on_duty: OnDuty | None = None,
        watch: Watch | None = None,
        threads: FollowedThreads | None = None,
        meter: Meter | None = None,
        answers: AnswerCache | None = None,
        roots: Mapping[str, str] | None = None,
        leave_strangers: bool = True,
        bounds: Bounds | None = None,
        curating: Curating | None = None,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        self._access, self._roll = access, roll
        self._web, self._leave_strangers, self._now = web, leave_strangers, now
        self._recall = Recall(bounds)
        self._minutes = minutes
        self._moves = Moves()
        self._asking = Asking(
            machine,
            self._recall,
            keep,
            moves=self._moves,
            sources=sources,
            auditor=auditor,
            minutes=minutes,
            meter=meter,
            answers=answers,
        )
        self._pressing = Pressing(
            self._asking,
            access,
            feedback,
            self._recall,
            hand_off=HandOff(contact, on_duty, stale_days=machine.policy.stale_days, now=now),
            posting=Posting(self._asking, access, self._recall, self._rerun, web=web),
            curating=curating,
            minutes=minutes,
            web=web,
            now=now,
        )
        self._desk = Desk(
            access,
            roll,
            self._recall,
            sources,
            self._asking.readable,
            threads,
            roots or {},
            watch,
            minutes,
            curating,
        )
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

        Where anybody in the world can add it, a stranger's group is left, unless an admin has let
        it in before. Raises StorageError.
        """
        open_to_all = event.place.platform not in _OF_ONE_ORGANISATION
        if not self._leave_strangers or event.place.kind == "private" or not open_to_all:
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
            ask = self._desk.spelled(event.place.platform, "ask")
            await conversation.say(Reply(text("may_ask", language, ask=ask)))
        else:
            await self._tell_how(event, conversation)

    async def moved(self, event: Incoming) -> None:
        """The place keeps what it was granted and what was said there. Raises StorageError."""
        if event.moved_to:
            await self._access.moved(event.place, event.moved_to)
            self._recall.move(event.place, event.moved_to)
            self._moves.add(event.place, event.moved_to)
            if self._minutes is not None:
                await self._minutes.move(event.place, event.moved_to)

    async def _question(self, event: Incoming, conversation: Conversation, late: bool) -> None:
        scope = await self._access.scope(event)
        if scope is not None and self._desk.curating is not None:
            self._desk.curating.saw(event)
        if scope is not None and self._minutes is not None:
            await self._minutes.refresh(self._recall, room(event))
        answered = self._recall.last(self._recall.goes_on_from(event)) is not None
        call = self._of_roster(event, called(event, self._desk.roots, answered=answered))
        if call is not None:
            await self._called(event, conversation, scope, call, late)
        elif scope is None:
            await self._tell_how(event, conversation)
        else:
            await self._ask(event, conversation, scope, plain(event.text), late)

    def _of_roster(self, event: Incoming, call: Called | None) -> Called | None:
        """A question about who is on call, asked in whatever way, is a use of /oncall."""
        words = event.text if call is None else call.argument
        asked = call is None or (call.command is not None and call.command.name == "ask")
        watch = self._desk.watch
        if not asked or watch is None or inquiry(words, watch) is None:
            return call
        return Called(find("oncall"), "oncall", words)

    async def _called(
        self,
        event: Incoming,
        conversation: Conversation,
        scope: Scope | None,
        called: Called,
        late: bool,
    ) -> None:
        command = called.command
        if scope is None and (command is None or command.role is Role.MEMBER):
            await self._tell_how(event, conversation)
            return
        language = _language(called, event)
        if command is None:
            usage = self._desk.spelled(event.place.platform, "help")
            words = text("unknown_command", language, name=literal_code(called.name), help=usage)
            await conversation.say(Reply(words, private=event.private))
            return
        role = await self._role(event, scope)
        call = Call(
            event, called.argument, language, role, scope, self._desk, conversation.progress
        )
        result = _refusal(command, call) or await command.run(call)
        if isinstance(result, Ask):
            assert scope is not None  # a member's command
            await self._ask(event, conversation, scope, result, late)
            return
        result = self._offered(command, call, result)
        try:
            await (conversation.answer if command.changes else conversation.say)(result)
        finally:
            await self._note(event, command, call, result)

    async def _note(self, event: Incoming, command: Command, call: Call, reply: Reply) -> None:
        """Writes down a question that the command has answered."""
        if reply.outcome is not None and call.scope is not None:
            asked = call.argument or f"/{command.name}"
            question = Question(asked, question_id(event), call.scope)
            await self._asking.note(question, event, command.name, reply.outcome)

    def _offered(self, command: Command, call: Call, reply: Reply) -> Reply:
        """A reply to a private call stays private; what a channel may want gets a button for it."""
        event = call.event
        if not event.private:
            return reply
        if not command.postable or call.private or reply.private:
            return replace(reply, private=True)
        name = question_id(event)
        line = f"/{command.name} {call.argument}".rstrip()
        self._recall.offer(name, Offer(event.place, event.person.key, line))
        under = (*reply.buttons, *buttons.post(name, call.language))
        return replace(reply, buttons=under, private=True)

    async def _rerun(self, event: Incoming, scope: Scope) -> Reply:
        """A command's reply for everybody in the place; `event.text` is the line that calls it."""
        name, argument = parse(event.text) or ("", "")
        command = find(name)
        assert command is not None  # the line was made from a command
        role = await self._role(event, scope)
        language = language_of(argument, event.language)
        result = await command.run(Call(event, argument, language, role, scope, self._desk))
        assert isinstance(result, Reply)  # what asks is answered by its way
        return result

    async def _role(self, event: Incoming, scope: Scope | None) -> Role:
        """The person's role, raised to a member's where everybody may ask."""
        role = await self._access.role(event.person)
        if role is Role.ADMIN:
            return role
        return Role.STRANGER if scope is None else Role.MEMBER

    async def _tell_how(self, event: Incoming, conversation: Conversation) -> None:
        """How to ask for access: to a person whenever they write, to a group once an hour."""
        personal = is_personal(event)
        unseen = personal or event.private
        if not unseen and not self._may_tell(place_key(event.place)):
            return
        code = await self._access.code(event)
        key = "ask_access" if personal else "ask_access_group"
        words = "" if parse(event.text) else event.text
        language = language_of(words, event.language)
        allow = self._desk.spelled(event.place.platform, "allow")
        told = text(key, language, code=code.text, allow=allow)
        await conversation.say(Reply(told, private=event.private or event.person.outsider))

    def _may_tell(self, key: str) -> bool:
        bounds, now = self._recall.bounds, self._now()
        told = self._told.get(key)
        if told is not None and abs(now - told) < bounds.tell_every:
            return False
        self._told[key] = now
        self._told.move_to_end(key)
        while len(self._told) > bounds.places_told:
            self._told.popitem(last=False)
        return True

    async def _ask(
        self, event: Incoming, conversation: Conversation, scope: Scope, ask: Ask, late: bool
    ) -> None:
        words, scope = without_asides(ask.text), ask.types.over(scope)
        history = await self._history(event, scope)
        wanted = about(words, event, history) if ask.way is Way.ASK else named(words, event)
        before = history if ask.way is Way.ASK else ()
        web = self._web and not ask.types.known
        question = Question(hidden(wanted), question_id(event), scope, before, web_allowed=web)
        await self._asking.answer(
            question,
            event,
            conversation,
            way=ask.way,
            before=belated(event, words, self._now()) if late else (),
            after=unread(event, words),
        )

    async def _history(self, event: Incoming, scope: Scope) -> tuple[Turn, ...]:
        """What was said before, without answers whose documents may not be read any more."""
        place = self._recall.goes_on_from(event)
        behind = self._recall.behind(place)
        readable = await self._asking.readable(behind, scope)
        turns = self._recall.history(
            place, event.person, scope, event.quote, event.context, closed=behind - readable
        )
        return tuple(replace(turn, text=hidden(turn.text)) for turn in turns)


def _refusal(command: Command, call: Call) -> Reply | None:
    """The short denial of a command; it says nothing of documents."""
    if not may_use(command, call.role):
        _log.info("refused /%s to %s", command.name, call.event.person.key)
        return Reply(text("admins_only", call.language), private=True)
    if command.private_only and not call.confidential:
        return Reply(text("in_private", call.language), private=True)
    return None


def _language(called: Called, event: Incoming) -> Language:
    """That of the words behind a command, unless they are codes and keys, or of its own name in
    another alphabet."""
    plain = called.command is not None and not called.command.changes
    name = "" if called.name.isascii() else called.name
    return language_of(f"{name} {called.argument}" if plain else "", event.language)
