"""The way back to whoever asked on Telegram.

An answer goes out part by part; each try of a part is one call inside the journal. A definite
refusal changes how the next try goes: rich, then text, then plain; to the group's new id; without
the topic or the reply. When nobody knows whether a part arrived, nothing is tried again.

What is for one person's eyes goes over the chat when a button was pressed, else into the group
for them alone, where Telegram lets the bot do that (as an administrator), else into the private
chat with them. Whoever never wrote there gets it in the group.
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from zlib import crc32

from aiogram.methods import AnswerCallbackQuery, DeleteMessage
from aiogram.types import InlineKeyboardMarkup

from adapters.telegram.message import Form, Route, cut, edit, forms, keyboard, send
from adapters.telegram.render import to_plain
from adapters.telegram.requests import (
    AskedGone,
    Flooded,
    Missing,
    Moved,
    Refused,
    TargetGone,
    TopicGone,
    Unclear,
    Unreadable,
)
from adapters.telegram.stream import DraftSigns, Line, MessageSigns, Signs
from bot.chat import Incoming, Kind, Reply
from bot.delivery import Journal, claimed
from bot.errors import AnswerRefused, DeliveryFailed, PlatformGone, ThreadGone
from bot.ports import Conversation

_log = logging.getLogger(__name__)

_TOAST = 200  # characters of a note over the chat
_DRAFTS = 0x7FFF_FFFF  # ids are positive 32-bit numbers


@dataclass(slots=True)
class _Part:
    """A part on its way: the forms that are left to try, and for how long it has waited."""

    number: int
    forms: list[Form]
    markup: InlineKeyboardMarkup | None
    waited: float = 0.0
    tries: int = 0


class TelegramConversation(Conversation):
    """`started` is told of the conversation when `refresh` has something to do; `note` is put
    under what is said; with `leaves_topic` an answer whose topic is gone goes to the group."""

    def __init__(
        self,
        event: Incoming,
        line: Line,
        *,
        sleep: Callable[[float], Awaitable[None]],
        started: Callable[[TelegramConversation], None] = lambda _: None,
        note: str = "",
        leaves_topic: bool = True,
    ) -> None:
        self._event, self._line, self._sleep = event, line, sleep
        self._started, self._note, self._leaves_topic = started, note, leaves_topic
        self._route = _route(event)
        self._aside: list[Route] = []  # tried before, for one person's eyes
        self._signs = _signs(event, line, self._route)
        self._pressed = event.kind is Kind.PRESS  # and not yet acknowledged
        if self._pressed:
            started(self)

    def keep_sign_with(self, keep: Callable[[str], Awaitable[None]]) -> None:
        async def sent(message: int) -> None:
            await keep(f"{self._route.chat}/{message}")

        if isinstance(self._signs, MessageSigns):
            self._signs.sent = sent

    @property
    def live(self) -> bool:
        """Whether something is still worked on, and not for too long."""
        age = self._line.clock() - self._signs.began
        return not self._signs.off and age < self._line.options.oldest_stream

    async def refresh(self) -> None:
        """Time has passed: the signs of work are kept alive."""
        await self._acknowledge()
        await self._signs.refresh()

    def stopped(self, stop: Incoming) -> None:
        """The asker stopped an answer: if it was this one, nothing more is shown of it."""
        same = stop.place.conversation == self._event.place.conversation
        if same and stop.message_id in ("", self._event.message_id):
            self._signs.end()

    async def progress(self, stage: str) -> None:
        await self._show(stage)

    async def stream(self, markdown: str) -> None:
        await self._show(markdown)

    async def answer(self, reply: Reply) -> None:
        """Raises PlatformGone, AnswerRefused, DeliveryFailed, and Unclear when nobody knows."""
        await self._deliver(reply, None)

    async def answer_in_parts(self, reply: Reply, journal: Journal) -> None:
        await self._deliver(reply, journal)

    async def say(self, reply: Reply) -> None:
        """What nobody knows to have arrived is said again: twice is better than never."""
        if self._pressed and reply.private and await self._toast(reply):
            return
        if self._note:
            reply = replace(reply, markdown=f"{reply.markdown}\n\n{self._note}")
        try:
            await self._deliver(reply, None)
        except Unclear as unclear:
            raise DeliveryFailed(str(unclear)) from unclear

    async def _show(self, markdown: str) -> None:
        await self._acknowledge()
        self._started(self)
        await self._signs.update(markdown)

    async def _deliver(self, reply: Reply, journal: Journal | None) -> None:
        await self._acknowledge()
        self._signs.end()
        self._aside = _asides(self._event, self._route) if reply.private else []
        if self._signs.gone is not None and not self._aside:
            raise self._signs.gone  # Telegram said so already
        parts = cut(reply.markdown)
        for number, text in enumerate(parts):
            last = number == len(parts) - 1
            markup = keyboard(reply.buttons) if last else None
            mentions = reply.mentions if last else ()
            part = _Part(number, forms(text, rich=self._line.rich, mentions=mentions), markup)
            await self._send(part, journal)
        await self._take_back()

    async def _send(self, part: _Part, journal: Journal | None) -> None:
        while True:
            await self._wait(part)
            try:
                async with claimed(journal, part.number) as out:
                    if out is not None:
                        await self._call(part, out)
                    else:  # shown by an earlier attempt, perhaps in place of its sign
                        self._forget_placeholder()
                return
            except (Refused, PlatformGone) as refusal:
                part.tries += 1
                if part.tries >= self._line.options.tries:
                    raise
                self._learn(refusal, part)

    async def _call(self, part: _Part, out: Callable[[], None]) -> None:
        """One call. The message that showed the work becomes the first part."""
        form, timeout, route = part.forms[0], self._line.options.call_timeout, self._to
        shown = None if self._aside else self._placeholder
        if shown is not None:
            await self._line.requests(edit(form, route, shown, part.markup), timeout, out)
            self._forget_placeholder()
        else:
            await self._line.requests(send(form, route, part.markup), timeout, out)
        route.reply_to = None  # the parts that follow stand below

    @property
    def _to(self) -> Route:
        return self._aside[0] if self._aside else self._route

    async def _wait(self, part: _Part) -> None:
        """Until Telegram wants to hear of this chat again; outside of the journal. Raises
        DeliveryFailed when that takes too long."""
        while (seconds := self._line.pace.closed_for(self._to.chat)) > 0:
            part.waited += seconds
            if part.waited > self._line.options.patience:
                raise DeliveryFailed(f"Telegram wants {seconds:.0f} seconds of silence")
            await self._sleep(seconds)

    def _learn(self, refusal: Refused | PlatformGone, part: _Part) -> None:
        """What the next try does differently. Raises when there is no other way."""
        match refusal:
            case Flooded():
                self._line.pace.close(self._to.chat, refusal.seconds)
            case Missing() if part.forms[0].rich:
                self._line.rich = False
                part.forms = [form for form in part.forms if not form.rich]
            case _ if self._aside:
                del self._aside[0]
            case Moved():
                self._route.chat, self._route.reply_to = refusal.chat, None
                self._forget_placeholder()
            case TopicGone():
                self._leave_topic(refusal)
            case AskedGone():
                self._route.reply_to = None
            case TargetGone():
                self._forget_placeholder()
            case Unreadable():
                self._step_down(refusal, part)
            case _:
                raise refusal

    def _leave_topic(self, refusal: Refused) -> None:
        if self._route.thread is None or not self._leaves_topic:
            _log.warning("the topic of a question is gone, and its answer with it")
            raise ThreadGone(str(refusal)) from refusal
        self._route.thread = None
        self._forget_placeholder()

    def _step_down(self, refusal: Refused, part: _Part) -> None:
        """The next simpler form. Raises AnswerRefused after the last."""
        _log.warning("Telegram refused a form of an answer: %s", refusal)
        if len(part.forms) == 1:
            raise AnswerRefused(str(refusal)) from refusal
        del part.forms[0]

    @property
    def _placeholder(self) -> int | None:
        return self._signs.message if isinstance(self._signs, MessageSigns) else None

    def _forget_placeholder(self) -> None:
        if isinstance(self._signs, MessageSigns):
            self._signs.message = None

    async def _take_back(self) -> None:
        """A sign of work that no part took the place of."""
        message = self._placeholder
        if message is not None:
            self._forget_placeholder()
            await self._try(DeleteMessage(chat_id=self._route.chat, message_id=message))

    async def _acknowledge(self) -> None:
        """Ends the waiting sign on a pressed button; too late is no matter."""
        if self._pressed:
            self._pressed = False
            await self._try(AnswerCallbackQuery(callback_query_id=self._event.message_id))

    async def _toast(self, reply: Reply) -> bool:
        text = to_plain(reply.markdown)
        if len(text) > _TOAST or reply.buttons:
            return False
        self._pressed = False
        self._signs.end()
        query = AnswerCallbackQuery(callback_query_id=self._event.message_id, text=text)
        return await self._try(query)

    async def _try(self, method: AnswerCallbackQuery | DeleteMessage) -> bool:
        try:
            await self._line.requests(method, self._line.options.frame_timeout)
        except (DeliveryFailed, PlatformGone, Unclear) as trouble:
            _log.info("not done: %s", trouble)
            return False
        return True


def _route(event: Incoming) -> Route:
    thread = int(event.place.thread) if event.place.thread else None
    asked = event.reference if event.kind is Kind.PRESS else event.message_id
    replies = event.kind in (Kind.QUESTION, Kind.PRESS) and asked.isdecimal()
    return Route(int(event.place.id), thread, int(asked) if replies else None)


def _asides(event: Incoming, route: Route) -> list[Route]:
    """How one person is reached alone; nothing in a private chat, and for those who speak in the
    name of a group or channel."""
    person = event.person.id
    if event.place.kind == "private" or not person.isdecimal():
        return []
    press = event.message_id if event.kind is Kind.PRESS else None
    alone = replace(route, receiver=int(person), press=press)
    return [alone, Route(int(person))]


def _signs(event: Incoming, line: Line, route: Route) -> Signs:
    if event.place.kind != "private":
        chat, _, message = event.sign.rpartition("/")
        return MessageSigns(line, route, message=int(message) if chat == str(route.chat) else None)
    question = event.kind is Kind.QUESTION and event.message_id.isdecimal()
    number = int(event.message_id) if question else crc32(event.key.encode()) & _DRAFTS or 1
    return DraftSigns(line, route, number=number, can_stop=question)
