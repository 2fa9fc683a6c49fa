"""Times and bounds of the Slack adapter, in seconds unless said otherwise."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Options:
    call_timeout: float = 20.0  # for a message
    sign_timeout: float = 5.0  # for a sign of work that may be dropped
    stream_every: float = 1.0  # Slack allows about 100 appends a minute
    status_every: float = 1.0
    quiet: float = 1.5  # nothing but a status is shown this long
    patience: float = 120.0  # for the waits that Slack demands before one message
    tries: int = 6  # of one message, each in another way
    settle: float = 2.0  # before a message whose fate is unknown is looked for
    response_life: float = 1_740.0  # Slack takes replies to a command for 30 minutes
    response_uses: int = 5
    places: int = 10_000  # whose pace is remembered
