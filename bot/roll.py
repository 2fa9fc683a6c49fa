"""The roll of this bot: where it is kept, and the access that it decides together with settings."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from bot.access import Access, Groups, Roll, no_groups
from bot.registry import factory
from bot.settings import Settings
from bot.shared import shared_server

ROLL_FILE = "access.db"


def open_roll(home: Path) -> Roll:
    """Who was let in, in a file of the data folder."""
    roll: Roll = factory("roll.sqlite")(home / ROLL_FILE)
    return roll


@asynccontextmanager
async def opened_roll(settings: Settings) -> AsyncIterator[Roll]:
    """Who was let in, wherever the settings have it kept. Raises StorageError."""
    if not settings.redis_url:
        yield open_roll(settings.home)
        return
    async with shared_server(settings, wait=False) as server:
        roll: Roll = factory("roll.redis")(server)
        yield roll


def make_access(settings: Settings, roll: Roll, groups: Groups = no_groups) -> Access:
    return Access(
        roll,
        frozenset(settings.admins),
        directory=settings.access.directory(),
        groups=groups,
        private_names=frozenset(settings.web_search.private_names),
    )
