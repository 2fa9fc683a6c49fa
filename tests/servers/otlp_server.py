"""A collector of traces on the loopback interface, speaking OTLP over HTTP with protobuf.

https://opentelemetry.io/docs/specs/otlp/#otlphttp
"""

from __future__ import annotations

import gzip
from collections.abc import Iterable, Mapping
from types import TracebackType
from typing import Any, Self

from aiohttp import web
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import (
    ExportTraceServiceRequest,
    ExportTraceServiceResponse,
)


class OtlpServer:
    """An async context manager. Keeps what came in."""

    def __init__(self) -> None:
        self.bodies: list[bytes] = []
        self.headers: list[Mapping[str, str]] = []
        self._requests: list[ExportTraceServiceRequest] = []
        self._runner: web.AppRunner | None = None

    async def __aenter__(self) -> Self:
        app = web.Application()
        app.router.add_post("/v1/traces", self._take)
        self._runner = web.AppRunner(app)
        await self._runner.setup()
        await web.TCPSite(self._runner, "127.0.0.1", 0).start()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._runner is not None:
            await self._runner.cleanup()

    @property
    def url(self) -> str:
        assert self._runner is not None
        return f"http://127.0.0.1:{self._runner.addresses[0][1]}"

    @property
    def spans(self) -> list[Any]:
        return [
            span
            for request in self._requests
            for resource in request.resource_spans
            for scope in resource.scope_spans
            for span in scope.spans
        ]

    @property
    def services(self) -> set[str]:
        """The names of those who sent."""
        return {
            str(attributes(resource.resource.attributes)["service.name"])
            for request in self._requests
            for resource in request.resource_spans
        }

    async def _take(self, request: web.Request) -> web.Response:
        if request.content_type != "application/x-protobuf":
            return web.Response(status=415)
        body = await request.read()
        if body[:2] == b"\x1f\x8b":
            body = gzip.decompress(body)
        self._requests.append(ExportTraceServiceRequest.FromString(body))
        self.bodies.append(body)
        self.headers.append({name.lower(): value for name, value in request.headers.items()})
        return web.Response(
            body=ExportTraceServiceResponse().SerializeToString(),
            content_type="application/x-protobuf",
        )


def attributes(values: Iterable[Any]) -> dict[str, object]:
    """Names and values, of whatever kind a value is."""
    return {item.key: getattr(item.value, item.value.WhichOneof("value")) for item in values}
