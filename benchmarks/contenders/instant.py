"""A model and a web that answer at once, and count how often they were asked."""

from __future__ import annotations

from dataclasses import dataclass, field

from benchmarks.contenders.job import Verdicts

ANSWER = "The passages say so [1]."
REWRITTEN = "how to operate this service"
WEB = tuple(
    (f"https://example.org/{number}", f"Page {number}", f"Page {number} is about other services.")
    for number in range(1, 6)
)
"""(address, title, text) of what every search of the web finds."""


@dataclass(slots=True)
class Judge:
    """Stands in for the opinion of a model: are these passages relevant?

    By the labels it is as right as a judge of documents can be; the other two ways bound what any
    model can make of a flow.
    """

    verdicts: Verdicts = Verdicts.GOLD
    gold: frozenset[str] = frozenset()
    calls: int = field(default=0)
    searches: int = field(default=0)

    def turn_to(self, gold: frozenset[str]) -> None:
        """The next question: `gold` are the texts that show an answering document in a prompt."""
        self.gold, self.calls, self.searches = gold, 0, 0

    def relevant(self, prompt: str) -> bool:
        if self.verdicts is Verdicts.GOLD:
            return any(text in prompt for text in self.gold)
        return self.verdicts is Verdicts.YES

    def search(self, limit: int) -> tuple[tuple[str, str, str], ...]:
        self.searches += 1
        return WEB[:limit]
