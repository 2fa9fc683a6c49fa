"""A web search that answers from a script, and remembers what it was asked."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence

from graph.errors import WebUnavailable
from graph.model import Language
from graph.ports import WebResult, WebSearch
from graph.web_results import clean

Script = Mapping[str, Sequence[WebResult]]


class MemoryWeb(WebSearch):
    """Answers each query with the same results, or by a script from query to results.

    With `down` every search fails as an unreachable web does, with `hangs` none ever ends.
    `queries` holds what was asked, in order; searches that failed are among them.
    """

    def __init__(
        self,
        results: Sequence[WebResult] | Script = (),
        *,
        down: bool = False,
        hangs: bool = False,
    ) -> None:
        self.results = results
        self.down, self.hangs = down, hangs
        self.queries: list[str] = []

    async def search(self, query: str, *, language: Language, limit: int) -> Sequence[WebResult]:
        self.queries.append(query)
        if self.hangs:
            await asyncio.Event().wait()
        if self.down:
            raise WebUnavailable("the web search is down")
        if isinstance(self.results, Mapping):
            return clean(self.results.get(query, ()), limit)
        return clean(self.results, limit)
