"""How the desk of bot/inbox.py works: times and counts."""

from __future__ import annotations

from dataclasses import dataclass, field

from bot.pending import Joining


@dataclass(frozen=True, slots=True)
class DeskOptions:
    """Seconds and counts."""

    workers: int = 8  # conversations at work at a time
    lease: float = 15.0  # after which a killed process's question is taken again
    poll: float = 1.0  # between two looks for events of other processes
    late_after: float = 900.0  # a question this old is answered with a note
    max_attempts: int = 2  # until an unexpected error is told to the asker
    max_takes: int = 10  # until a question that kills its process is given up
    backoff: float = 1.0  # before the second attempt; doubles
    longest_backoff: float = 60.0
    give_up: float = 86_400.0  # an undeliverable answer is dropped at this age
    last_call: float = 10.0  # on shutdown, for a call to the platform that is on its way
    joining: Joining = field(default_factory=Joining)
