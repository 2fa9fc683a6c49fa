"""The running bot over a messenger in memory: receives, answers, ends without losing anything."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from answering_kit import ANN, BOSS, GROUP, STRANGER, empty_machine, private

from adapters.memory.embedder import HashEmbedder
from adapters.memory.feedback import MemoryFeedback
from adapters.memory.inbox import MemoryInbox
from adapters.memory.index import MemoryIndex
from adapters.memory.leadership import MemoryLeadership
from adapters.memory.platform import MemoryPlatform
from adapters.memory.roll import MemoryRoll
from adapters.memory.sessions import MemorySessions
from adapters.memory.threads import MemoryThreads
from bot.access import Grant, place_key
from bot.app import App
from bot.audit import AuditQuery
from bot.auditor import open_audit
from bot.chat import Incoming, Kind, Person, Place
from bot.errors import AccessWithdrawn, SettingsError
from bot.home import Pages
from bot.ports import Completing, FileRecord, FileState, Sink, SourceRecord, SyncState
from bot.running import Bot, OnAdded
from bot.settings import Settings
from bot.stores import Stores, stores
from graph.model import Access, SourceType
from tests.contract.index_chunks import EMBEDDER, chunk_of
from tests.servers.calendar_server import calendar, event


def asks(person: Person, text: str, number: int = 1, place: Place | None = None) -> Incoming:
    where = place or private(person)
    return Incoming(Kind.QUESTION, where, person, str(number), text=text, at=datetime.now(UTC))


@pytest.fixture
def app(tmp_path: Path) -> App:
    """Without documents: the bot says so to every question."""
    words = HashEmbedder()
    settings = Settings(home=tmp_path, admins=(BOSS.key,), desk={"poll": 0.05, "grace": 0.2})
    return App(settings, MemoryIndex(), words, words, empty_machine())


@pytest.fixture
def kept() -> Stores:
    return Stores(
        MemoryInbox(),
        MemoryRoll(),
        MemoryFeedback(),
        MemoryThreads(),
        MemorySessions(),
        MemoryLeadership(),
    )


@pytest.fixture
def telegram() -> MemoryPlatform:
    return MemoryPlatform("telegram")


Run = Callable[..., Any]


@pytest.fixture
def running(app: App, kept: Stores) -> Run:
    """Runs a bot around the block; at its end the bot is told to stop."""

    @asynccontextmanager
    async def run(*platforms: MemoryPlatform) -> AsyncIterator[None]:
        stop = asyncio.Event()
        bot = Bot(app, kept, lambda wanted: platforms)
        async with asyncio.TaskGroup() as group:
            group.create_task(bot.run(stop))
            try:
                yield
            finally:
                stop.set()

    return run


async def test_an_admin_s_question_is_answered(running: Run, telegram: MemoryPlatform) -> None:
    question = asks(BOSS, "which port does billing use?")
    async with running(telegram):
        await telegram.says(question)
        await telegram.until(lambda: telegram.shown(question))
    assert "No documents are indexed yet" in telegram.shown(question)
    assert telegram.closed
    assert not telegram.receiving


async def test_the_running_bot_writes_down_who_asked(
    app: App, running: Run, telegram: MemoryPlatform
) -> None:
    question = asks(BOSS, "which port does billing use?")
    async with running(telegram):
        await telegram.says(question)
        await telegram.until(lambda: telegram.shown(question))
    (row,) = await open_audit(app.settings.home, app.settings.audit).find(AuditQuery())
    assert (row.person, row.question) == (BOSS.key, question.text)


async def test_what_was_said_is_indexed_when_the_bot_ends(
    app: App, kept: Stores, telegram: MemoryPlatform
) -> None:
    """And before, from time to time: what a run missed, the next one has."""
    sessions, stop = MemoryIndex(), asyncio.Event()
    bot = Bot(replace(app, sessions=sessions), kept, lambda wanted: [telegram])
    said = asks(BOSS, "we fail over the orders database on Tuesday at ten")
    async with asyncio.TaskGroup() as group:
        group.create_task(bot.run(stop))
        await telegram.says(said)
        await telegram.until(lambda: telegram.shown(said))
        stop.set()
    found = [passage.text async for passage, _, _ in sessions.chunks()]
    assert found == [said.text]


async def test_sc_08_a_stranger_learns_how_to_ask_for_access(
    running: Run, telegram: MemoryPlatform
) -> None:
    question = asks(STRANGER, "what is the prod DB host?")
    async with running(telegram):
        await telegram.says(question)
        await telegram.until(lambda: telegram.shown(question))
    assert "/allow" in telegram.shown(question)


async def test_who_is_on_call_is_answered_from_the_calendar_of_the_settings(
    app: App, kept: Stores, telegram: MemoryPlatform, tmp_path: Path
) -> None:
    now = datetime.now(UTC)
    shift = event("On Call - Ann Lee - payments", now - timedelta(days=1), now + timedelta(days=1))
    (tmp_path / "rota.ics").write_text(calendar(shift), encoding="utf-8")
    oncall = {"schedules": [{"name": "payments", "file": tmp_path / "rota.ics"}]}
    settings = Settings(home=tmp_path, admins=(BOSS.key,), desk={"poll": 0.05}, oncall=oncall)
    bot = Bot(replace(app, settings=settings), kept, lambda wanted: [telegram])
    question, stop = asks(BOSS, "who is on call for payments?"), asyncio.Event()
    async with asyncio.TaskGroup() as group:
        group.create_task(bot.run(stop))
        await telegram.says(question)
        await telegram.until(lambda: telegram.shown(question))
        stop.set()
    assert "Ann Lee" in telegram.shown(question)


async def test_each_platform_answers_its_own_people(running: Run, kept: Stores) -> None:
    one, two = MemoryPlatform("telegram"), MemoryPlatform("slack")
    ann, eve = asks(ANN, "hello?"), asks(Person("slack", "U1"), "hello?")
    async with running(one, two):
        await one.says(ann)
        await two.says(eve)
        await one.until(lambda: one.shown(ann))
        await two.until(lambda: two.shown(eve))
    assert not one.shown(eve)
    assert not two.shown(ann)


async def test_op_05_a_refused_token_ends_the_bot_and_names_the_variable(running: Run) -> None:
    refused = MemoryPlatform("telegram", refused="BELAY_TELEGRAM_TOKEN was refused")
    other = MemoryPlatform("slack")
    with pytest.raises(ExceptionGroup) as caught:
        async with running(refused, other):
            await asyncio.Event().wait()
    leaf: BaseException = caught.value
    while isinstance(leaf, BaseExceptionGroup):
        leaf = leaf.exceptions[0]
    assert isinstance(leaf, SettingsError)
    assert "BELAY_TELEGRAM_TOKEN" in str(leaf)
    assert refused.closed
    assert other.closed


class Ending(MemoryPlatform):
    """A messenger whose connection ends for good without an error."""

    async def run(self, sink: Sink) -> None:
        return


async def test_a_platform_that_ends_by_itself_ends_the_process(running: Run) -> None:
    """Rather than a bot that looks alive and hears nothing."""
    with pytest.raises(ExceptionGroup):
        async with running(Ending("telegram")):
            await asyncio.Event().wait()


async def test_op_01_what_waits_at_the_end_is_answered_by_the_next_process(
    app: App, tmp_path: Path
) -> None:
    """The question was stored and the process ended: the next one answers it, once."""
    question = asks(BOSS, "which port does billing use?")
    async with stores(Settings(home=tmp_path), ["telegram"]) as kept:
        assert await kept.inbox.put(question)
        assert not await kept.inbox.put(question)
    for answered in (True, False):
        telegram, stop = MemoryPlatform("telegram"), asyncio.Event()
        async with (
            stores(Settings(home=tmp_path), ["telegram"]) as kept,
            asyncio.TaskGroup() as group,
        ):
            bot = Bot(app, kept, lambda wanted, made=telegram: [made])
            group.create_task(bot.run(stop))
            if answered:
                await telegram.until(lambda made=telegram: made.shown(question))
            else:
                await telegram.says(question)
                assert await kept.inbox.waiting() == 0
            stop.set()
        assert bool(telegram.shown(question)) is answered


async def test_events_of_platforms_without_a_token_wait(tmp_path: Path) -> None:
    async with stores(Settings(home=tmp_path), ["slack"]) as kept:
        await kept.inbox.put(asks(BOSS, "hello?"))
        assert await kept.inbox.take("me", 1.0) is None
        assert await kept.inbox.waiting() == 1


@pytest.mark.parametrize(("person", "stays"), [(BOSS, "stay"), (STRANGER, "leave")])
async def test_sc_08_platforms_are_told_whose_groups_to_leave(
    app: App, kept: Stores, person: Person, stays: str
) -> None:
    given: list[OnAdded] = []
    Bot(app, kept, lambda wanted: given.append(wanted.on_added) or [])
    assert await given[0](Incoming(Kind.ADDED, GROUP, person, "1")) == stays


async def test_who_was_let_in_stays_so(app: App, tmp_path: Path) -> None:
    async with stores(Settings(home=tmp_path), ["telegram"]) as kept:
        await kept.roll.save(Grant(ANN.key))
    async with stores(Settings(home=tmp_path), ["telegram"]) as kept:
        assert await kept.roll.grant(ANN.key) is not None


class Leaving(MemoryPlatform):
    """A messenger that takes the bot's access back when it is told to."""

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.left = asyncio.Event()

    async def run(self, sink: Sink) -> None:
        await self.left.wait()
        raise AccessWithdrawn("the app was uninstalled", "Install it again.")


async def test_sl_23_a_platform_that_ends_leaves_the_others_running(
    running: Run, telegram: MemoryPlatform, caplog: pytest.LogCaptureFixture
) -> None:
    slack, question = Leaving("slack"), asks(BOSS, "which port does billing use?")
    async with running(telegram, slack):
        slack.left.set()
        await telegram.says(question)
        await telegram.until(lambda: telegram.shown(question))
    told = [r.getMessage() for r in caplog.records if r.levelno >= logging.WARNING]
    assert told == ["slack has ended: the app was uninstalled. Install it again."]


async def test_sl_23_the_last_platform_that_ends_ends_the_process(running: Run) -> None:
    slack = Leaving("slack")
    slack.left.set()
    with pytest.raises(ExceptionGroup):
        async with running(slack):
            await asyncio.Event().wait()


class Looking(MemoryPlatform, Completing):
    """A messenger that must look up who somebody is."""

    async def completed(self, event: Incoming) -> Incoming:
        return replace(event, person=replace(event.person, outsider=True))


async def test_what_is_looked_up_counts_before_the_question_is_answered(
    running: Run, kept: Stores
) -> None:
    slack = Looking("slack")
    channel = Place("slack", "C0OPS", "channel", "1.0")
    await kept.roll.save(Grant(place_key(channel)))
    question = Incoming(Kind.QUESTION, channel, Person("slack", "U0GUEST"), "1.0", "which port?")
    async with running(slack):
        await slack.says(question)
        await slack.until(lambda: slack.shown(question))
    assert "whom an admin has let in" in slack.shown(question)
    assert "/belay allow" in slack.shown(question)


async def test_whoever_adds_the_bot_on_slack_learns_how_the_channel_gets_access(
    running: Run,
) -> None:
    slack = MemoryPlatform("slack")
    channel = Place("slack", "C0OPS", "channel")
    added = Incoming(Kind.ADDED, channel, Person("slack", "U0ANN"), "1.0")
    async with running(slack):
        await slack.says(added)
        await slack.until(lambda: slack.shown(added))
    assert "/belay allow" in slack.shown(added)


async def indexed(app: App, source: str, access: Access) -> None:
    chunk = chunk_of("Restart the worker.", source=source, access=access)
    record = FileRecord(chunk.passage.document, "1", FileState.INDEXED, chunks=1)
    await app.index.replace(source, record, [chunk])


async def test_the_page_of_the_bot_is_for_those_who_were_let_in(app: App, kept: Stores) -> None:
    given: list[Pages] = []
    Bot(app, kept, lambda wanted: given.append(wanted.pages) or [])
    closed = await given[0](Person("slack", "U0ANN"), "ru")
    assert closed.sections == ()
    assert "/belay allow" in closed.greeting
    await kept.roll.save(Grant("slack:U0ANN"))
    opened = await given[0](Person("slack", "U0ANN"), "en-US")
    read, commands = opened.sections
    assert read.lines == ("There are no documents here that I could answer from.",)
    assert any(line.startswith("`/belay runbook`") for line in commands.lines)
    assert not any("allow" in line for line in commands.lines)
    record = SourceRecord(
        "runbooks", SourceType.FOLDER, "/secret/path", SyncState.INTERRUPTED, files=3
    )
    await app.index.save_source(record)
    await app.index.save_source(replace(record, name="salaries"))
    await app.index.begin(*EMBEDDER)
    await indexed(app, "runbooks", Access())
    await indexed(app, "salaries", Access(audience="director"))
    (line,) = (await given[0](Person("slack", "U0ANN"), "en-US")).sections[0].lines
    assert "runbooks: 1 file, last read never; interrupted" in line
    assert "/secret" not in line
