"""How fast Slack may be written to: a clock for each method and each place."""

from __future__ import annotations

import logging
from collections import OrderedDict
from dataclasses import dataclass

_log = logging.getLogger(__name__)


@dataclass(slots=True)
class _Known:
    next_turn: float = 0.0
    closed_until: float = 0.0


class Pace:
    """The newest `size` keys are remembered. `now` are seconds that only grow."""

    def __init__(self, size: int = 10_000) -> None:
        self._size = size
        self._known: OrderedDict[str, _Known] = OrderedDict()

    def turn(self, key: str, now: float, interval: float) -> bool:
        """Whether something may be shown now; then the next one waits for `interval`."""
        known = self._of(key)
        if now < max(known.next_turn, known.closed_until):
            return False
        known.next_turn = now + interval
        return True

    def close(self, key: str, now: float, seconds: float) -> None:
        """Slack wants nothing of the kind for `seconds`."""
        self._of(key).closed_until = now + seconds
        _log.warning("Slack wants %.0f seconds without %s", seconds, key.partition(":")[0])

    def closed_for(self, key: str, now: float) -> float:
        return max(0.0, self._of(key).closed_until - now)

    def _of(self, key: str) -> _Known:
        known = self._known.setdefault(key, _Known())
        self._known.move_to_end(key)
        while len(self._known) > self._size:
            self._known.popitem(last=False)
        return known
