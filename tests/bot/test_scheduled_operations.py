"""What those who keep the bot running see of schedules: /readyz and /metrics."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import aiohttp
import pytest
from prometheus_client.parser import text_string_to_metric_families

from adapters.memory.inbox import MemoryInbox
from adapters.memory.index import MemoryIndex
from adapters.memory.leadership import MemoryLeadership
from adapters.memory.timetable import MemoryTimetable
from bot.http import HttpServer, Listening
from bot.library import Shelf
from bot.metrics import Metrics
from bot.operations import Operations
from bot.ports import SourceRecord, SyncState
from bot.schedules import Schedules
from bot.settings import Settings
from bot.standing import Pacing, standing
from bot.sync_schedule import SyncSchedule
from bot.timetable import Entry
from graph.model import SourceType

HOUR = timedelta(hours=1)
HOURLY = SyncSchedule("0 * * * *")
AT = datetime(2026, 5, 4, 3, 0, tzinfo=UTC)


class Operated:
    def __init__(self, home: Path, http: HttpServer) -> None:
        self.index, self.timetable = MemoryIndex(), MemoryTimetable()
        shelves = tuple(Shelf(name, home / name, schedule=HOURLY) for name in ("runbooks", "wiki"))
        operations = Operations(Settings(home=home))
        operations.serve(http)
        operations.depend(self.index, MemoryInbox(), [])
        operations.follow(Schedules(shelves, self.timetable, MemoryLeadership()))
        operations.readiness.begin()
        self._http = http

    async def read(self, name: str, **values: object) -> None:
        ended = datetime.now(UTC)
        entry = Entry(name, ended, ended, ended, by="one:1")
        for key, value in values.items():
            entry = replace(entry, **{key: value})
        await self.timetable.save(entry)
        state = SyncState.FAILED if entry.failures else SyncState.COMPLETE
        record = SourceRecord(name, SourceType.REPO, "https://host", state, entry.ended, 3)
        await self.index.save_source(record)

    async def page(self, path: str) -> str:
        address = f"http://127.0.0.1:{self._http.port}{path}"
        async with aiohttp.ClientSession() as session, session.get(address) as response:
            return await response.text()

    async def sync(self) -> dict[str, str]:
        found: dict[str, str] = json.loads(await self.page("/readyz"))["checks"]["sync"]
        return found


@pytest.fixture
async def bot(tmp_path: Path) -> AsyncIterator[Operated]:
    async with HttpServer(Listening(port=0)) as http:
        yield Operated(tmp_path, http)


async def test_sources_that_are_fresh_are_fine(bot: Operated) -> None:
    await bot.read("runbooks")
    await bot.read("wiki")
    told = await bot.sync()
    assert told["state"] == "ok"
    assert "2 of 2 sources complete" in told["detail"]


async def test_readyz_names_what_is_overdue_and_what_fails(bot: Operated) -> None:
    """It answers all the same: old documents are better than none."""
    now = datetime.now(UTC)
    await bot.read(
        "runbooks", started=now - 9 * HOUR, ended=now - 9 * HOUR, succeeded=now - 9 * HOUR
    )
    await bot.read("wiki", failures=2, error="https://user:secret@host does not answer")
    told = await bot.sync()
    assert told["state"] == "note"
    assert "; overdue: runbooks; failing: wiki" in told["detail"]
    assert "secret" not in told["detail"]
    assert json.loads(await bot.page("/readyz"))["status"] == "degraded"


async def test_metrics_tell_the_age_of_each_source_after_a_restart_too(bot: Operated) -> None:
    """This process never saw the sync that went well: it is in the timetable."""
    now = datetime.now(UTC)
    await bot.read("runbooks", failures=3, error="away", succeeded=now - 5 * HOUR)
    await bot.read("wiki")
    text = await bot.page("/metrics")
    told = {
        (sample.name, sample.labels["source"]): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
        if "source" in sample.labels
    }
    assert told["belay_source_age_seconds", "runbooks"] == pytest.approx(5 * 3600, abs=60)
    assert told["belay_source_age_seconds", "wiki"] == pytest.approx(0, abs=60)
    assert told["belay_source_failures", "runbooks"] == 3
    assert told["belay_source_failures", "wiki"] == 0
    assert told["belay_source_overdue", "runbooks"] == 1
    assert told["belay_source_overdue", "wiki"] == 0


def test_the_age_grows_while_nothing_is_synced_and_goes_with_its_source() -> None:
    metrics = Metrics(process=False)
    record = SourceRecord("runbooks", SourceType.REPO, "x", SyncState.COMPLETE, AT, 3)
    late = standing(HOURLY, Entry("runbooks", AT, AT, AT), AT + 2 * HOUR, pacing=Pacing())
    metrics.see_sources([record], [late], AT + 2 * HOUR)
    assert b'belay_source_age_seconds{source="runbooks"} 7200.0' in metrics.exposition()
    assert b'belay_source_overdue{source="runbooks"} 1.0' in metrics.exposition()
    running = replace(record, state=SyncState.RUNNING, last_run=AT + 3 * HOUR)
    metrics.see_sources([running], [], AT + 3 * HOUR)
    assert b'belay_source_age_seconds{source="runbooks"} 10800.0' in metrics.exposition()
    metrics.see_sources([])
    assert b"runbooks" not in metrics.exposition()
