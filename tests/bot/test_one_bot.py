"""Which processes may share the keys of one prefix."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from pydantic import SecretStr

from adapters.redis.server import Server
from bot.errors import SettingsError
from bot.one_bot import OneBot, identities
from bot.settings import Settings
from tests.servers.redis_server import NEEDED, RedisServer, available

NEEDS_REDIS = pytest.mark.skipif(not available(), reason=NEEDED)
LEASE = 0.5  # seconds
FIRST, OTHER = "1234567890:", "9876543210:"


def settings(token: str) -> Settings:
    return Settings(telegram_token=SecretStr(token))


@pytest.fixture
async def server(tmp_path: Path) -> AsyncIterator[Server]:
    with RedisServer(tmp_path) as redis:
        server = Server(redis.url)
        yield server
        await server.close()


def test_a_bot_is_known_by_what_stays_of_its_tokens() -> None:
    for secret in "ab":
        both = Settings(
            telegram_token=SecretStr(FIRST + 35 * secret),
            slack_bot_token=SecretStr("xoxb-123456789012-210987654321-" + 24 * secret),
            slack_signing_secret=SecretStr("0123456789abcdef0123456789abcdef"),
        )
        assert identities(both) == {"telegram": FIRST[:-1], "slack": "123456789012-210987654321"}
    assert identities(Settings()) == {}


@NEEDS_REDIS
async def test_replicas_of_one_bot_share_a_prefix(server: Server) -> None:
    for secret in "ab":
        await OneBot(settings(FIRST + 35 * secret), server, lease=60.0).claim()


@NEEDS_REDIS
async def test_another_bot_is_refused_while_the_first_one_runs(server: Server) -> None:
    await OneBot(settings(FIRST + 35 * "a"), server, lease=60.0).claim()
    other = OneBot(settings(OTHER + 35 * "a"), server, lease=LEASE)
    with pytest.raises(SettingsError, match="Another bot of telegram") as refusal:
        await other.claim()
    assert "BELAY_REDIS__PREFIX" in refusal.value.remedy


@NEEDS_REDIS
async def test_another_bot_takes_over_from_one_that_has_ended(server: Server) -> None:
    await OneBot(settings(FIRST + 35 * "a"), server, lease=LEASE).claim()
    await OneBot(settings(OTHER + 35 * "a"), server, lease=60.0).claim()


async def test_without_a_redis_nothing_is_claimed() -> None:
    await OneBot(settings(FIRST + 35 * "a"), None).claim()
