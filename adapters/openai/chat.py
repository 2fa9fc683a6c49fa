"""A chat model behind any OpenAI-compatible server: OpenAI, Ollama, vLLM, llama.cpp, a gateway."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import aclosing
from typing import Any, TypeVar

from adapters.openai.attempts import Attempts, QuotaBreaker
from adapters.openai.client import Client
from adapters.openai.dialect import Dialect
from adapters.openai.endpoint import Endpoint, Persistence, Timeouts
from adapters.openai.faults import Failure, model_error
from adapters.openai.replies import Reply, piece_of
from graph.errors import ModelError, ModelMisconfigured, ModelUnavailable, ReplyUnusable
from graph.ports import ChatModel, Completion, Prompt

T = TypeVar("T")
log = logging.getLogger(__name__)


class OpenAIChat(ChatModel):
    """Asks through `chat.completions`, the one interface that all such servers share.

    One call makes at most one repetition after a passing fault and one after an unusable reply,
    all inside `timeouts.total`; nothing is repeated once text was yielded. What the server
    rejects (schemas, a temperature) is left out from then on.
    """

    def __init__(
        self,
        endpoint: Endpoint,
        timeouts: Timeouts,
        persistence: Persistence,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._endpoint = endpoint
        self._timeouts = timeouts
        self._persistence = persistence
        self._client = Client(endpoint, timeouts)
        self._breaker = QuotaBreaker(persistence.quota_pause, clock)
        self._dialect = Dialect()

    @property
    def name(self) -> str:
        return self._endpoint.model

    async def close(self) -> None:
        """Closes the connections; the model cannot be used afterwards."""
        await self._client.close()

    async def complete(self, prompt: Prompt) -> Completion:
        attempts = self._begin(prompt)
        try:
            async with asyncio.timeout_at(attempts.deadline):
                while True:
                    dialect, reply = self._dialect, Reply(prompt)
                    body = dialect.request(prompt, room=attempts.room, stream=False)
                    try:
                        for payload in await self._client.chat(body):
                            reply.add(piece_of(payload))
                        reply.rest()
                        return reply.completion()
                    except (Failure, ReplyUnusable) as error:
                        await self._prepare_another(error, dialect, reply, attempts)
        except TimeoutError as error:
            raise self._too_late() from error

    async def stream(self, prompt: Prompt) -> AsyncIterator[str | Completion]:
        attempts = self._begin(prompt)
        while True:
            dialect, reply, shown = self._dialect, Reply(prompt), False
            body = dialect.request(prompt, room=attempts.room, stream=True)
            try:
                async with aclosing(self._texts(body, reply, attempts.deadline)) as texts:
                    async for text in texts:
                        shown = True
                        yield text
                completion = reply.completion()
            except TimeoutError as error:
                raise self._too_late() from error
            except (Failure, ReplyUnusable) as error:
                if shown:
                    raise self._named(error) from error
                await self._prepare_another(error, dialect, reply, attempts)
            else:
                yield completion
                return

    async def _texts(
        self, body: dict[str, Any], reply: Reply, deadline: float
    ) -> AsyncGenerator[str, None]:
        async with aclosing(self._client.chat_stream(body)) as chunks:
            async for chunk in _until(deadline, chunks):
                if text := reply.add(piece_of(chunk)):
                    yield text
        if text := reply.rest():
            yield text

    def _begin(self, prompt: Prompt) -> Attempts:
        if problem := self._endpoint.problem():
            raise ModelMisconfigured(problem)
        self._breaker.check()
        deadline = asyncio.get_running_loop().time() + self._timeouts.total
        return Attempts(self._persistence, deadline, prompt.max_tokens)

    async def _prepare_another(
        self, error: Failure | ReplyUnusable, dialect: Dialect, reply: Reply, attempts: Attempts
    ) -> None:
        """Returns when another request makes sense; else raises what the caller must know."""
        if isinstance(error, ReplyUnusable):
            if not reply.may_be_repeated:
                raise error
            attempts.repeat_reply(error)
            return
        simpler = dialect.simpler(error.fault, reply.prompt)
        if simpler is not None:
            log.warning("%s understands less than asked for: %s", self._endpoint.url_shown, simpler)
            self._dialect = simpler
            return
        await attempts.repeat_after(self._named(error), error.fault)

    def _named(self, error: Failure | ReplyUnusable) -> ModelError:
        if isinstance(error, ReplyUnusable):
            return error
        named = model_error(error.fault, self._endpoint)
        self._breaker.note(named)
        return named

    def _too_late(self) -> ModelUnavailable:
        where = self._endpoint.url_shown
        return ModelUnavailable(f"no whole reply from {where} in {self._timeouts.total:g} s")


async def _until(deadline: float, items: AsyncIterator[T]) -> AsyncIterator[T]:
    """The same items; TimeoutError when the next one is not there by `deadline` (loop time)."""
    while True:
        try:
            async with asyncio.timeout_at(deadline):
                item = await anext(items)
        except StopAsyncIteration:
            return
        yield item
