"""A sync that another machine runs is told as running by all that tell how sources stand, and a
sync that nobody runs is not."""

from __future__ import annotations

import json
import uuid
from collections.abc import AsyncIterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import aiohttp
import pytest
from prometheus_client.parser import text_string_to_metric_families

from adapters.console import create as terminal
from adapters.memory.inbox import MemoryInbox
from adapters.memory.index import MemoryIndex
from adapters.redis.server import create
from bot.cli import schedules as told
from bot.http import HttpServer, Listening
from bot.ingest.lock import held
from bot.library import LOCK_FILE
from bot.operations import Operations
from bot.ports import SourceRecord, SyncState
from bot.schedules import opened_schedules, standings_of
from bot.seen import seen_sources
from bot.settings import Settings
from bot.standing import Standing
from bot.sync_lead import TASK, sole_writer
from bot.timetable import Entry, Leader
from graph.model import SourceType
from tests.servers.redis_server import RedisServer
from tests.servers.tcp_pipe import Pipe, piped

NOW = datetime.now(UTC)
DAY, MINUTE = timedelta(days=1), timedelta(minutes=1)
BEGUN = NOW - MINUTE
VAULT = {"name": "vault", "url": "https://git.example.org/vault.git", "kind": "vault"}


@dataclass(frozen=True)
class Machine:
    """One of several with one index and a Redis; what it looks at is read by another one."""

    settings: Settings
    index: MemoryIndex

    async def standing(self) -> Standing:
        records = await seen_sources(self.settings, self.index)
        [one], _ = await standings_of(self.settings, records)
        return one

    async def listed(self) -> str:
        """The lines of `belay sources` on schedules."""
        records = await seen_sources(self.settings, self.index)
        standings, leader = await told.scheduled(self.settings, records, terminal())
        return "\n".join(told.lines(standings, leader))

    async def row(self) -> dict[str, object]:
        """What `belay sources --json` has of the schedule."""
        return told.row(await self.standing(), None)

    async def doctor(self) -> str:
        records = await seen_sources(self.settings, self.index)
        return (await told.checked(self.settings, records)).message

    async def pages(self) -> tuple[str, dict[str, float]]:
        """The check of /readyz, and the figures of the source in /metrics."""
        server = create(self.settings.redis_url, prefix=self.settings.redis.prefix)
        async with (
            HttpServer(Listening(port=0)) as http,
            opened_schedules(self.settings, server, wait=False) as schedules,
            aiohttp.ClientSession(f"http://127.0.0.1:{http.port}") as session,
        ):
            operations = Operations(self.settings)
            operations.serve(http)
            operations.depend(self.index, MemoryInbox(), [], server)
            operations.follow(schedules)
            operations.readiness.begin()
            async with session.get("/readyz") as ready, session.get("/metrics") as figures:
                check = json.loads(await ready.text())["checks"]["sync"]
                samples = [
                    sample
                    for family in text_string_to_metric_families(await figures.text())
                    for sample in family.samples
                    if sample.labels.get("source") == "vault"
                ]
        await server.close()
        values = {sample.labels.get("state", sample.name): sample.value for sample in samples}
        return check["detail"], values

    async def has(self, entry: Entry, leader: Leader | None = None) -> None:
        async with opened_schedules(self.settings) as schedules:
            await schedules.timetable.save(entry)
            if leader is not None:
                await schedules.timetable.sign(leader)


@pytest.fixture
async def machine(tmp_path: Path, redis_server: RedisServer) -> Machine:
    """Its vault was read two days ago by schedule; then somebody began a sync by hand."""
    values = {
        "home": tmp_path / "here",
        "redis_url": redis_server.url,
        "redis": {"prefix": uuid.uuid4().hex},
        "weaviate_url": "http://127.0.0.1:9",
        "sources": [VAULT],
    }
    machine = Machine(Settings.model_validate(values), MemoryIndex())
    await machine.index.save_source(
        SourceRecord("vault", SourceType.VAULT, VAULT["url"], SyncState.RUNNING, BEGUN, 3)
    )
    ended = NOW - 2 * DAY
    await machine.has(Entry("vault", ended, ended, ended, by="before:1"))
    return machine


@pytest.fixture
async def elsewhere(machine: Machine, tmp_path: Path) -> AsyncIterator[None]:
    """The sync, on another machine."""
    other = machine.settings.model_copy(update={"home": tmp_path / "there"})
    async with sole_writer(other, TASK, machine.index):
        yield


@pytest.mark.usefixtures("elsewhere")
async def test_a_sync_of_another_machine_runs_wherever_the_standing_is_told(
    machine: Machine,
) -> None:
    listed = await machine.listed()
    assert f"runs since {BEGUN:%Y-%m-%d %H:%M} UTC" in listed
    assert "OVERDUE" not in listed
    row = await machine.row()
    assert (row["running"], row["overdue"]) == (True, False)
    assert "running: vault" in await machine.doctor()
    detail, values = await machine.pages()
    assert "; running: vault" in detail
    assert "overdue" not in detail
    assert (values["running"], values["interrupted"]) == (1, 0)
    assert values["belay_source_overdue"] == 0


async def test_a_sync_that_nobody_runs_was_interrupted_wherever_the_standing_is_told(
    machine: Machine,
) -> None:
    listed = await machine.listed()
    assert "next run now" in listed
    assert "OVERDUE" in listed
    row = await machine.row()
    assert (row["running"], row["overdue"]) == (False, True)
    assert "running" not in await machine.doctor()
    detail, values = await machine.pages()
    assert "running" not in detail
    assert (values["running"], values["interrupted"]) == (0, 1)
    assert values["belay_source_overdue"] == 1


async def test_a_sync_of_this_data_folder_runs_without_asking_redis(machine: Machine) -> None:
    away = machine.settings.model_copy(update={"redis_url": "redis://127.0.0.1:9"})
    with held(machine.settings.home / LOCK_FILE):
        [record] = await seen_sources(away, machine.index)
    assert record.state is SyncState.RUNNING


async def test_a_sync_by_hand_that_was_cut_off_does_not_run_because_somebody_leads(
    machine: Machine,
) -> None:
    """The process that runs the schedules is at something else."""
    entry = Entry("vault", NOW - 2 * DAY, NOW - 2 * DAY, NOW - 2 * DAY, by="one:1")
    await machine.has(entry, Leader("one:1", NOW + DAY))
    assert not (await machine.standing()).running


async def test_a_run_of_a_process_that_died_does_not_run_because_another_one_leads(
    machine: Machine,
) -> None:
    begun = Entry("vault", NOW, None, NOW - DAY, by="one:1")
    await machine.has(begun, Leader("two:2", NOW + DAY))
    assert not (await machine.standing()).running
    await machine.has(replace(begun, by="two:2"))
    assert (await machine.standing()).since == begun.started  # it may still be fetching


# Redis is away


async def test_without_redis_the_command_line_tells_what_is_known_here(
    machine: Machine, capsys: pytest.CaptureFixture[str]
) -> None:
    away = replace(
        machine, settings=machine.settings.model_copy(update={"redis_url": "redis://127.0.0.1:9"})
    )
    [record] = await seen_sources(away.settings, machine.index)
    assert record.state is SyncState.INTERRUPTED
    assert await away.listed() == ""
    assert "schedules cannot be told: Redis at 127.0.0.1:9" in capsys.readouterr().err
    assert "cannot be told: Redis at 127.0.0.1:9" in await away.doctor()


@pytest.fixture
async def pipe(redis_server: RedisServer) -> AsyncIterator[Pipe]:
    async with piped("127.0.0.1", redis_server.port) as pipe:
        yield pipe


@pytest.mark.usefixtures("elsewhere")
async def test_a_redis_that_says_nothing_keeps_no_page_from_telling_the_rest(
    machine: Machine, pipe: Pipe
) -> None:
    """It gets a part of the time of a check, so that there is an answer within that."""
    settings = machine.settings.model_copy(update={"redis_url": f"redis://127.0.0.1:{pipe.port}"})
    silent = replace(machine, settings=settings)
    assert "; running: vault" in (await silent.pages())[0]
    pipe.hold()
    detail, values = await silent.pages()
    assert "0 of 1 sources complete, last at " in detail
    assert "; schedules cannot be told" in detail
    assert values["interrupted"] == 1
    assert values["belay_source_files"] == 3
    [record] = await seen_sources(settings, machine.index)
    assert record.state is SyncState.INTERRUPTED
