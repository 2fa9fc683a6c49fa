"""Signs of work while an answer is written: a draft in private chats, a message in groups.

Nothing here is owed to anybody: a sign that is too early, too long or refused is left out.
"""

from __future__ import annotations

import logging
from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import TypeVar

from aiogram.methods import SendChatAction, TelegramMethod

from adapters.telegram.message import Form, Route, draft, edit, frame, send
from adapters.telegram.options import Options
from adapters.telegram.pace import Pace
from adapters.telegram.requests import Flooded, Missing, Refused, Requests, Unclear
from bot.errors import PlatformGone

_log = logging.getLogger(__name__)
_T = TypeVar("_T")


@dataclass(slots=True)
class Line:
    """What all conversations with one server share. `rich` and `drafts`: it knows them."""

    requests: Requests
    pace: Pace
    options: Options
    clock: Callable[[], float]
    rich: bool = True
    drafts: bool = True


@dataclass(eq=False)
class Signs(ABC):
    """The signs of one conversation. `latest` is the newest text that could be shown."""

    line: Line
    route: Route
    latest: str = ""
    off: bool = False  # nothing more is shown
    gone: PlatformGone | None = None  # the chat is closed to the bot
    began: float = field(init=False)
    shown_at: float | None = field(init=False, default=None)
    _shown: str = field(init=False, default="")

    def __post_init__(self) -> None:
        self.began = self.line.clock()

    @abstractmethod
    async def update(self, markdown: str) -> None:
        """Shows the text if it is time to."""

    @abstractmethod
    async def refresh(self) -> None:
        """Time has passed: what would vanish is shown again."""

    def end(self) -> None:
        """The final text takes over."""
        self.off = True

    async def _type(self) -> None:
        if not self.line.pace.closed_for(self.route.chat):
            action = SendChatAction(
                chat_id=self.route.chat, action="typing", message_thread_id=self.route.thread
            )
            await self._try(action)

    async def _try(self, method: TelegramMethod[_T]) -> _T | None:
        """The result; None when the sign was not shown, or perhaps not."""
        try:
            return await self.line.requests(method, self.line.options.frame_timeout)
        except Flooded as flood:
            self.line.pace.close(self.route.chat, flood.seconds)
        except Missing:
            self._missing()
        except PlatformGone as gone:
            self.off, self.gone = True, gone
        except Unclear:
            self._unclear()
        except Refused as refusal:
            _log.debug("a sign of work was refused: %s", refusal)
        return None

    def _missing(self) -> None:
        """The server does not know such a sign."""
        _log.debug("a sign of work that the server does not know")

    def _unclear(self) -> None:
        """A server that does not answer is not asked at every word."""
        self.line.pace.turn(self.route.chat, self.line.options.frame_timeout)

    def _frame(self, *, rich: bool) -> Form | None:
        return frame(self.latest, rich=rich) if self.latest.strip() else None


@dataclass(eq=False)
class DraftSigns(Signs):
    """A draft: only the asker sees it, and it ends by itself."""

    number: int = 1
    can_stop: bool = True

    async def update(self, markdown: str) -> None:
        self.latest = markdown
        if self.off or markdown == self._shown:
            return
        if self.line.pace.turn(self.route.chat, self.line.options.draft_every):
            await self._show()

    async def refresh(self) -> None:
        if self.off:
            return
        age = self.line.options.draft_life
        if self.shown_at is not None and self.line.clock() - self.shown_at < age:
            if self.latest != self._shown:
                await self.update(self.latest)
            return
        if self.line.pace.turn(self.route.chat, self.line.options.draft_every):
            await self._show()

    async def _show(self) -> None:
        if not self.line.drafts:
            await self._type()
            return
        text, form = self.latest, self._frame(rich=self.line.rich)
        if form is None:
            return
        method = draft(form, self.route, self.number, can_stop=self.can_stop)
        if await self._try(method):
            self._shown, self.shown_at = text, self.line.clock()

    def _missing(self) -> None:
        """The server is older than rich messages, or than drafts."""
        if self.line.rich:
            self.line.rich = False
        else:
            self.line.drafts = False


async def _forgotten(_: int) -> None:
    return None


@dataclass(eq=False)
class MessageSigns(Signs):
    """A message that grows. `message` is its id, for the final text to take its place; `sent` is
    told of it."""

    message: int | None = None
    sent: Callable[[int], Awaitable[None]] = _forgotten
    _typed_at: float | None = None

    async def update(self, markdown: str) -> None:
        self.latest = markdown
        options = self.line.options
        if self.line.clock() - self.began < options.quiet:
            await self._type_once()
        elif (
            not self.off
            and markdown != self._shown
            and self.line.pace.turn(self.route.chat, options.edit_every)
        ):
            await self._show()

    async def refresh(self) -> None:
        if self.off:
            return
        if self.latest and self.latest != self._shown:
            await self.update(self.latest)
        await self._type()

    async def _type_once(self) -> None:
        if self._typed_at is None:
            self._typed_at = self.line.clock()
            await self._type()

    async def _show(self) -> None:
        text, form = self.latest, self._frame(rich=False)
        if form is None:
            return
        if self.message is None:
            sent = await self._try(send(form, self.route))
            shown = sent is not None
            if sent is not None:
                self.message = sent.message_id
                await self.sent(sent.message_id)
        else:
            edited = await self._try(edit(form, self.route, self.message))
            shown = edited is not None
        if shown:
            self._shown, self.shown_at = text, self.line.clock()

    def _unclear(self) -> None:
        """The message may stand there: a second one would be one too many."""
        super()._unclear()
        self.off = self.off or self.message is None
