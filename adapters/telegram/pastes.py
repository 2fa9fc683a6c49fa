"""Long pastes in groups: Telegram cuts them, and only one of the pieces mentions the bot."""

from __future__ import annotations

from collections import OrderedDict
from datetime import datetime, timedelta

from bot.chat import Incoming, Kind
from bot.pending import Joining


class Pastes:
    """Knows who has just sent a message so long that it was probably cut.

    `size` people are remembered, by the time of their message; nothing of what they said is.
    """

    def __init__(self, rule: Joining, size: int) -> None:
        self._rule, self._size = rule, size
        self._begun: OrderedDict[tuple[str, str], datetime] = OrderedDict()

    def wanted(self, event: Incoming) -> bool:
        """Whether the desk should have this event: it is addressed to the bot, or may be a piece
        of a question that is. The desk joins the pieces and leaves alone what nobody asked."""
        if event.kind is not Kind.QUESTION or event.place.kind == "private":
            return True
        return self._is_piece(event) or event.addressed

    def _is_piece(self, event: Incoming) -> bool:
        key = event.place.conversation, event.person.key
        begun = self._begun.get(key)
        follows = begun is not None and event.at - begun <= timedelta(seconds=self._rule.span)
        if self._rule.expects_more(event) and not event.album:
            self._begun[key] = event.at
            self._begun.move_to_end(key)
            while len(self._begun) > self._size:
                self._begun.popitem(last=False)
            return True
        return follows
