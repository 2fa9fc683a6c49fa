"""An OpenAI-compatible server on loopback that does what a test tells it, faults included.

    async with OpenAIServer(Say("Restart it."), Status(500), Hang()) as server:
        model = create_chat("any", server.url)

Each request takes the next step of the script; after the last one, `default`. `server.requests`
holds what was asked. A step answers streamed and whole requests alike unless it says otherwise.
"""

from __future__ import annotations

import asyncio
import base64
import hashlib
import json
from collections import deque
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
from aiohttp import web


@dataclass(frozen=True, slots=True)
class Request:
    path: str
    headers: Mapping[str, str]
    body: Mapping[str, Any]

    @property
    def stream(self) -> bool:
        return bool(self.body.get("stream"))

    @property
    def system(self) -> str:
        return "\n".join(m["content"] for m in self.body["messages"] if m["role"] == "system")

    @property
    def user(self) -> str:
        return "\n".join(m["content"] for m in self.body["messages"] if m["role"] == "user")


class Step(Protocol):
    async def answer(self, request: Request, http: web.Request) -> web.StreamResponse: ...


@dataclass(frozen=True, slots=True)
class Say:
    """A normal reply. `pieces` fixes how a stream is divided; else it goes in short pieces."""

    text: str | None = None
    pieces: Sequence[str] = ()
    finish: str | None = "stop"
    message: Mapping[str, Any] = field(default_factory=dict)  # more fields, e.g. a refusal
    done: bool = True  # whether a stream ends in [DONE]

    async def answer(self, request: Request, http: web.Request) -> web.StreamResponse:
        if request.stream:
            return await Chunks(self._chunks(), done=self.done).answer(request, http)
        content = "".join(self.pieces) if self.pieces else self.text
        message = {"role": "assistant", "content": content, **self.message}
        choice = {"index": 0, "message": message, "finish_reason": self.finish}
        return web.json_response(_reply(choices=[choice], usage=USAGE))

    def _chunks(self) -> list[Mapping[str, Any]]:
        text = self.text or ""
        pieces = self.pieces or [text[at : at + 7] for at in range(0, len(text), 7)]
        deltas: list[Mapping[str, Any]] = [{"role": "assistant", "content": None}]
        deltas += [{"content": piece} for piece in pieces]
        deltas += [{key: value} for key, value in self.message.items()]
        chunks = [delta_chunk(delta) for delta in deltas]
        if self.finish:
            chunks.append(delta_chunk({}, finish=self.finish))
        return [*chunks, _chunk(choices=[], usage=USAGE)]


@dataclass(frozen=True, slots=True)
class Chunks:
    """A stream of exactly these chunks; `cut` closes the connection in the middle of the body."""

    chunks: Sequence[Mapping[str, Any] | str]
    done: bool = True
    cut: bool = False

    async def answer(self, request: Request, http: web.Request) -> web.StreamResponse:
        response = web.StreamResponse(headers={"content-type": "text/event-stream"})
        await response.prepare(http)
        for chunk in self.chunks:
            data = chunk if isinstance(chunk, str) else json.dumps(chunk, ensure_ascii=False)
            await response.write(f"data: {data}\n\n".encode())
        if self.cut:
            assert http.transport is not None
            http.transport.close()
            return response
        if self.done:
            await response.write(b"data: [DONE]\n\n")
        return response


@dataclass(frozen=True, slots=True)
class Whole:
    """Any JSON body, e.g. one without choices, for whole and streamed requests."""

    body: Mapping[str, Any]

    async def answer(self, request: Request, http: web.Request) -> web.StreamResponse:
        return web.json_response(self.body)


@dataclass(frozen=True, slots=True)
class Status:
    """An HTTP error in OpenAI's form, or with `body` in the form of another server."""

    status: int
    message: str = "it did not work"
    code: str | None = None
    type: str | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    body: Any = None

    async def answer(self, request: Request, http: web.Request) -> web.StreamResponse:
        error = {"message": self.message, "code": self.code, "type": self.type}
        body = self.body if self.body is not None else {"error": error}
        if isinstance(body, str):
            return web.Response(status=self.status, text=body, headers=self.headers)
        return web.json_response(body, status=self.status, headers=self.headers)


@dataclass(frozen=True, slots=True)
class Body:
    """Exactly these bytes, under any content type."""

    content: bytes
    type: str = "text/event-stream"

    async def answer(self, request: Request, http: web.Request) -> web.StreamResponse:
        return web.Response(body=self.content, headers={"content-type": self.type})


@dataclass(frozen=True, slots=True)
class Page:
    """A web page with status 200, as a wrong address gives."""

    async def answer(self, request: Request, http: web.Request) -> web.StreamResponse:
        return web.Response(text="<html>Welcome</html>", content_type="text/html")


@dataclass(frozen=True, slots=True)
class Hang:
    """Accepts and never answers; with `chunks` it falls silent in the middle of a stream."""

    chunks: Sequence[Mapping[str, Any]] = ()

    async def answer(self, request: Request, http: web.Request) -> web.StreamResponse:
        if self.chunks:
            response = web.StreamResponse(headers={"content-type": "text/event-stream"})
            await response.prepare(http)
            for chunk in self.chunks:
                await response.write(f"data: {json.dumps(chunk)}\n\n".encode())
        await asyncio.Event().wait()
        raise AssertionError


@dataclass(frozen=True, slots=True)
class Vectors:
    """Embeddings that depend on the text alone, of the form a test wants to see handled."""

    dimension: int = 8
    packed: bool = False  # base64, as OpenAI sends when asked to
    order: Callable[[list[Any]], list[Any]] = list
    vector: Callable[[str, int], Any] | None = None

    async def answer(self, request: Request, http: web.Request) -> web.StreamResponse:
        data = [
            {"object": "embedding", "index": index, "embedding": self._embedding(text)}
            for index, text in enumerate(request.body["input"])
        ]
        body = {"object": "list", "data": self.order(data), "model": request.body["model"]}
        return web.json_response(body)

    def _embedding(self, text: str) -> Any:
        if self.vector is not None:
            return self.vector(text, self.dimension)
        vector = vector_of(text, self.dimension)
        if self.packed:
            return base64.b64encode(vector.astype("<f4").tobytes()).decode()
        return vector.tolist()


USAGE = {"prompt_tokens": 11, "completion_tokens": 7, "total_tokens": 18}


def vector_of(text: str, dimension: int) -> np.ndarray[Any, np.dtype[np.float32]]:
    """The vector that `Vectors` gives a text, not of unit length."""
    seed = int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big")
    return np.random.default_rng(seed).normal(size=dimension).astype(np.float32) * 3


def delta_chunk(delta: Mapping[str, Any], finish: str | None = None) -> Mapping[str, Any]:
    return _chunk(choices=[{"index": 0, "delta": delta, "finish_reason": finish}])


def _chunk(**fields: Any) -> Mapping[str, Any]:
    return {"id": "c1", "object": "chat.completion.chunk", "created": 1, "model": "m", **fields}


def _reply(**fields: Any) -> Mapping[str, Any]:
    return {"id": "c1", "object": "chat.completion", "created": 1, "model": "m", **fields}


class OpenAIServer:
    """The server; an async context manager."""

    def __init__(self, *steps: Step, default: Step | None = None) -> None:
        self.requests: list[Request] = []
        self._steps = deque(steps)
        self._default = default
        self._runner: web.AppRunner | None = None
        self.url = ""

    def then(self, *steps: Step) -> None:
        """Appends to the script."""
        self._steps.extend(steps)

    async def __aenter__(self) -> OpenAIServer:
        app = web.Application(client_max_size=64 * 1024 * 1024)
        app.router.add_post("/v1/chat/completions", self._handle)
        app.router.add_post("/v1/embeddings", self._handle)
        self._runner = web.AppRunner(
            app, access_log=None, handler_cancellation=True, shutdown_timeout=0.1
        )
        await self._runner.setup()
        site = web.TCPSite(self._runner, "127.0.0.1", 0)
        await site.start()
        host, port = self._runner.addresses[0][:2]
        self.url = f"http://{host}:{port}/v1"
        return self

    async def __aexit__(self, *_: object) -> None:
        assert self._runner is not None
        await self._runner.cleanup()

    async def _handle(self, http: web.Request) -> web.StreamResponse:
        request = Request(http.path, dict(http.headers), await http.json())
        self.requests.append(request)
        step = self._steps.popleft() if self._steps else self._default
        assert step is not None, "the script of the server is at its end"
        return await step.answer(request, http)


async def closed_port() -> str:
    """An address at which nobody listens."""
    async with OpenAIServer() as server:
        return server.url


async def pieces_and_end(stream: AsyncIterator[Any]) -> tuple[list[str], Any]:
    """What a stream gave: its pieces of text, and its last item."""
    items = [item async for item in stream]
    return [item for item in items if isinstance(item, str)], items[-1] if items else None


async def pieces_before(error: type[Exception], stream: AsyncIterator[Any]) -> list[Any]:
    """What a stream gave before it raised `error`; fails when it did not."""
    items = []
    try:
        async for item in stream:
            items.append(item)
    except error:
        return items
    raise AssertionError(f"the stream ended without {error.__name__}")
