"""What earlier conversations cost: to index, again after a few more turns, and to search beside.

Documents and turns are generated from the sentences of real documents, so that their words occur
as often as in natural text.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path

import numpy as np

from benchmarks.table import Figure, median, ratio, timed
from bot.app import App, opened
from bot.ingest.sessions import remarks_of
from bot.library import Shelf, sync_shelf
from bot.progress import Silent
from bot.session_runs import index_said, open_log
from bot.sessions import SessionLog, SessionTurn
from bot.settings import Settings
from graph.blocks import Kind, blocks, sentences
from graph.lexicon import Lexicon
from graph.policy import Limits
from graph.retrieval import find_beside
from graph.state import Context
from graph.text import question_language

DOCUMENTS, SESSIONS, CHANNELS = 2_000, 750, 20
EXCHANGES, MORE = 2, 10  # questions of a session; turns after which the index is run again
SENTENCES = 12  # of a document
ROUNDS = 5
NOW = datetime(2026, 1, 5, tzinfo=UTC)


async def costs(folder: Path, docs: Path, asked: Sequence[str]) -> list[Figure]:
    """Full and incremental, both and one are measured in turns on the same data."""
    rng = np.random.default_rng(7)
    said = await asyncio.to_thread(_sentences, docs)
    await asyncio.to_thread(_write, folder / "docs", said, rng)
    settings = Settings(home=folder / "home", web=False)
    async with opened(settings, check=False) as app:
        shelf = Shelf("bench", folder / "docs")
        synced = await timed(partial(_sync, app, shelf))
        log = open_log(settings)
        await log.add([turn for number in range(SESSIONS) for turn in _session(number, said, rng)])
        full = await timed(partial(_index, app, log))
        again: list[float] = []
        for place in range(ROUNDS):
            threads = range(SESSIONS + MORE * place, SESSIONS + MORE * (place + 1))
            await log.add([turn for n in threads for turn in _session(n, said, rng)][:MORE])
            again.append(await timed(partial(_index, app, log)))
        counted = sum(1 for _ in remarks_of(await log.all()))
        return [
            Figure(f"first sync of {DOCUMENTS:,} documents", f"{synced / 1000:.1f} s"),
            Figure(f"first index of {SESSIONS} sessions", f"{full / 1000:.1f} s",
                   f"{counted:,} passages"),
            ratio(f"index of sessions after {MORE} new turns ÷ full", median(again), full, "ms"),
            await _searches(app, asked),
        ]  # fmt: skip


async def _sync(app: App, shelf: Shelf) -> None:
    await sync_shelf(app, shelf, home=app.settings.home, progress=Silent())


async def _index(app: App, log: SessionLog) -> None:
    assert app.sessions is not None
    await index_said(app, log, app.sessions)


async def _searches(app: App, asked: Sequence[str]) -> Figure:
    """By what the graph calls, with one memory of words; the place is one of the channels."""
    alone = Context(
        replace(app.machine.ports, sessions=None),
        Lexicon(app.words),
        app.machine.policy,
        Limits(),
        asyncio.get_running_loop().time() + 3_600.0,
    )
    beside = replace(alone, ports=replace(alone.ports, sessions=app.sessions))
    both: list[float] = []
    one: list[float] = []
    for text in asked:
        await _find(app, beside, text)  # words are remembered: whoever is first pays for them
        one.append(await timed(partial(_find, app, alone, text)))
        both.append(await timed(partial(_find, app, beside, text)))
    what = "search of documents and conversations ÷ search of documents"
    return ratio(what, median(both), median(one), "ms")


async def _find(app: App, context: Context, text: str) -> None:
    scope = replace(app.question(text, web=False).scope, place=_talk(0))
    await find_beside(text, question_language(text), scope, context)


def _sentences(docs: Path) -> list[str]:
    """What real documents say, sentence by sentence, in a stable order."""
    texts = [path.read_text(encoding="utf-8") for path in sorted(docs.rglob("*.md"))]
    prose = [block.text for text in texts for block in blocks(text) if block.kind is Kind.PROSE]
    return [piece.strip() for text in prose for piece in sentences(text) if piece.strip()]


def _write(folder: Path, said: Sequence[str], rng: np.random.Generator) -> None:
    folder.mkdir()
    for number in range(DOCUMENTS):
        title, *body = _picked(said, SENTENCES, rng)
        text = f"# {title}\n\n{' '.join(body)}\n"
        (folder / f"{number:05}.md").write_text(text, encoding="utf-8")


def _picked(said: Sequence[str], count: int, rng: np.random.Generator) -> list[str]:
    return [said[place] for place in rng.integers(0, len(said), count)]


def _talk(number: int) -> str:
    return f"slack:C{number % CHANNELS}:chat"


def _session(number: int, said: Sequence[str], rng: np.random.Generator) -> list[SessionTurn]:
    """A thread of questions with answers that documents hold."""
    turns: list[SessionTurn] = []
    for place, text in enumerate(_picked(said, 2 * EXCHANGES, rng)):
        answer, name = place % 2 == 1, f"{number}-{place // 2}"
        turns.append(
            SessionTurn(
                f"{name}:{'answer' if answer else 'question'}",
                "answer" if answer else "question",
                f"slack:C{number % CHANNELS}:{number}",
                _talk(number),
                f"slack:U{number % 50}",
                text,
                NOW + timedelta(minutes=10 * number + place),
                question_id=name,
                verified=answer,
            )
        )
    return turns
