"""Two ways to spare a service that somebody else runs: a token bucket and a circuit breaker.

Neither is thread-safe: both are used from one event loop. `clock` gives seconds that only grow.
"""

from __future__ import annotations

import time
from collections.abc import Callable

Clock = Callable[[], float]


class TokenBucket:
    """Lets `burst` calls pass at once, and after that one every `interval` seconds."""

    def __init__(self, burst: int, interval: float, clock: Clock = time.monotonic) -> None:
        self._burst, self._interval, self._clock = burst, interval, clock
        self._free_at = clock() - burst * interval  # when the next call may pass unless others wait

    def turn(self, patience: float) -> float | None:
        """How many seconds to wait for one's turn; None, and no place taken, when that is longer
        than `patience`."""
        now = self._clock()
        free_at = max(self._free_at, now - (self._burst - 1) * self._interval)
        delay = max(0.0, free_at - now)
        if delay > patience:
            return None
        self._free_at = free_at + self._interval
        return delay


class Breaker:
    """Open after `failures` in a row, for `pause` seconds; then one trial decides."""

    def __init__(self, failures: int, pause: float, clock: Clock = time.monotonic) -> None:
        self._limit, self._pause, self._clock = failures, pause, clock
        self._failed = 0
        self._open_until: float | None = None

    @property
    def open(self) -> bool:
        return self._open_until is not None and self._clock() < self._open_until

    def allows(self) -> bool:
        """True when a call may be made. After the pause one caller gets through, and the others
        wait for its result or for another pause."""
        if self.open:
            return False
        if self._open_until is not None:
            self._open_until = self._clock() + self._pause
        return True

    def success(self) -> None:
        self._failed, self._open_until = 0, None

    def failure(self) -> None:
        self._failed += 1
        if self._failed >= self._limit:
            self._open_until = self._clock() + self._pause
