"""How often one call may ask again, and the pause after the account ran out of money."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from adapters.openai.endpoint import Persistence
from adapters.openai.faults import Fault
from graph.errors import ModelBusy, ModelError, ModelUnavailable, QuotaExhausted, ReplyUnusable


class Attempts:
    """What is left to try in one call: one repetition after a fault, one after a bad reply."""

    def __init__(self, persistence: Persistence, deadline: float, room: int) -> None:
        self.deadline = deadline  # loop time
        self.room = room  # tokens of reply to ask for
        self._persistence = persistence
        self._after_fault = True
        self._after_reply = True

    async def repeat_after(self, error: ModelError, fault: Fault) -> None:
        """Waits as long as the server asks. Raises `error` when another try is no use."""
        pause = self._pause(error, fault)
        if not self._after_fault or pause is None:
            raise error
        self._after_fault = False
        if asyncio.get_running_loop().time() + pause >= self.deadline:
            raise error
        await asyncio.sleep(pause)

    def repeat_reply(self, error: ReplyUnusable) -> None:
        """Makes more room when the reply was cut. Raises `error` the second time."""
        if not self._after_reply:
            raise error
        self._after_reply = False
        if error.cut:
            self.room *= self._persistence.growth

    def _pause(self, error: ModelError, fault: Fault) -> float | None:
        if isinstance(error, ModelUnavailable):
            pause = max(self._persistence.pause, fault.retry_after or 0.0)
        elif isinstance(error, ModelBusy) and fault.retry_after is not None:
            pause = fault.retry_after
        else:
            return None
        return pause if pause <= max(self._persistence.patience, self._persistence.pause) else None


class QuotaBreaker:
    """Answers at once, without a call, while an account is known to be used up."""

    def __init__(self, pause: float, clock: Callable[[], float]) -> None:
        self._pause = pause
        self._clock = clock
        self._until = clock()

    def check(self) -> None:
        """Raises QuotaExhausted until the pause is over."""
        left = self._until - self._clock()
        if left > 0:
            raise QuotaExhausted(f"the account was used up; next attempt in {left:.0f} s")

    def note(self, error: ModelError) -> None:
        if isinstance(error, QuotaExhausted):
            self._until = self._clock() + self._pause
