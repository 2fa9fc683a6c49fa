"""What changes a shared index waits for no other machine, and does not begin beside one."""

from __future__ import annotations

from pathlib import Path
from uuid import uuid4

import pytest
from cli_kit import Belay

from adapters.redis.leadership import RedisLeadership
from bot.settings import Settings
from bot.shared import shared_server
from bot.sync_lead import unguarded
from tests.servers.redis_server import RedisServer

AWAY = {"WEAVIATE_URL": "http://127.0.0.1:9", "WEAVIATE__START_TIMEOUT": "0.1"}
MIGRATE = ("migrate", "--from", "weaviate", "--to", "sqlite")


@pytest.fixture
def belay(redis_server: RedisServer, tmp_path: Path) -> Belay:
    """On a machine with a Redis that another machine uses too."""
    shared = {"REDIS_URL": redis_server.url, "REDIS__PREFIX": f"t{uuid4().hex}"}
    return Belay(tmp_path / "home").with_(**AWAY, **shared)


@pytest.mark.parametrize("task", ["sync", "sessions"])
async def test_migrate_does_not_begin_while_another_machine_works(belay: Belay, task: str) -> None:
    settings = Settings(
        redis_url=belay.settings["BELAY_REDIS_URL"],
        redis={"prefix": belay.settings["BELAY_REDIS__PREFIX"]},
    )
    async with shared_server(settings) as server:
        elsewhere = RedisLeadership(server)
        assert await elsewhere.lead(task, 60.0)
        belay(*MIGRATE).failed(4, "maybe on another machine", repr(task))
        await elsewhere.leave(task)
    belay(*MIGRATE).failed(6, "Weaviate does not answer")


@pytest.mark.parametrize(
    ("weaviate", "redis", "expected"),
    [("", "", False), ("", "redis://r", False), ("http://w", "redis://r", False),
     ("http://w", "", True)],
)  # fmt: skip
def test_a_shared_index_without_a_common_lock_is_known(
    weaviate: str, redis: str, expected: bool
) -> None:
    assert unguarded(Settings(weaviate_url=weaviate, redis_url=redis)) is expected


def test_doctor_says_that_nothing_keeps_two_machines_apart(tmp_path: Path) -> None:
    said = Belay(tmp_path / "home").with_(**AWAY)("doctor").out
    assert "nothing keeps two machines from syncing at once" in said
    assert "BELAY_REDIS_URL" in said
