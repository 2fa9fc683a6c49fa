"""What the application tells of its work to whoever counts it: metrics, traces, or nobody."""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum
from typing import TYPE_CHECKING, Protocol

from graph.model import Outcome, Question

if TYPE_CHECKING:
    from graph.machine import Finished


class Trouble(StrEnum):
    """Why an event was not simply answered. A closed list: it labels metrics."""

    UNREACHABLE = "unreachable"  # the messenger; the answer is sent again
    REFUSED = "refused"  # the messenger takes this answer in no form
    GONE = "gone"  # the bot was removed or blocked
    GIVEN_UP = "given_up"  # unreachable for so long that nobody waits for the answer
    STORAGE = "storage"  # the inbox or another store
    UNEXPECTED = "unexpected"  # an error that nobody foresaw
    LIMITED = "limited"  # the person or the place asks too much


class Meter(Protocol):
    """Called where something has just happened. Never raises and never waits.

    `platform` is the name of a messenger. Texts and people are in the values, and stay out of
    whatever leaves the process, unless a setting says otherwise.
    """

    def answered(self, finished: Finished, question: Question, platform: str) -> None:
        """A question came to its end, and the answer was handed to the messenger."""

    def noted(self, platform: str, outcome: Outcome) -> None:
        """A command answered without a search."""

    def first_sign(self, platform: str, seconds: float) -> None:
        """The asker saw something for the first time, so long after the message was sent."""

    def trouble(self, platform: str, trouble: Trouble) -> None: ...


class Silent(Meter):
    """Counts nothing."""

    def answered(self, finished: Finished, question: Question, platform: str) -> None:
        pass

    def noted(self, platform: str, outcome: Outcome) -> None:
        pass

    def first_sign(self, platform: str, seconds: float) -> None:
        pass

    def trouble(self, platform: str, trouble: Trouble) -> None:
        pass


class Meters(Meter):
    """Tells several."""

    def __init__(self, meters: Iterable[Meter]) -> None:
        self._meters = tuple(meters)

    def answered(self, finished: Finished, question: Question, platform: str) -> None:
        for meter in self._meters:
            meter.answered(finished, question, platform)

    def noted(self, platform: str, outcome: Outcome) -> None:
        for meter in self._meters:
            meter.noted(platform, outcome)

    def first_sign(self, platform: str, seconds: float) -> None:
        for meter in self._meters:
            meter.first_sign(platform, seconds)

    def trouble(self, platform: str, trouble: Trouble) -> None:
        for meter in self._meters:
            meter.trouble(platform, trouble)
