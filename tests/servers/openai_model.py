"""A chat model of the OpenAI adapter together with the loopback server behind it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any

import pytest

from adapters.openai import OpenAIChat
from adapters.openai.endpoint import Endpoint, Persistence, Timeouts
from graph.ports import Completion, Prompt
from tests.servers.openai_server import OpenAIServer, Step, pieces_and_end

SCHEMA = {
    "type": "object",
    "properties": {"relevant": {"type": "boolean"}},
    "required": ["relevant"],
    "additionalProperties": False,
}
PLAIN = Prompt("generate", "You answer from passages.", "How do I restart the parser?")
SHAPED = Prompt("grade", "You judge.", "Is it relevant?", max_tokens=50, schema=SCHEMA)
KEY = "sk-test-0123456789abcdef"
QUICK = Timeouts(total=5.0, connect=1.0, silence=2.0)
KEEN = Persistence(patience=1.0, pause=0.0)

Serve = Callable[..., Any]


@asynccontextmanager
async def serving() -> AsyncIterator[Serve]:
    """Starts models, each with a server behind it that takes the steps given."""
    async with AsyncExitStack() as stack:

        async def start(
            *steps: Step, default: Step | None = None, **options: Any
        ) -> tuple[OpenAIChat, OpenAIServer]:
            server = await stack.enter_async_context(OpenAIServer(*steps, default=default))
            endpoint = Endpoint("any", server.url, KEY)
            values: dict[str, Any] = {"timeouts": QUICK, "persistence": KEEN, **options}
            model = OpenAIChat(endpoint, **values)
            stack.push_async_callback(model.close)
            return model, server

        yield start


async def whole(model: OpenAIChat, prompt: Prompt = PLAIN) -> Completion:
    return await model.complete(prompt)


async def streamed(model: OpenAIChat, prompt: Prompt = PLAIN) -> Completion:
    pieces, end = await pieces_and_end(model.stream(prompt))
    assert isinstance(end, Completion)
    assert "".join(pieces) == end.text
    return end


Ask = Callable[..., Any]
both = pytest.mark.parametrize("ask", [whole, streamed])
