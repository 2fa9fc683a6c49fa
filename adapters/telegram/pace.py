"""How fast a chat may be written to: one clock per chat, shared by all that is written there."""

from __future__ import annotations

import logging
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass

_log = logging.getLogger(__name__)


@dataclass(slots=True)
class _Chat:
    next_frame: float = 0.0
    closed_until: float = 0.0


class Pace:
    """`clock` gives seconds that only grow; the chats written to last are remembered."""

    def __init__(self, clock: Callable[[], float], chats: int) -> None:
        self._clock, self._size = clock, chats
        self._chats: OrderedDict[int, _Chat] = OrderedDict()

    def turn(self, chat: int, interval: float) -> bool:
        """Whether a frame may be shown now; then the next one waits for `interval`."""
        now, known = self._clock(), self._of(chat)
        if now < max(known.next_frame, known.closed_until):
            return False
        known.next_frame = now + interval
        return True

    def close(self, chat: int, seconds: float) -> None:
        """Telegram wants nothing in this chat for `seconds`."""
        self._of(chat).closed_until = self._clock() + seconds
        _log.warning("Telegram wants %.0f seconds of silence in a chat", seconds)

    def closed_for(self, chat: int) -> float:
        return max(0.0, self._of(chat).closed_until - self._clock())

    def _of(self, chat: int) -> _Chat:
        known = self._chats.setdefault(chat, _Chat())
        self._chats.move_to_end(chat)
        while len(self._chats) > self._size:
            self._chats.popitem(last=False)
        return known
