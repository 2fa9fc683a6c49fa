"""Times and bounds of the Telegram adapter, in seconds unless said otherwise."""

from __future__ import annotations

from dataclasses import dataclass, field

from bot.pending import Joining


@dataclass(frozen=True, slots=True)
class Options:
    call_timeout: int = 20  # for a message
    frame_timeout: int = 5  # for a sign that may be dropped
    file_timeout: int = 60  # for a file that is handed in
    largest_file: int = 20 * 1024 * 1024  # bytes that Telegram's own servers give
    poll: int = 50  # how long one getUpdates waits for news
    poll_slack: int = 10  # beyond it, until the connection counts as dead
    backoff: float = 1.0  # after a failed poll; doubles
    longest_backoff: float = 30.0
    draft_every: float = 0.35  # in a private chat
    edit_every: float = 3.0  # in a group: Telegram allows 20 messages a minute there
    quiet: float = 1.5  # a group sees "typing" this long before a message appears
    refresh_every: float = 4.0  # "typing" is shown for 5 seconds
    draft_life: float = 20.0  # a draft vanishes after 30
    oldest_stream: float = 900.0  # nothing is refreshed longer
    patience: float = 120.0  # for the waits that Telegram demands before one message
    tries: int = 8  # of one message, each in another way
    chats: int = 10_000  # whose pace is remembered
    joining: Joining = field(default_factory=Joining)  # of pieces in groups, as the desk does it
