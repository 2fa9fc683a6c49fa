"""The way back to whoever asked on Slack.

An answer goes out part by part; each try of a part is one call inside the journal. A definite
refusal changes how the next try goes: in a simpler form, as a new message instead of a changed
one, as an ephemeral message instead of a response. A message whose fate is unknown is looked for
in its thread by the name that it carries: it is sent again only when it is certainly not there.
Where nothing can be looked up, nothing is sent again.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass

from adapters.slack.line import Line
from adapters.slack.message import Form, Route, cut, forms, name_of, trusted
from adapters.slack.outlets import Fate, Outlet, Thread, Whisper
from adapters.slack.requests import Flooded, Lost, Refused, Unclear, Unreachable, Unreadable
from adapters.slack.stream import Signs
from bot.buttons import Action, parse
from bot.chat import Incoming, Kind, Reply
from bot.delivery import Journal, claimed
from bot.errors import AnswerRefused, DeliveryFailed, ThreadGone
from bot.ports import Conversation

_log = logging.getLogger(__name__)


@dataclass(slots=True)
class _Part:
    """A part on its way: the forms that are left to try, and for how long it has waited."""

    number: int
    name: str
    forms: list[Form]
    waited: float = 0.0
    tries: int = 0


class SlackConversation(Conversation):
    """Answers to `event`. What was asked in private, and what is said in private, only the asker
    sees."""

    def __init__(self, event: Incoming, line: Line) -> None:
        self._event, self._line = event, line
        self._route = Route(event.place.id, event.place.thread, event.person.id)
        self._signs = Signs(event, line, self._route)
        self._thread = Thread(line, self._route, self._signs, _since(event))
        self._whisper = Whisper(line, self._route, event.reference)

    async def progress(self, stage: str) -> None:
        await self._signs.progress(stage)

    async def stream(self, markdown: str) -> None:
        await self._signs.stream(markdown)

    async def answer(self, reply: Reply) -> None:
        """Raises PlatformGone, AnswerRefused, DeliveryFailed, and Unclear when nobody knows."""
        await self._deliver(reply, None)

    async def answer_in_parts(self, reply: Reply, journal: Journal) -> None:
        await self._deliver(reply, journal)

    async def say(self, reply: Reply) -> None:
        """When nobody knows whether a note arrived, it is said again: twice is better than
        never."""
        try:
            await self._deliver(reply, None)
        except Unclear as unclear:
            raise DeliveryFailed(str(unclear)) from unclear

    async def clear(self) -> None:
        self._signs.end()
        await self._thread.take_back()
        await self._signs.clear()

    async def _deliver(self, reply: Reply, journal: Journal | None) -> None:
        self._signs.end()
        outlet: Outlet = self._whisper if self._is_private(reply) else self._thread
        for part in self._parts(reply):
            await self._send(part, outlet, journal)
        await self.clear()

    def _is_private(self, reply: Reply) -> bool:
        """One button under a private answer is there to post it for all."""
        return reply.private or (self._event.private and not _posts(self._event))

    def _parts(self, reply: Reply) -> list[_Part]:
        texts, links = cut(reply.markdown), trusted(reply)
        parts = []
        for number, text in enumerate(texts):
            last = number == len(texts) - 1
            buttons, mentions = (reply.buttons, reply.mentions) if last else ((), ())
            made = forms(text, links, buttons, mentions)
            name = name_of(self._event.key, f"{number} {text}")
            parts.append(_Part(number, name, made))
        return parts

    async def _send(self, part: _Part, outlet: Outlet, journal: Journal | None) -> None:
        while True:
            await self._wait(part, outlet)
            try:
                async with claimed(journal, part.number) as out:
                    if out is not None:
                        out()
                        await self._show(part, outlet)
                return
            except Refused as refusal:
                part.tries += 1
                if part.tries >= self._line.options.tries:
                    raise
                self._learn(refusal, part, outlet)

    async def _show(self, part: _Part, outlet: Outlet) -> None:
        """One message; asked again what became of it as long as that can be told."""
        for doubt in range(1, self._line.options.doubts + 1):
            try:
                await outlet.show(part.forms[0], part.name)
                return
            except Unclear as unclear:
                _log.warning("a message of unknown fate: %s", unclear)
                await self._line.sleep(self._line.options.settle)
                fate = await outlet.fate(part.name)
                if fate is Fate.SHOWN:
                    return
                if fate is Fate.ABSENT:
                    raise Lost("a message was lost on the way") from unclear
                if fate is Fate.UNKNOWN or doubt == self._line.options.doubts:
                    raise

    async def _wait(self, part: _Part, outlet: Outlet) -> None:
        """Until Slack wants to hear of this place again; outside of the journal. Raises
        DeliveryFailed when that takes too long."""
        line = self._line
        while (seconds := line.pace.closed_for(outlet.pace, line.clock())) > 0:
            part.waited += seconds
            if part.waited > line.options.patience:
                raise DeliveryFailed(f"Slack wants {seconds:.0f} seconds of silence")
            await line.sleep(seconds)

    def _learn(self, refusal: Refused, part: _Part, outlet: Outlet) -> None:
        """What the next try does differently. Raises when there is no other way."""
        last = len(part.forms) == 1
        if isinstance(refusal, Flooded):
            self._line.pace.close(outlet.pace, self._line.clock(), refusal.seconds)
        elif outlet.leave(refusal, last=last):
            _log.info("a message goes another way: %s", refusal)
        elif isinstance(refusal, Unreadable):
            _log.warning("Slack refused a form of an answer: %s", refusal)
            if last:
                raise AnswerRefused(str(refusal)) from refusal
            del part.forms[0]
        elif isinstance(refusal, Unreachable):
            raise ThreadGone(str(refusal)) from refusal
        elif not isinstance(refusal, Lost):
            raise refusal


def _posts(event: Incoming) -> bool:
    press = parse(event.value) if event.kind is Kind.PRESS else None
    return press is not None and press.action is Action.POST


def _since(event: Incoming) -> str:
    """The time from which on an answer may stand in the thread, as messages are named."""
    whole, _, fraction = event.message_id.partition(".")
    return event.message_id if whole.isdecimal() and fraction.isdecimal() else ""
