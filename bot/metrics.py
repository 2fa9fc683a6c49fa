"""The figures of a running bot, as Prometheus reads them from /metrics.

Counted in this process, in a registry of its own. Labels come from closed lists or from the
settings: never a person, a place, or words that somebody wrote.
"""

from __future__ import annotations

import platform as machine_platform
from collections.abc import Sequence
from datetime import UTC, datetime
from importlib.metadata import version
from typing import TYPE_CHECKING

from prometheus_client import (
    CollectorRegistry,
    Counter,
    Gauge,
    Histogram,
    ProcessCollector,
    generate_latest,
)

from bot.meter import Meter, Trouble
from bot.ports import SourceRecord, SyncState
from bot.standing import Standing
from graph.model import Outcome, Question, SourceType

if TYPE_CHECKING:
    from graph.machine import Finished
    from graph.trace import Trace

_QUICK = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20, 45)  # of one stage
_WHOLE = (0.05, 0.1, 0.25, 0.5, 1, 2, 3, 5, 8, 13, 20, 30, 45, 60)  # 60: the deadline
_SIGN = (0.1, 0.25, 0.5, 1, 2, 3, 5, 10, 30, 60, 300, 900)  # 900: the answer says it is late
_RELEVANCE = (0.44, 0.5, 0.55, 0.6, 0.65, 0.7, 0.75, 0.8, 0.85, 0.9, 0.95, 1)  # policy's steps

DEGRADED = frozenset(
    {"deadline", "embedder_down", "model_busy", "model_down", "model_filtered", "quota"}
)
"""Notes of an answer that tell what did not work."""


class Metrics(Meter):
    """Counters and histograms of what happened, gauges of what `Survey` last saw."""

    def __init__(self, embedder: str = "", *, process: bool = True) -> None:
        """`process`: memory, processor time and open files of this process too."""
        self.registry = CollectorRegistry(auto_describe=True)
        if process:
            ProcessCollector(registry=self.registry)
        self._count_questions()
        self._count_calls()
        self._watch_stores()
        build = self._gauge("build_info", "Always 1; what runs", "version", "python", "embedder")
        build.labels(version("belay-bot"), machine_platform.python_version(), embedder).set(1)

    def _count_questions(self) -> None:
        self._questions = self._counter(
            "questions", "Questions that came to an end", "platform", "outcome", "query_type"
        )
        self._seconds = self._histogram(
            "question_seconds", "Seconds from taking a question to its answer", _WHOLE
        )
        self._stages = self._histogram(
            "stage_seconds", "Seconds in one stage of the graph", _QUICK, "stage"
        )
        self._signs = self._histogram(
            "first_sign_seconds",
            "Seconds from a message, by its own time stamp, to the first thing shown",
            _SIGN,
            "platform",
        )
        self._relevance = self._histogram(
            "evidence_relevance",
            "Calibrated relevance, 0 to 1, of the best passage that an answer cites",
            _RELEVANCE,
        )
        self._failures = self._counter(
            "failures", "Questions that failed or were degraded, by cause", "cause"
        )
        self._troubles = self._counter(
            "event_troubles", "Events that were not simply answered, by cause", "platform", "cause"
        )

    def _count_calls(self) -> None:
        self._calls = self._counter("model_calls", "Calls of the chat model", "purpose", "result")
        self._call_seconds = self._histogram(
            "model_call_seconds", "Seconds of one call of the chat model", _WHOLE, "purpose"
        )
        self._tokens = self._counter(
            "model_tokens", "Tokens, as far as the model's server tells", "kind"
        )
        self._web = self._counter("web_searches", "Searches of the web", "result")

    def _watch_stores(self) -> None:
        self._ready = self._gauge("ready", "1 while /readyz says 200")
        self._up = self._gauge("dependency_up", "1 while it works", "dependency")
        self._depth = self._gauge("inbox_events", "Events without an answer yet")
        self._oldest = self._gauge("inbox_oldest_seconds", "Age of the oldest of them in seconds")
        self._synced = self._gauge(
            "source_synced_timestamp_seconds",
            "When the last complete sync ended, in seconds since the epoch",
            "source",
        )
        self._state = self._gauge(
            "source_sync_state", "1 for the state of the last sync", "source", "state"
        )
        self._files = self._gauge("source_files", "Files that are indexed", "source")
        self._chunks = self._gauge("source_chunks", "Chunks that are stored", "source")
        self._skipped = self._gauge("source_skipped_files", "Files that are not indexed", "source")
        self._age = self._gauge(
            "source_age_seconds", "Seconds since the last complete sync ended", "source"
        )
        self._overdue = self._gauge(
            "source_overdue", "1 while a scheduled sync is later than it may be", "source"
        )
        self._failed = self._gauge(
            "source_failures", "Scheduled syncs that failed, in a row", "source"
        )
        self._sources: set[str] = set()
        self._complete: dict[str, datetime] = {}  # by source, the end of the last complete sync

    # What happened

    def answered(self, finished: Finished, question: Question, platform: str) -> None:
        answer, trace = finished.answer, finished.trace
        query_type = trace.query_type or "none"
        self._questions.labels(platform, answer.outcome.value, query_type).inc()
        self._seconds.observe(trace.total_ms / 1000)
        self._spent(trace)
        cited = [
            citation.relevance
            for citation in answer.citations
            if citation.passage.source_type is not SourceType.WEB
        ]
        if cited:
            self._relevance.observe(max(cited))
        if answer.outcome is Outcome.FAILED:
            self._failures.labels(answer.cause or "failed").inc()
        for note in trace.notes:
            if note in DEGRADED:
                self._failures.labels(note).inc()

    def _spent(self, trace: Trace) -> None:
        for stage, milliseconds in trace.milliseconds:
            self._stages.labels(stage).observe(milliseconds / 1000)
        for call in trace.calls:
            self._calls.labels(call.purpose, call.error or "ok").inc()
            self._call_seconds.labels(call.purpose).observe(call.milliseconds / 1000)
            self._tokens.labels("prompt").inc(call.prompt_tokens)
            self._tokens.labels("completion").inc(call.completion_tokens)
        if trace.web != "not asked" and trace.web_query:
            self._web.labels(trace.web).inc()

    def noted(self, platform: str, outcome: Outcome) -> None:
        self._questions.labels(platform, outcome.value, "command").inc()

    def first_sign(self, platform: str, seconds: float) -> None:
        self._signs.labels(platform).observe(seconds)

    def trouble(self, platform: str, trouble: Trouble) -> None:
        self._troubles.labels(platform, trouble.value).inc()

    # What there is

    def see_dependencies(self, ready: bool, up: Sequence[tuple[str, bool]]) -> None:
        self._ready.set(ready)
        for name, works in up:
            self._up.labels(name).set(works)

    def see_inbox(self, events: int, oldest: float) -> None:
        self._depth.set(events)
        self._oldest.set(oldest)

    def see_sources(
        self,
        records: Sequence[SourceRecord],
        standings: Sequence[Standing] = (),
        now: datetime | None = None,
    ) -> None:
        """The sources as they are now; one that is gone is not reported any more. While a sync
        runs or fails, the time of the last complete one stays."""
        names = {record.name for record in records} | {one.source for one in standings}
        self._drop(self._sources - names)
        self._sources = names
        for record in records:
            if record.state is SyncState.COMPLETE and record.last_run is not None:
                self._completed(record.name, record.last_run)
            for state in SyncState:
                self._state.labels(record.name, state.value).set(state is record.state)
            self._files.labels(record.name).set(record.files)
            self._chunks.labels(record.name).set(record.chunks)
            self._skipped.labels(record.name).set(record.skipped)
        for one in standings:
            if one.entry.succeeded is not None:
                self._completed(one.source, one.entry.succeeded)
            self._overdue.labels(one.source).set(one.overdue)
            self._failed.labels(one.source).set(one.entry.failures)
        now = now or datetime.now(UTC)
        for name, time in self._complete.items():
            self._age.labels(name).set(max((now - time).total_seconds(), 0.0))

    def _completed(self, source: str, time: datetime) -> None:
        self._complete[source] = max(time, self._complete.get(source, time))
        self._synced.labels(source).set(self._complete[source].timestamp())

    def _drop(self, gone: set[str]) -> None:
        gauges = (self._synced, self._state, self._files, self._chunks, self._skipped)
        for source in gone:
            self._complete.pop(source, None)
            for gauge in (*gauges, self._age, self._overdue, self._failed):
                gauge.remove_by_labels({"source": source})

    def exposition(self) -> bytes:
        """In Prometheus's text format."""
        return generate_latest(self.registry)

    def _counter(self, name: str, told: str, *labels: str) -> Counter:
        return Counter(f"belay_{name}", f"{told}.", labels, registry=self.registry)

    def _gauge(self, name: str, told: str, *labels: str) -> Gauge:
        return Gauge(f"belay_{name}", f"{told}.", labels, registry=self.registry)

    def _histogram(self, name: str, told: str, buckets: Sequence[float], *labels: str) -> Histogram:
        return Histogram(
            f"belay_{name}", f"{told}.", labels, buckets=buckets, registry=self.registry
        )
