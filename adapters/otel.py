"""Traces for an OpenTelemetry collector: a span a question, with a child for each stage.

Made from the timings of the finished trace, so that answering waits for nothing. Needs the extra
`otel`; what is imported from it is imported here alone. Sampling, resource attributes, certificates
and compression come from OpenTelemetry's own variables, which its SDK reads.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

from bot.errors import SettingsError
from bot.meter import Silent
from graph.model import Outcome, Question

if TYPE_CHECKING:
    from opentelemetry.sdk.trace import TracerProvider

    from graph.machine import Finished
    from graph.trace import Trace

INSTALL = 'Install it: pip install "belay-bot[otel]", or take the endpoint away.'
_QUESTION = "belay.question"
_SECOND, _MILLISECOND = 1_000_000_000, 1_000_000  # nanoseconds


class OtelTraces(Silent):
    """Ends each question in a span. `content`: whether spans hold the question and the answer."""

    def __init__(self, provider: TracerProvider, *, content: bool = False) -> None:
        self._provider, self._content = provider, content
        self._tracer = provider.get_tracer("belay")

    def answered(self, finished: Finished, question: Question, platform: str) -> None:
        from opentelemetry.context import Context  # noqa: PLC0415 - an extra
        from opentelemetry.trace import Status, StatusCode, set_span_in_context  # noqa: PLC0415

        trace = finished.trace
        began = int(trace.began * _SECOND)
        span = self._tracer.start_span(
            _QUESTION,
            Context(),
            attributes=self._attributes(finished, question, platform),
            start_time=began,
        )
        if finished.answer.outcome is Outcome.FAILED:
            span.set_status(Status(StatusCode.ERROR, finished.answer.cause))
        inside = set_span_in_context(span, Context())
        for name, start, end in _stages(trace, began):
            child = self._tracer.start_span(f"belay.{name}", inside, start_time=start)
            child.end(end)
        span.end(began + int(trace.total_ms * _MILLISECOND))

    async def close(self) -> None:
        """Sends what waits; a collector that is away is not waited for beyond its time-out."""
        await asyncio.to_thread(self._provider.shutdown)

    def _attributes(
        self, finished: Finished, question: Question, platform: str
    ) -> Mapping[str, Any]:
        answer, trace = finished.answer, finished.trace
        known = {
            "belay.question_id": question.id,
            "belay.platform": platform,
            "belay.outcome": answer.outcome.value,
            "belay.query_type": trace.query_type,
            "belay.language": trace.language,
            "belay.relevance": trace.relevance,
            "belay.web": trace.web,
            "belay.citations": len(answer.citations),
            "belay.model_calls": len(trace.calls),
            "belay.prompt_tokens": sum(call.prompt_tokens for call in trace.calls),
            "belay.completion_tokens": sum(call.completion_tokens for call in trace.calls),
            "belay.error_id": answer.error_id,
            "belay.cause": answer.cause,
        }
        if self._content:
            known |= {"belay.question.text": question.text, "belay.answer.text": answer.text}
        return {name: value for name, value in known.items() if value != ""}


def _stages(trace: Trace, began: int) -> Iterator[tuple[str, int, int]]:
    """Name, start and end in nanoseconds. Stages run one after the other."""
    at = began
    for name, milliseconds in trace.milliseconds:
        end = at + int(milliseconds * _MILLISECOND)
        yield name, at, end
        at = end


def create(
    endpoint: str,
    *,
    headers: str = "",
    service: str = "belay",
    content: bool = False,
    timeout: float = 10.0,
) -> OtelTraces:
    """Traces to the OTLP/HTTP collector at `endpoint`, the whole address. `headers` as in
    OTEL_EXPORTER_OTLP_HEADERS. Raises SettingsError when the extra is not installed."""
    try:
        from opentelemetry.exporter.otlp.proto.http.trace_exporter import (  # noqa: PLC0415
            OTLPSpanExporter,
        )
        from opentelemetry.sdk.resources import Resource  # noqa: PLC0415
        from opentelemetry.sdk.trace import TracerProvider  # noqa: PLC0415
        from opentelemetry.sdk.trace.export import BatchSpanProcessor  # noqa: PLC0415
    except ImportError as error:
        raise SettingsError(
            "BELAY_TELEMETRY__ENDPOINT (or OTEL_EXPORTER_OTLP_ENDPOINT) is set, and the extra "
            "`otel` is not installed",
            INSTALL,
        ) from error
    resource = Resource.create({"service.name": service})
    provider = TracerProvider(resource=resource, shutdown_on_exit=False)
    exporter = OTLPSpanExporter(endpoint, headers=_headers(headers), timeout=timeout)
    provider.add_span_processor(BatchSpanProcessor(exporter))
    return OtelTraces(provider, content=content)


def _headers(text: str) -> dict[str, str]:
    pairs = [item.split("=", 1) for item in text.split(",") if "=" in item]
    return {unquote(name).strip().lower(): unquote(value).strip() for name, value in pairs}
