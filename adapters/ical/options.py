"""Times and bounds of reading calendars, in seconds unless said otherwise."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Options:
    refresh: float = 300.0  # how old a calendar may become
    retry: float = 60.0  # after one that could not be read
    timeout: float = 10.0  # for one whole reading
    redirects: int = 3  # followed
    most_bytes: int = 10_000_000  # of a calendar, unpacked
    most_events: int = 20_000
    spans: int = 64  # days about which expanded shifts are remembered
