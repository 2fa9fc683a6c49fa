"""Times and bounds of the Slack adapter, in seconds unless said otherwise."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Options:
    call_timeout: float = 20.0  # for a message
    sign_timeout: float = 5.0  # for a sign of work that may be dropped
    stream_every: float = 1.0  # Slack allows about 100 appends a minute
    update_every: float = 3.0  # of one message; Slack allows about 50 a minute in all
    status_every: float = 0.5
    quiet: float = 1.5  # before a message stands in for a status
    patience: float = 120.0  # for the waits that Slack demands before one message
    tries: int = 6  # of one message, each in another way
    doubts: int = 3  # how often a message is looked for whose fate is unknown
    settle: float = 2.0  # before it is looked for
    # what comes in
    backoff: float = 1.0  # before Slack is tried again; doubles
    longest_backoff: float = 30.0
    heartbeat: float = 15.0  # of a socket
    largest: int = 4 * 1024 * 1024  # bytes of one notice
    known_for: float = 600.0  # what is known of a person or a channel
    known: int = 10_000  # people and channels
    prompt_timeout: float = 10.0  # for what nobody waits for: a home page, suggested prompts
    lookup_timeout: float = 10.0  # for one look at a person, a channel or a page of a thread
    read_retries: int = 1  # of a look that Slack puts off
    page: int = 200  # messages
    pages: int = 5  # of a thread
    thread_messages: int = 30  # the first and the newest, as the context of a question
    message_characters: int = 1_500  # of one of them
    context_characters: int = 6_000  # of all of them
    file_timeout: float = 60.0  # for one that is handed in
    files: int = 3  # that are read for one question
    file_bytes: int = 512 * 1024
    file_characters: int = 6_000
