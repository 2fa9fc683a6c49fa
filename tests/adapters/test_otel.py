"""Traces: what a span says of a question, what it never says, and a collector that is away."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from adapters.otel import create
from graph.machine import Finished
from graph.model import Answer, Outcome, Question
from graph.state import ModelCall
from graph.trace import Trace
from tests.servers.otlp_server import OtlpServer, attributes

ROOT = Path(__file__).parents[2]
QUESTION = Question("how do I restart hush-hush", "abc123")
FINISHED = Finished(
    Answer("abc123", Outcome.ANSWERED, "With hush-hushctl [1].", "en"),
    Trace(
        "abc123", QUESTION.text, QUESTION.text, "en", "answered", "factual",
        calls=(ModelCall("generate", 900.0, 700, 80),),
        milliseconds=(("retrieve", 20.0), ("generate", 900.0)),
        total_ms=930.0, began=1_700_000_000.0,
    ),
)  # fmt: skip


async def told(finished: Finished, *, content: bool = False) -> OtlpServer:
    async with OtlpServer() as collector:
        traces = create(f"{collector.url}/v1/traces", content=content)
        traces.answered(finished, QUESTION, "slack")
        await traces.close()
    return collector


async def test_a_span_has_the_times_of_the_question_and_its_figures() -> None:
    collector = await told(FINISHED)
    spans = {span.name: span for span in collector.spans}
    assert set(spans) == {"belay.question", "belay.retrieve", "belay.generate"}
    whole, generate = spans["belay.question"], spans["belay.generate"]
    assert whole.start_time_unix_nano == 1_700_000_000 * 10**9
    assert whole.end_time_unix_nano - whole.start_time_unix_nano == 930 * 10**6
    assert generate.start_time_unix_nano - whole.start_time_unix_nano == 20 * 10**6
    assert generate.trace_id == whole.trace_id
    figures = attributes(whole.attributes)
    assert figures["belay.question_id"] == "abc123"
    assert figures["belay.platform"] == "slack"
    assert (figures["belay.prompt_tokens"], figures["belay.completion_tokens"]) == (700, 80)


@pytest.mark.parametrize("content", [False, True])
async def test_words_are_sent_only_when_a_setting_says_so(content: bool) -> None:
    collector = await told(FINISHED, content=content)
    assert any(b"hush" in body for body in collector.bodies) is content


async def test_a_failed_question_is_an_error() -> None:
    answer = Answer("abc123", Outcome.FAILED, "", "en", error_id="e1", cause="index_down")
    collector = await told(Finished(answer, FINISHED.trace))
    (whole,) = [span for span in collector.spans if span.name == "belay.question"]
    assert whole.status.code == 2  # STATUS_CODE_ERROR
    assert whole.status.message == "index_down"


async def test_a_collector_that_is_away_costs_no_answer() -> None:
    traces = create("http://127.0.0.1:9/v1/traces", timeout=0.2)
    for _ in range(10):
        traces.answered(FINISHED, QUESTION, "slack")
    await traces.close()


def test_without_the_extra_the_start_names_the_command() -> None:
    """In a process of its own, in which the package cannot be imported."""
    script = (
        "import sys; sys.modules['opentelemetry'] = None\n"
        "from adapters.otel import create\n"
        "from bot.errors import SettingsError\n"
        "try:\n    create('http://127.0.0.1:9')\n"
        "except SettingsError as error:\n    sys.stdout.write(f'{error} | {error.remedy}')\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert "OTEL_EXPORTER_OTLP_ENDPOINT" in done.stdout
    assert 'pip install "belay-bot[otel]"' in done.stdout
