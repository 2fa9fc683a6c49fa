"""Processes that share a Redis are of one bot, and two bots never take each other's questions.

What lies under one prefix is named by messenger and place. Two bots, as of a test and of
production, would answer there for each other: in chats that they are not in, so that the answers
are lost.
"""

from __future__ import annotations

import asyncio
import logging
import re
from collections.abc import Mapping

from bot.errors import SettingsError, StorageError
from bot.leadership import Leadership
from bot.ports import SharedServer
from bot.registry import factory
from bot.settings import Settings

LEASE = 30.0  # seconds, until a bot that has ended makes room for another one
_LOOKS = 20  # in two leases

_TOKENS = {
    "telegram": re.compile(r"(\d+):"),
    "slack": re.compile(r"xoxb-(\d+-\d+)-"),  # of the workspace and of the bot
}
"""The parts of tokens that stay when a token is renewed, and are no secret."""

_log = logging.getLogger(__name__)


def identities(settings: Settings) -> Mapping[str, str]:
    """By messenger, the number of its bot, as far as the tokens tell."""
    tokens = {"telegram": settings.telegram_token, "slack": settings.slack_bot_token}
    found = {name: _TOKENS[name].match(token.get_secret_value()) for name, token in tokens.items()}
    return {name: match[1] for name, match in found.items() if match}


class OneBot:
    """The claim of this process's bot on the prefix of a server; nothing is claimed without one.

    All processes of a bot hold it together.
    """

    def __init__(
        self, settings: Settings, server: SharedServer | None, *, lease: float = LEASE
    ) -> None:
        self._prefix, self._lease = settings.redis.prefix, lease
        self._claims: dict[str, Leadership] = {}
        if server is not None:
            self._claims = {
                name: factory("leadership.redis")(server, holder=number)
                for name, number in identities(settings).items()
            }

    async def claim(self) -> None:
        """Waits for the lease of a bot that has ended. Raises SettingsError when it has not,
        StorageError."""
        for name in self._claims:
            if not await self._held_in_time(name):
                raise SettingsError(
                    f"Another bot of {name} uses the Redis of BELAY_REDIS_URL, with the prefix "
                    f"{self._prefix!r}: each would take the other's questions.",
                    "Give one of them a BELAY_REDIS__PREFIX of its own, or stop it.",
                )

    async def keep(self) -> None:
        """Renews the claim, until cancelled."""
        while True:
            await asyncio.sleep(self._lease / 3)
            for name in self._claims:
                try:
                    held = await self._held(name)
                except StorageError as error:
                    _log.debug("the claim of %s was not renewed: %s", name, error)
                    continue
                if not held:
                    _log.error(
                        "another bot of %s uses the prefix %r of Redis, and takes questions of "
                        "this one: give it a prefix of its own", name, self._prefix,
                    )  # fmt: skip

    async def _held_in_time(self, name: str) -> bool:
        for _ in range(_LOOKS):
            if await self._held(name):
                return True
            await asyncio.sleep(2 * self._lease / _LOOKS)
        return False

    async def _held(self, name: str) -> bool:
        return bool(await self._claims[name].lead(f"bot-{name}", self._lease))
