"""A team whose documents keep fresh by themselves: changes, a process that dies, a server that
is away."""

from __future__ import annotations

import asyncio
import os
import subprocess
from collections.abc import AsyncIterator, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, replace
from datetime import timedelta
from functools import partial
from pathlib import Path

import pytest

from bot.app import App, open_index
from bot.cli.schedules import lines
from bot.library import sync_shelf
from bot.ports import SyncState
from bot.progress import Silent
from bot.scheduled_syncs import ScheduledSyncs
from bot.schedules import Schedules, opened_schedules
from bot.settings import load
from graph.machine import Machine
from graph.ports import Embedder, Matrix, Ports
from tests.bot.schedule_kit import Clock, Process
from tests.scenarios.kit import Chat

MINUTE = timedelta(minutes=1)
SETTINGS = """
[schedules]
jitter = "20s"
retry = "1m"

[git]
protocols = ["file"]

[[sources]]
path = "docs"
schedule = "*/15 * * * *"

[[sources]]
name = "runbooks"
url = "{url}"
schedule = "*/10 * * * *"
"""


@dataclass
class Scheduled:
    """A settings file, a folder, a repository, and processes that read them."""

    folder: Path
    embedder: Embedder
    clock: Clock
    schedules: Schedules
    app: App

    def writes(self, path: str, text: str) -> None:
        place = self.folder / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text, encoding="utf-8")
        if place.is_relative_to(self.folder / "up"):
            commit(self.folder / "up")

    def process(self, name: str) -> AbstractAsyncContextManager[Process]:
        home = self.app.settings.home
        sync = partial(sync_shelf, self.app, home=home, progress=Silent())
        return self.clock.process(name, self.schedules, self.app.index, sync)

    async def asked(self, question: str) -> Chat:
        chat = Chat(self.app, self.app.machine)
        await chat.says(question)
        return chat

    async def shown(self) -> str:
        """What `belay sources` tells at this moment."""
        now, records = self.clock.now, await self.app.index.sources()
        standings = await self.schedules.standings(records, now)
        found = {one.source: one for one in standings}
        return "\n".join(lines(found, await self.schedules.led_by(now), now))


def commit(repository: Path) -> None:
    who = ["-c", "user.name=a", "-c", "user.email=a@example.org"]
    for words in (["add", "-A"], ["commit", "-q", "-m", "change"]):
        subprocess.run(["git", *who, *words], cwd=repository, check=True, capture_output=True)


@pytest.fixture
async def team(tmp_path: Path, embedder: Embedder) -> AsyncIterator[Scheduled]:
    """Billing is in the folder, the pager in the repository; nothing is read yet."""
    repository = tmp_path / "up"
    subprocess.run(["git", "init", "-q", "-b", "main", str(repository)], check=True)
    toml = tmp_path / "belay.toml"
    toml.write_text(SETTINGS.format(url=repository.as_uri()), encoding="utf-8")
    os.environ["BELAY_CONFIG"] = str(toml)
    settings = load(home=tmp_path / "home")
    listed = [item.model_copy(update={"path": tmp_path / "docs"}) for item in settings.sources[:1]]
    settings = settings.model_copy(update={"sources": (*listed, *settings.sources[1:])})
    index = await open_index(settings)
    machine = Machine(Ports(index, embedder, embedder))
    app = App(settings, index, embedder, embedder, machine)
    async with opened_schedules(settings) as schedules:
        team = Scheduled(tmp_path, embedder, Clock(), schedules, app)
        team.writes("docs/billing.md", "# Billing\n\nBilling listens on port 8081.\n")
        team.writes("up/pager.md", "# Pager\n\nThe pager of the night shift is number 4400.\n")
        yield team
    await index.close()


async def test_documents_keep_fresh_over_changes_a_crash_and_an_outage(team: Scheduled) -> None:
    """IN-29, OP-11: what was read before answers while its server is away."""
    async with team.process("one:1") as first:
        assert sorted(first.synced) == ["docs", "runbooks"]  # neither was read before
        (await team.asked("which port does billing listen on?")).sees("8081")
        assert "run by one:1" in await team.shown()

        team.writes("docs/billing.md", "# Billing\n\nBilling listens on port 9099.\n")
        await team.clock.passes(16 * MINUTE)
        (await team.asked("which port does billing listen on?")).sees("9099")

        async with team.process("two:2") as second:
            await team.clock.passes(16 * MINUTE)
            assert second.synced == []
            first.killed()
            team.writes("up/pager.md", "# Pager\n\nThe pager of the night shift is number 5511.\n")
            await team.clock.passes(16 * MINUTE)
            assert set(second.synced) == {"docs", "runbooks"}
            assert "run by two:2" in await team.shown()
            number = "which number is the pager of the night shift?"
            (await team.asked(number)).sees("5511")

            (team.folder / "up").rename(team.folder / "away")
            second.synced.clear()
            await team.clock.passes(12 * MINUTE)
            (await team.asked(number)).sees("5511")
            told = await team.shown()
            assert second.synced.count("runbooks") in (3, 4), "a minute later, then two, then four"
            assert "next try 2031-" in told
            assert "times in a row: " in told
            assert "docs: */15 * * * * (UTC); next run 2031-" in told

            (team.folder / "away").rename(team.folder / "up")
            await team.clock.passes(10 * MINUTE)
            assert "failed" not in await team.shown()


class Held(Embedder):
    """Waits with its first text until it is let go."""

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder
        self.asked, self.go = asyncio.Event(), asyncio.Event()

    @property
    def name(self) -> str:
        return self._embedder.name

    @property
    def dimension(self) -> int:
        return self._embedder.dimension

    async def embed_questions(self, texts: Sequence[str]) -> Matrix:
        return await self._embedder.embed_questions(texts)

    async def embed_passages(self, texts: Sequence[str]) -> Matrix:
        self.asked.set()
        await self.go.wait()
        return await self._embedder.embed_passages(texts)


async def test_op_01_a_sync_that_a_signal_cuts_off_is_resumed(team: Scheduled) -> None:
    held = Held(team.embedder)
    whole, team.app = team.app, replace(team.app, embedder=held)
    home = team.app.settings.home
    sync = partial(sync_shelf, team.app, home=home, progress=Silent())
    sources = team.app.index.sources
    syncs = ScheduledSyncs(team.schedules, sources, sync, name="one:1", now=team.clock)
    async with asyncio.TaskGroup() as group:
        running = group.create_task(syncs.run())
        await held.asked.wait()
        assert "docs: */15 * * * * (UTC); runs since 2031-" in await team.shown()
        running.cancel()
    states = {record.name: record.state for record in await team.app.index.sources()}
    assert states == {"docs": SyncState.INTERRUPTED}
    assert "start `belay run`" in await team.shown()
    team.app = whole
    async with team.process("two:2") as second:
        assert sorted(second.synced) == ["docs", "runbooks"]
    (await team.asked("which port does billing listen on?")).sees("8081")
