"""The roll of this bot: where it is kept, and the access that it decides together with settings."""

from __future__ import annotations

from pathlib import Path

from bot.access import Access, Groups, Roll, no_groups
from bot.registry import factory
from bot.settings import Settings

ROLL_FILE = "access.db"


def open_roll(home: Path) -> Roll:
    """Who was let in."""
    roll: Roll = factory("roll.sqlite")(home / ROLL_FILE)
    return roll


def make_access(settings: Settings, roll: Roll, groups: Groups = no_groups) -> Access:
    return Access(
        roll,
        frozenset(settings.admins),
        directory=settings.access.directory(),
        groups=groups,
        private_names=frozenset(settings.web_search.private_names),
    )
