"""The figures at /metrics: what is counted, in which units, and what must never be a label."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from answering_kit import ANN, Bot
from contract.inbox_events import event, private
from desk_kit import Failing, Messenger, Time, accept, at_work, desk_of
from prometheus_client.parser import text_string_to_metric_families

from adapters.memory.inbox import MemoryInbox
from bot.errors import AnswerRefused, DeliveryFailed, PlatformGone
from bot.limits import Limiter, Rate, Rates
from bot.meter import Meter, Meters, Silent
from bot.metrics import Metrics
from bot.ports import SourceRecord, SyncState
from graph.machine import Finished
from graph.model import Answer, Citation, Outcome, Passage, Question, SourceType
from graph.state import ModelCall
from graph.trace import Trace

QUESTION = Question("how do I restart billing", "abc123")


def figures(metrics: Metrics) -> dict[str, float]:
    """`name{label="value"}` and its value."""
    found = {}
    for family in text_string_to_metric_families(metrics.exposition().decode()):
        for sample in family.samples:
            labels = ",".join(f'{key}="{value}"' for key, value in sorted(sample.labels.items()))
            found[f"{sample.name}{{{labels}}}" if labels else sample.name] = sample.value
    return found


def passage(kind: SourceType) -> Passage:
    return Passage("p", "runbooks", kind, "a.md", "A", (), "text", "file:a.md")


def finished(outcome: Outcome = Outcome.ANSWERED, **values: object) -> Finished:
    answer = Answer("abc123", outcome, "Do it [1].", "en")
    trace = Trace("abc123", QUESTION.text, QUESTION.text, "en", outcome.value)
    for name, value in values.items():
        if name in Trace.__slots__:
            trace = replace(trace, **{name: value})
        else:
            answer = replace(answer, **{name: value})
    return Finished(answer, trace)


@pytest.fixture
def metrics() -> Metrics:
    return Metrics("builtin", process=False)


def test_a_question_is_counted_by_outcome_platform_and_type(metrics: Metrics) -> None:
    metrics.answered(finished(query_type="factual", total_ms=1500.0), QUESTION, "slack")
    metrics.answered(finished(Outcome.NOT_FOUND, query_type="synthesis"), QUESTION, "telegram")
    metrics.noted("slack", Outcome.ANSWERED)
    told = figures(metrics)
    name = "belay_questions_total"
    assert told[f'{name}{{outcome="answered",platform="slack",query_type="factual"}}'] == 1
    assert told[f'{name}{{outcome="not_found",platform="telegram",query_type="synthesis"}}'] == 1
    assert told[f'{name}{{outcome="answered",platform="slack",query_type="command"}}'] == 1
    assert told["belay_question_seconds_sum"] == 1.5


def test_stages_calls_and_tokens_are_in_seconds_and_numbers(metrics: Metrics) -> None:
    calls = (
        ModelCall("generate", 2000.0, 900, 120),
        ModelCall("generate", 500.0, error="ModelBusy"),
    )
    stages = (("retrieve", 250.0), ("generate", 2500.0))
    metrics.answered(finished(calls=calls, milliseconds=stages), QUESTION, "slack")
    told = figures(metrics)
    assert told['belay_stage_seconds_sum{stage="retrieve"}'] == 0.25
    assert told['belay_model_calls_total{purpose="generate",result="ok"}'] == 1
    assert told['belay_model_calls_total{purpose="generate",result="ModelBusy"}'] == 1
    assert told['belay_model_call_seconds_sum{purpose="generate"}'] == 2.5
    assert told['belay_model_tokens_total{kind="prompt"}'] == 900
    assert told['belay_model_tokens_total{kind="completion"}'] == 120


def test_the_relevance_is_that_of_the_best_cited_document(metrics: Metrics) -> None:
    """What the web says has none."""
    cited = (
        Citation(1, passage(SourceType.FOLDER), 0.7),
        Citation(2, passage(SourceType.FOLDER), 0.9),
        Citation(3, passage(SourceType.WEB), 0.99),
    )
    metrics.answered(finished(citations=cited), QUESTION, "slack")
    metrics.answered(finished(Outcome.WEB, citations=cited[2:]), QUESTION, "slack")
    told = figures(metrics)
    assert told["belay_evidence_relevance_count"] == 1
    assert told["belay_evidence_relevance_sum"] == 0.9


def test_failures_are_counted_by_cause(metrics: Metrics) -> None:
    metrics.answered(finished(Outcome.FAILED, cause="index_down"), QUESTION, "slack")
    metrics.answered(finished(notes=("model_down", "cut_question")), QUESTION, "slack")
    told = figures(metrics)
    assert told['belay_failures_total{cause="index_down"}'] == 1
    assert told['belay_failures_total{cause="model_down"}'] == 1
    assert not [name for name in told if "cut_question" in name]


@pytest.mark.parametrize(("web", "query"), [("found", "q"), ("empty", "q"), ("failed", "q")])
def test_web_searches_are_counted_by_result(metrics: Metrics, web: str, query: str) -> None:
    metrics.answered(finished(web=web, web_query=query), QUESTION, "slack")
    metrics.answered(finished(web="empty", web_query=""), QUESTION, "slack")  # nothing was sent
    told = figures(metrics)
    assert {n: v for n, v in told.items() if n.startswith("belay_web_searches_total")} == {
        f'belay_web_searches_total{{result="{web}"}}': 1
    }


def test_a_source_keeps_the_time_of_its_last_complete_sync(metrics: Metrics) -> None:
    at = datetime(2026, 5, 4, 3, 0, tzinfo=UTC)
    record = SourceRecord("runbooks", SourceType.FOLDER, "/srv", SyncState.COMPLETE, at, 3, 40, 1)
    metrics.see_sources([record, replace(record, name="wiki")])
    failed = replace(record, state=SyncState.FAILED, last_run=at + timedelta(hours=1))
    metrics.see_sources([failed])
    told = figures(metrics)
    assert told['belay_source_synced_timestamp_seconds{source="runbooks"}'] == at.timestamp()
    assert told['belay_source_sync_state{source="runbooks",state="failed"}'] == 1
    assert told['belay_source_sync_state{source="runbooks",state="complete"}'] == 0
    assert told['belay_source_files{source="runbooks"}'] == 3
    assert told['belay_source_chunks{source="runbooks"}'] == 40
    assert told['belay_source_skipped_files{source="runbooks"}'] == 1
    assert not [name for name in told if "wiki" in name]


def test_a_source_that_never_was_complete_has_no_time(metrics: Metrics) -> None:
    metrics.see_sources([SourceRecord("runbooks", SourceType.FOLDER, "/srv", SyncState.FAILED)])
    metrics.see_sources([])
    assert not [name for name in figures(metrics) if "runbooks" in name]


def test_two_bots_in_one_process_count_apart() -> None:
    one, other = Metrics(process=False), Metrics(process=False)
    one.noted("slack", Outcome.ANSWERED)
    assert not [name for name in figures(other) if "questions_total{" in name]


def test_every_meter_is_told() -> None:
    metrics, other = Metrics(process=False), Metrics(process=False)
    both = Meters((Silent(), metrics, other))
    both.first_sign("telegram", 0.4)
    for told in (figures(metrics), figures(other)):
        assert told['belay_first_sign_seconds_sum{platform="telegram"}'] == 0.4


async def test_what_the_bot_answers_is_counted_and_nobody_is_named(metrics: Metrics) -> None:
    bot = Bot(options={"meter": metrics})
    await bot.let_in(ANN)
    await bot.says(ANN, "which port does hush-hush use?")
    text = metrics.exposition().decode()
    counted = [line for line in text.splitlines() if line.startswith("belay_questions_total{")]
    assert len(counted) == 1
    assert 'platform="telegram"' in counted[0]
    assert "hush" not in text
    assert ANN.name not in text
    assert 'cause="index_empty"' in text


CAUSES: dict[str, Exception] = {
    "gone": PlatformGone("blocked"),
    "refused": AnswerRefused("too odd"),
    "unreachable": DeliveryFailed("down"),
    "unexpected": ValueError("a mistake"),
}


@pytest.mark.parametrize("cause", CAUSES)
async def test_what_goes_wrong_with_an_event_is_counted(
    metrics: Metrics, inbox: MemoryInbox, messenger: Messenger, time: Time, cause: str
) -> None:
    desk = desk_of(inbox, messenger, time, Failing(CAUSES[cause]), meter=metrics)
    async with at_work(desk):
        await accept(desk, event("1", place=private("10")))
        await time.advance(1.0)
    name = f'belay_event_troubles_total{{cause="{cause}",platform="telegram"}}'
    assert figures(metrics)[name] == 1


async def test_who_asks_too_much_is_counted(
    metrics: Metrics, inbox: MemoryInbox, messenger: Messenger, time: Time
) -> None:
    limiter = Limiter(Rates(person=Rate(1, 1)))
    desk = desk_of(inbox, messenger, time, limiter=limiter, meter=metrics)
    async with at_work(desk):
        await accept(desk, *(event(str(n), place=private("42")) for n in range(3)))
        await time.advance(5.0)
    name = 'belay_event_troubles_total{cause="limited",platform="telegram"}'
    assert figures(metrics)[name] == 2


async def test_the_first_sign_is_told_once_a_question(
    metrics: Metrics, inbox: MemoryInbox, messenger: Messenger, time: Time
) -> None:
    """By the message's own time stamp: what waited in the inbox waited for its asker too."""
    desk = desk_of(inbox, messenger, time, meter=metrics)
    await inbox.put(event("1", place=private("42")))
    time.clock.advance(7.0)
    async with at_work(desk):
        await time.advance(1.0)
    told = figures(metrics)
    assert told['belay_first_sign_seconds_count{platform="telegram"}'] == 1
    assert told['belay_first_sign_seconds_sum{platform="telegram"}'] == pytest.approx(7.0)


def test_every_help_text_says_what_is_counted(metrics: Metrics) -> None:
    for family in text_string_to_metric_families(metrics.exposition().decode()):
        assert family.documentation.endswith("."), family.name
        if family.name.endswith("_seconds"):
            assert "econds" in family.documentation, family.name


def test_the_silent_meter_takes_everything() -> None:
    silent: Meter = Silent()
    silent.answered(finished(), QUESTION, "slack")
    silent.noted("slack", Outcome.ANSWERED)
