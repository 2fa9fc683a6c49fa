"""Asks every labelled question of a real machine over a scratch index, and keeps what happened."""

from __future__ import annotations

import hashlib
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from bot.app import App, ensure_profile, opened
from bot.evals.rows import Row
from bot.ingest.version import CHUNKER_VERSION
from bot.library import Shelf, sync_shelf
from bot.progress import Progress
from bot.settings import Settings
from graph.model import Answer, Language
from graph.ports import WebResult
from graph.trace import Trace

SOURCE = "eval"


class CountedWeb:
    """A web that is never reached: it counts what would have been sent, and finds nothing."""

    def __init__(self) -> None:
        self.queries: list[str] = []

    async def search(self, query: str, *, language: Language, limit: int) -> Sequence[WebResult]:
        self.queries.append(query)
        return ()


@dataclass(frozen=True, slots=True)
class Result:
    """One question as it went. `ranking`: documents, best first, as paths under the folder."""

    row: Row
    answer: Answer
    trace: Trace
    ranking: tuple[str, ...]
    web_calls: int


@asynccontextmanager
async def scratch(
    settings: Settings, docs: Path, web: CountedWeb, progress: Progress
) -> AsyncIterator[App]:
    """An App over `docs`, indexed under the home's eval folder and reused while unchanged."""
    home = settings.home / "eval" / _key(docs, settings.embedder)
    async with opened(settings, home=home, web=web, check=False) as app:
        await sync_shelf(app, Shelf(SOURCE, docs), home=home, progress=progress, allow_loss=True)
        await ensure_profile(app, await app.index.info())
        yield app


@asynccontextmanager
async def without_documents(settings: Settings, web: CountedWeb) -> AsyncIterator[App]:
    """An App over an empty index, for what needs no documents."""
    home = settings.home / "eval" / "no-documents"
    async with opened(settings, home=home, web=web, check=False) as app:
        yield app


def _key(docs: Path, embedder: str) -> str:
    """Another version makes an index of its own: no command rebuilds one of these."""
    made_of = f"{docs.resolve()}|{embedder}|{CHUNKER_VERSION}"
    return hashlib.blake2b(made_of.encode(), digest_size=6).hexdigest()


async def ask_all(
    app: App, rows: Sequence[Row], web: CountedWeb, progress: Progress
) -> list[Result]:
    """Results in the order of `rows`, one question at a time."""
    results: list[Result] = []
    progress.begin("asking", len(rows))
    for row in rows:
        before = len(web.queries)
        finished = await app.machine.answer(app.question(row.question))
        results.append(
            Result(
                row,
                finished.answer,
                finished.trace,
                tuple(item.removeprefix(SOURCE + "/") for item in finished.trace.documents),
                len(web.queries) - before,
            )
        )
        progress.advance()
    progress.end()
    return results
