"""Where schedules are kept, and for whom: a data folder, or machines that share an index."""

from __future__ import annotations

import uuid
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from adapters.memory.index import MemoryIndex
from bot.ports import SourceRecord
from bot.schedules import looked_after, opened_schedules, standings_of
from bot.settings import Settings
from bot.timetable import Entry, Leader
from graph.model import SourceType
from tests.servers.redis_server import RedisServer

NOW = datetime.now(UTC)
VAULT = {"url": "https://git.example.org/vault.git", "kind": "vault"}
TASK = "schedule"


def settings(home: Path, **values: Any) -> Settings:
    return Settings.model_validate({"home": home, "sources": [VAULT], **values})


async def test_processes_on_one_data_folder_share_leads_and_timetable(tmp_path: Path) -> None:
    here, elsewhere = settings(tmp_path / "a"), settings(tmp_path / "b")
    async with opened_schedules(here) as one, opened_schedules(here) as two:
        assert await one.leadership.lead(TASK, 60)
        assert not await two.leadership.lead(TASK, 60)
        await one.timetable.save(Entry("vault", NOW))
        assert await two.timetable.entries() == {"vault": Entry("vault", NOW)}
        async with opened_schedules(elsewhere) as other:
            assert await other.leadership.lead(TASK, 60)
            assert await other.timetable.entries() == {}
            assert other.seed != one.seed == two.seed


async def test_machines_that_share_an_index_share_leads_and_timetable(
    tmp_path: Path, redis_server: RedisServer
) -> None:
    shared = {
        "weaviate_url": "http://127.0.0.1:9",
        "redis_url": redis_server.url,
        "redis": {"prefix": uuid.uuid4().hex},
    }
    first, second = settings(tmp_path / "a", **shared), settings(tmp_path / "b", **shared)
    async with opened_schedules(first) as one, opened_schedules(second) as two:
        assert await one.leadership.lead(TASK, 60)
        assert not await two.leadership.lead(TASK, 60)
        await one.timetable.sign(Leader("one:1", NOW + timedelta(hours=1)))
        leader = await two.led_by()
        assert leader is not None
        assert leader.name == "one:1"
        assert one.seed == two.seed


async def test_replicas_with_an_index_each_lead_each(
    tmp_path: Path, redis_server: RedisServer
) -> None:
    """Redis alone shares no index: every one of them has to read the sources."""
    shared = {"redis_url": redis_server.url, "redis": {"prefix": uuid.uuid4().hex}}
    first, second = settings(tmp_path / "a", **shared), settings(tmp_path / "b", **shared)
    async with opened_schedules(first) as one, opened_schedules(second) as two:
        assert await one.leadership.lead(TASK, 60)
        assert await two.leadership.lead(TASK, 60)
        assert one.seed != two.seed


async def test_without_schedules_nothing_is_opened(tmp_path: Path) -> None:
    bare = Settings.model_validate({"home": tmp_path, "sources": [{"path": "docs"}]})
    assert await standings_of(bare, ()) == ([], None)
    assert await looked_after(bare, MemoryIndex()) == frozenset()
    assert list(tmp_path.iterdir()) == []


async def test_a_start_leaves_to_a_schedule_what_was_read_as_it_is_read_now(
    tmp_path: Path,
) -> None:
    index, kept = MemoryIndex(), settings(tmp_path)
    async with opened_schedules(kept) as schedules:
        (shelf,) = schedules.shelves
        await schedules.timetable.save(Entry("vault", NOW, NOW, NOW, reading=shelf.reading))
    assert await looked_after(kept, index) == frozenset()  # not in this index
    record = SourceRecord("vault", SourceType.VAULT, VAULT["url"], chunks=3)
    index = await _holding(record)
    assert await looked_after(kept, index) == {"vault"}
    for changed in (
        {"audience": "director"},
        {"labels": ["finance"]},
        {"tenant": "other"},
        {"branch": "work"},
        {"folder": "docs"},
        {"include": ["*.md"]},
        {"exclude": ["old/**"]},
        {"url": "https://git.example.org/other.git", "name": "vault"},
        {"link": "https://git.example.org/{commit}/{path}#L{line}"},
    ):
        other = settings(tmp_path, sources=[{**VAULT, **changed}])
        assert await looked_after(other, index) == frozenset(), changed
    for changed in ({"schedule": "0 3 * * *"}, {"jitter": "5m"}, {"proxy": "http://127.0.0.1:9"}):
        same = settings(tmp_path, sources=[{**VAULT, **changed}])
        assert await looked_after(same, index) == {"vault"}, changed
    masked = settings(tmp_path, ingest={"mask_secrets": False})
    assert await looked_after(masked, index) == frozenset()
    closed = settings(tmp_path, access={"folders": [{"path": "pay", "audience": "director"}]})
    assert await looked_after(closed, index) == frozenset()


async def _holding(record: SourceRecord) -> MemoryIndex:
    class Holding(MemoryIndex):
        async def sources(self) -> list[SourceRecord]:
            return [record]

    return Holding()
