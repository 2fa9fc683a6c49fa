"""`belay run` as those see it who keep it running: probes, figures, log lines, signals."""

from __future__ import annotations

import asyncio
import json
import signal
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import aiohttp
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from prometheus_client.parser import text_string_to_metric_families

from tests.scenarios.process_kit import (
    FACT,
    PATIENCE,
    QUESTION,
    Installed,
    ended,
    free_port,
    installed,
    terminated,
)
from tests.scenarios.test_telegram_process import Held, using
from tests.servers.openai_server import OpenAIServer
from tests.servers.otlp_server import OtlpServer, attributes
from tests.servers.telegram_server import TelegramServer


class Probe:
    """What an orchestrator asks of one process."""

    def __init__(self, session: aiohttp.ClientSession, port: int) -> None:
        self._session, self._address = session, f"http://127.0.0.1:{port}"

    async def get(self, path: str) -> tuple[int, str]:
        async with self._session.get(self._address + path) as response:
            return response.status, await response.text()

    async def until(self, status: str) -> dict[str, Any]:
        """What /readyz says once it says this."""
        async with asyncio.timeout(PATIENCE):
            while True:
                try:
                    _, text = await self.get("/readyz")
                except aiohttp.ClientError:
                    text = "{}"
                told: dict[str, Any] = json.loads(text)
                if told.get("status") == status:
                    return told
                await asyncio.sleep(0.05)  # another process has nothing to wait on


@asynccontextmanager
async def probed() -> AsyncIterator[tuple[dict[str, str], Probe]]:
    """The settings of a process, and its probe."""
    port = free_port()
    async with aiohttp.ClientSession() as session:
        yield {"BELAY_HTTP": f"127.0.0.1:{port}"}, Probe(session, port)


def lines(bot: Installed) -> list[dict[str, Any]]:
    """The JSON among what the process wrote."""
    return [json.loads(line) for line in bot.log.splitlines() if line.startswith("{")]


async def test_op_11_readyz_and_metrics_of_a_bot_that_answers(tmp_path: Path) -> None:
    variables = {"BELAY_LOG_FORMAT": "json", "BELAY_LOG_LEVEL": "INFO"}
    async with TelegramServer() as server, probed() as (address, probe):
        ann = server.user(7, "Ann")
        bot = await installed(tmp_path, server, [ann])
        with bot.running(**address, **variables) as process:
            told = await probe.until("ready")
            assert {"index", "inbox", "telegram", "model", "sync"} == set(told["checks"])
            assert told["checks"]["index"]["engine"] == "sqlite"
            server.says(ann, ann, QUESTION)
            await server.until(lambda: server.sent(ann), PATIENCE)
            status, figures = await probe.get("/metrics")
            assert status == 200
            assert (await probe.get("/nothing"))[0] == 404
            assert await terminated(process) == 0
    samples = {
        (sample.name, *sorted(sample.labels.items())): sample.value
        for family in text_string_to_metric_families(figures)
        for sample in family.samples
    }
    answered = ("outcome", "answered"), ("platform", "telegram"), ("query_type", "factual")
    assert samples["belay_questions_total", *answered] == 1
    assert samples["belay_ready",] == 1
    assert samples["belay_source_files", ("source", "docs")] == 1
    assert "billing" not in figures.lower()
    (line,) = [row for row in lines(bot) if row["message"] == "answered"]
    assert (line["outcome"], len(line["question"])) == ("answered", 12)


async def test_each_line_of_a_question_carries_its_id(tmp_path: Path) -> None:
    """Also those of its stages, and of what goes wrong with a store beside it."""
    variables = {"BELAY_LOG_FORMAT": "json", "BELAY_LOG_LEVEL": "DEBUG"}
    async with TelegramServer() as server:
        ann = server.user(7, "Ann")
        bot = await installed(tmp_path, server, [ann])
        (bot.home / "audit.db").mkdir(parents=True)  # cannot be opened as a file
        server.says(ann, ann, QUESTION)
        with bot.running(**variables) as process:
            await server.until(lambda: server.sent(ann), PATIENCE)
            assert await terminated(process) == 0
    rows = lines(bot)
    ids = {row["question"] for row in rows if row["message"] == "answered"}
    assert len(ids) == 1
    stages = [row for row in rows if row["logger"] == "graph.machine"]
    assert {row["message"].split()[0] for row in stages} >= {"retrieve", "grade", "generate"}
    audit = [row for row in rows if row["logger"] == "bot.auditor"]
    assert audit
    assert {row.get("question") for row in (*stages, *audit)} == ids
    assert server.token not in bot.log


async def test_op_01_a_bot_that_ends_is_not_ready_and_alive(tmp_path: Path) -> None:
    held = Held()
    async with TelegramServer() as server, OpenAIServer(default=held) as model:
        ann = server.user(7, "Ann")
        bot = await installed(tmp_path, server, [ann])
        server.says(ann, ann, QUESTION)
        async with probed() as (address, probe):
            with bot.running(**address, **using(model)) as process:
                await server.until(lambda: server.drafts(ann) and model.requests, PATIENCE)
                process.terminate()
                await probe.until("draining")
                assert (await probe.get("/readyz"))[0] == 503
                assert (await probe.get("/healthz"))[0] == 200
                held.go.set()
                assert await ended(process) == 0
        assert [FACT in sent.text for sent in server.sent(ann)] == [True]


async def test_op_01_a_signal_during_the_first_sync_ends_it_well(tmp_path: Path) -> None:
    """What was read stays, and the next start goes on. Probes are answered meanwhile."""
    async with TelegramServer() as server, probed() as (address, probe):
        ann = server.user(7, "Ann")
        bot = await installed(tmp_path, server, [ann])
        for number in range(3000):
            page = bot.document.with_name(f"page-{number}.md")
            page.write_text(f"# Service {number}\n\nService {number} has port {number + 2000}.\n")
        with bot.running(**address) as process:
            await probe.until("starting")
            assert (await probe.get("/healthz"))[0] == 200
            assert (await probe.get("/readyz"))[0] == 503
            process.send_signal(signal.SIGTERM)
            assert await ended(process) == 0
    assert "the next start goes on" in bot.log
    assert "answering on" not in bot.log
    assert "Traceback" not in bot.log


async def test_op_05_nothing_is_said_to_answer_before_the_token_was_accepted(
    tmp_path: Path,
) -> None:
    async with TelegramServer() as server:
        bot = await installed(tmp_path, server, [])
        with bot.running(BELAY_TELEGRAM_TOKEN=server.token[:-2] + "zz") as process:
            assert await ended(process) == 2
    assert "answering on" not in bot.log


async def test_a_question_is_a_trace_with_a_span_for_each_stage(tmp_path: Path) -> None:
    async with TelegramServer() as server, OtlpServer() as collector:
        ann = server.user(7, "Ann")
        bot = await installed(tmp_path, server, [ann])
        server.says(ann, ann, QUESTION)
        variables = {
            "OTEL_EXPORTER_OTLP_ENDPOINT": collector.url,
            "OTEL_EXPORTER_OTLP_HEADERS": "authorization=Bearer%20of-nobody",
            "OTEL_SERVICE_NAME": "belay-test",
        }
        with bot.running(**variables) as process:
            await server.until(lambda: server.sent(ann), PATIENCE)
            assert await terminated(process) == 0
        spans = collector.spans
        whole = [span for span in spans if span.name == "belay.question"]
        assert len(whole) == 1
        stages = [span for span in spans if span.parent_span_id == whole[0].span_id]
        assert {span.name for span in stages} >= {"belay.retrieve", "belay.grade"}
        assert all(
            whole[0].start_time_unix_nano
            <= span.start_time_unix_nano
            <= span.end_time_unix_nano
            <= whole[0].end_time_unix_nano
            for span in stages
        )
        told = attributes(whole[0].attributes)
        assert told["belay.outcome"] == "answered"
        assert told["belay.query_type"] == "factual"
        assert told["belay.model_calls"] == 0
        assert collector.headers[0]["authorization"] == "Bearer of-nobody"
        assert collector.services == {"belay-test"}
        assert not [body for body in collector.bodies if b"billing" in body.lower()]


def test_the_parser_of_the_collector_reads_what_was_sent() -> None:
    """A body that is no such request is refused, so that the test above cannot pass on noise."""
    assert ExportTraceServiceRequest.FromString(b"").resource_spans == []
