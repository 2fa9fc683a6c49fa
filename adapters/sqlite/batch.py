"""Requests of the same moment, answered together."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from concurrent.futures import Executor
from functools import partial
from typing import Generic, TypeVar

A = TypeVar("A")
R = TypeVar("R")


class Batch(Generic[A, R]):
    """Gathers what tasks ask for in one turn of their event loop, and answers it in one thread.

    `answer` gives one result for each request, in order. When it fails, all requests of the moment
    fail alike.
    """

    def __init__(self, executor: Executor, answer: Callable[[Sequence[A]], Sequence[R]]) -> None:
        self._executor = executor
        self._answer = answer
        self._open: dict[
            asyncio.AbstractEventLoop, tuple[list[A], asyncio.Future[Sequence[R]]]
        ] = {}

    async def ask(self, request: A) -> R:
        """The result for `request`. Raises what `answer` raises."""
        loop = asyncio.get_running_loop()
        if loop not in self._open:
            self._open[loop] = ([], loop.create_future())
            loop.call_soon(self._start, loop)
        requests, results = self._open[loop]
        requests.append(request)
        place = len(requests) - 1
        return (await asyncio.shield(results))[place]  # one task may be cancelled, not the others

    def _start(self, loop: asyncio.AbstractEventLoop) -> None:
        requests, results = self._open.pop(loop)
        try:
            done = loop.run_in_executor(self._executor, self._answer, requests)
        except RuntimeError as error:  # the executor has ended meanwhile
            results.set_exception(error)
        else:
            done.add_done_callback(partial(_hand_over, results))


def _hand_over(results: asyncio.Future[Sequence[R]], done: asyncio.Future[Sequence[R]]) -> None:
    if done.cancelled():
        results.cancel()
        return
    error = done.exception()
    if error is None:
        results.set_result(done.result())
    else:
        results.set_exception(error)
        results.exception()  # nobody may be waiting any more
