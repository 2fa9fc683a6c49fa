"""What a running bot shows to those who keep it running: /readyz, /metrics and traces."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from datetime import UTC, datetime
from functools import partial
from http import HTTPStatus
from typing import TYPE_CHECKING

from bot import logs
from bot.errors import BotError, StorageError
from bot.http import Answered, HttpServer
from bot.meter import Meter, Meters, Silent
from bot.metrics import Metrics
from bot.ports import (
    Inbox,
    KnowledgeIndex,
    Platform,
    Receiving,
    SharedServer,
    SourceRecord,
    SyncState,
)
from bot.readiness import Dependency, Health, Readiness, Seen
from bot.registry import factory
from bot.schedules import Schedules
from bot.seen import seen_sources
from bot.settings import Settings
from bot.standing import Standing
from graph.errors import GraphError
from graph.model import Question

if TYPE_CHECKING:
    from graph.machine import Finished

READY, METRICS = "/readyz", "/metrics"
_SHARE = 0.3  # of the time of a check: for one thing that is asked of Redis

_log = logging.getLogger(__name__)


class LastModelCall(Silent):
    """Whether the chat model answered when it was asked last; nobody asks it only to know."""

    def __init__(self, configured: bool) -> None:
        self._configured, self._failed = configured, False

    def answered(self, finished: Finished, question: Question, platform: str) -> None:
        if finished.trace.calls:
            self._failed = bool(finished.trace.calls[-1].error)

    async def look(self) -> Seen:
        if not self._configured:
            return Seen(Health.OK, "none configured")
        return Seen(Health.NOTE, "the last call failed") if self._failed else Seen()


class Logged(Silent):
    """One line in the log for each question, without its words."""

    def answered(self, finished: Finished, question: Question, platform: str) -> None:
        trace = finished.trace
        facts = {
            "platform": platform,
            "outcome": finished.answer.outcome.value,
            "query_type": trace.query_type,
            "relevance": round(trace.relevance, 3),
            "milliseconds": round(trace.total_ms, 1),
            "model_calls": len(trace.calls),
        }
        with logs.question(question.id):
            _log.info("answered", extra=facts)


class Operations:
    """The figures and the state of one process. `meter` is to be told of all that happens."""

    def __init__(self, settings: Settings, tracer: Meter | None = None) -> None:
        self._settings = settings
        self.readiness = Readiness(pace=settings.telemetry.pace())
        self.metrics = Metrics(settings.embedder)
        self._model = LastModelCall(bool(settings.model))
        told: tuple[Meter, ...] = (self.metrics, self._model, Logged())
        self.meter: Meter = Meters(told if tracer is None else (*told, tracer))
        self._index: KnowledgeIndex | None = None
        self._inbox: Inbox | None = None
        self._server: SharedServer | None = None
        self._schedules: Schedules | None = None
        self._standings: Sequence[Standing] = ()  # that could be told last

    def follow(self, schedules: Schedules) -> None:
        """Whose sources are to be fresh, from now on."""
        self._schedules = schedules

    def serve(self, http: HttpServer) -> None:
        """The pages, from the first moment on."""
        http.show(READY, self._ready)
        if self._settings.telemetry.metrics:
            http.show(METRICS, self._figures)

    def depend(
        self,
        index: KnowledgeIndex,
        inbox: Inbox,
        platforms: Sequence[Platform],
        server: SharedServer | None = None,
    ) -> None:
        """What the bot answers with, and is looked at from now on."""
        self._index, self._inbox, self._server = index, inbox, server
        kept = "redis" if server is not None else "sqlite"
        engine = "weaviate" if self._settings.weaviate_url else "sqlite"
        self.readiness.depend(
            [
                Dependency("index", partial(_index, index), True, engine=engine),
                Dependency("inbox", partial(_inbox, inbox, server), True, engine=kept),
                *(
                    Dependency(platform.name, partial(_platform, platform), True, "platforms")
                    for platform in platforms
                ),
                Dependency("model", self._model.look),
                Dependency("sync", self._sync),
            ]
        )

    async def _ready(self) -> Answered:
        report = await self.readiness.report()
        code = HTTPStatus.OK if report.status.serves else HTTPStatus.SERVICE_UNAVAILABLE
        return Answered(code, report.to_json(), "application/json")

    async def _figures(self) -> Answered:
        report = await self.readiness.report()
        works = [
            (item.name, seen.health is not Health.DOWN)
            for item, seen in report.checks
            if item.needed
        ]
        self.metrics.see_dependencies(report.status.serves, works)
        for survey in (self._survey_inbox, self._survey_sources):
            with suppress(TimeoutError, BotError, GraphError):  # then the last figures stand
                async with asyncio.timeout(self._settings.telemetry.check_timeout):
                    await survey()
        return Answered(HTTPStatus.OK, self.metrics.exposition().decode(), "text/plain")

    async def _survey_inbox(self) -> None:
        if self._inbox is not None:
            oldest = await self._inbox.oldest()
            age = (datetime.now(UTC) - oldest).total_seconds() if oldest else 0.0
            self.metrics.see_inbox(await self._inbox.waiting(), max(0.0, age))

    async def _survey_sources(self) -> None:
        if self._index is not None:
            records, standings = await self._sources(self._index)
            self._standings = self._standings if standings is None else standings
            self.metrics.see_sources(records, self._standings)

    async def _sources(
        self, index: KnowledgeIndex
    ) -> tuple[Sequence[SourceRecord], Sequence[Standing] | None]:
        """The sources, and how they stand; None where that cannot be told in time."""
        patience = self._settings.telemetry.check_timeout * _SHARE
        records = await seen_sources(self._settings, index, self._server, patience=patience)
        if self._schedules is None:
            return records, ()
        try:
            async with asyncio.timeout(patience):
                return records, await self._schedules.standings(records)
        except (TimeoutError, StorageError) as error:
            _log.debug("how scheduled sources stand cannot be told: %s", error)
            return records, None

    async def _sync(self) -> Seen:
        """How many sources are as they should be, and when the newest sync ended."""
        assert self._index is not None
        records, known = await self._sources(self._index)
        runs = [record.last_run for record in records if record.last_run is not None]
        last = f", last at {max(runs).isoformat(timespec='seconds')}" if runs else ""
        broken = [r for r in records if r.state in (SyncState.INTERRUPTED, SyncState.FAILED)]
        told = f"{len(records) - len(broken)} of {len(records)} sources complete{last}"
        standings = known or ()
        running = [record.name for record in records if record.state is SyncState.RUNNING]
        running += [one.source for one in standings if one.running and one.source not in running]
        late = [one.source for one in standings if one.overdue]
        failing = [one.source for one in standings if one.failing]
        for word, names in (("running", running), ("overdue", late), ("failing", failing)):
            told += f"; {word}: {', '.join(names)}" if names else ""
        told += "; schedules cannot be told" if known is None else ""
        wrong = broken or late or failing or not records or known is None
        return Seen(Health.NOTE if wrong else Health.OK, told)


async def _index(index: KnowledgeIndex) -> Seen:
    info = await index.info()
    return Seen() if info.chunks else Seen(Health.NOTE, "empty")


async def _inbox(inbox: Inbox, server: SharedServer | None) -> Seen:
    if server is not None:
        await server.ready()
    await inbox.waiting()
    return Seen()


async def _platform(platform: Platform) -> Seen:
    return Seen() if receives(platform) else Seen(Health.DOWN, "not receiving")


def receives(platform: Platform) -> bool:
    """Whether events come in from it, as far as it can tell."""
    return not isinstance(platform, Receiving) or platform.receiving


@asynccontextmanager
async def opened_tracer(settings: Settings) -> AsyncIterator[Meter | None]:
    """Sends traces to the collector that the settings name; None without one. What is on its way
    at the end is still sent. Raises SettingsError when the extra `otel` is missing."""
    chosen = settings.telemetry
    if not chosen.endpoint:
        yield None
        return
    create: Callable[..., Meter] = factory("traces.otel")
    tracer = create(
        chosen.endpoint,
        headers=chosen.headers.get_secret_value(),
        service=chosen.service,
        content=chosen.content,
        timeout=chosen.timeout,
    )
    try:
        yield tracer
    finally:
        close = getattr(tracer, "close", None)
        if close is not None:
            await close()
