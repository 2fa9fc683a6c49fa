"""One way to call the chat model: inside the question's deadline, counted, timed."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator

from graph.errors import ModelError, ModelUnavailable
from graph.ports import ChatModel, Completion, Prompt
from graph.state import Context, ModelCall


def seconds_left(context: Context) -> float:
    """What a model call may take now: the call's own limit, or what the deadline leaves."""
    left = context.deadline - asyncio.get_running_loop().time() - context.limits.reserve
    return min(context.limits.model_timeout, left)


async def complete(
    model: ChatModel, prompt: Prompt, context: Context
) -> tuple[Completion | ModelError, ModelCall]:
    """The reply, or the error as a value: nodes decide by it and still record the call."""
    started = time.perf_counter()
    result: Completion | ModelError
    try:
        async with asyncio.timeout(seconds_left(context)):
            result = await model.complete(prompt)
    except TimeoutError:
        result = ModelUnavailable("the model did not answer in time")
    except ModelError as error:
        result = error
    return result, record(prompt, started, result)


async def stream(
    model: ChatModel, prompt: Prompt, context: Context
) -> AsyncIterator[str | Completion | ModelError]:
    """Pieces of text, then the Completion, or a ModelError as the last item."""
    try:
        async with asyncio.timeout(seconds_left(context)):
            async for item in model.stream(prompt):
                yield item
    except TimeoutError:
        yield ModelUnavailable("the model did not answer in time")
    except ModelError as error:
        yield error


def record(prompt: Prompt, started: float, result: Completion | ModelError) -> ModelCall:
    elapsed = (time.perf_counter() - started) * 1000
    if isinstance(result, ModelError):
        return ModelCall(prompt.purpose, elapsed, error=type(result).__name__)
    return ModelCall(prompt.purpose, elapsed, result.prompt_tokens, result.completion_tokens)
