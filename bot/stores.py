"""What a bot keeps outside its process: in the data folder, or in a Redis that replicas share."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import partial

from bot.access import Roll
from bot.delivery import Mailbox
from bot.feedback import FEEDBACK_FILE, FeedbackLog
from bot.leadership import Leadership
from bot.limits import Allowance, Limiter, Rates
from bot.ports import SharedServer
from bot.registry import factory
from bot.roll import open_roll
from bot.schedules import LEADS_FILE
from bot.session_runs import open_log
from bot.sessions import SessionLog
from bot.settings import Settings
from bot.shared import shared_server
from bot.threads import FollowedThreads

INBOX_FILE, THREADS_FILE = "inbox.db", "threads.db"


@dataclass(frozen=True, slots=True)
class Stores:
    """What a bot must not forget when its process ends."""

    inbox: Mailbox
    roll: Roll
    feedback: FeedbackLog
    threads: FollowedThreads
    sessions: SessionLog
    leadership: Leadership
    allowance: Callable[[Rates], Allowance] = Limiter
    server: SharedServer | None = None  # where they are, when other processes share them


@asynccontextmanager
async def stores(settings: Settings, platforms: Sequence[str]) -> AsyncIterator[Stores]:
    """The stores in the data folder, with an inbox of which only events of `platforms` are taken.

    Raises StorageError.
    """
    home = settings.home
    inbox: Mailbox = await factory("inbox.sqlite")(home / INBOX_FILE, platforms=platforms)
    try:
        yield Stores(
            inbox,
            open_roll(home),
            factory("feedback.sqlite")(home / FEEDBACK_FILE),
            factory("threads.sqlite")(home / THREADS_FILE),
            open_log(settings),
            factory("leadership.sqlite")(home / LEADS_FILE),
        )
    finally:
        await inbox.close()


@asynccontextmanager
async def chosen_stores(
    settings: Settings, platforms: Sequence[str], server: SharedServer | None = None
) -> AsyncIterator[Stores]:
    """Those in the Redis that the settings name, which other replicas use as well; without one
    those in the data folder. `server` is that Redis, where its connections are open already.

    Raises SettingsError, StorageError.
    """
    if not settings.redis_url:
        async with stores(settings, platforms) as kept:
            yield kept
        return
    async with shared_server(settings, server) as shared:
        yield Stores(
            factory("inbox.redis")(shared, platforms=platforms),
            factory("roll.redis")(shared),
            factory("feedback.redis")(shared),
            factory("threads.redis")(shared),
            open_log(settings, shared),
            factory("leadership.redis")(shared),
            partial(factory("limits.redis"), shared),
            shared,
        )
