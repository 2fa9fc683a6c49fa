"""What a question costs beyond its embedding and its search."""

from __future__ import annotations

import asyncio
import gc
import os
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from adapters.memory.model import ScriptedModel
from benchmarks.table import Figure, median, ratio, timed
from bot.app import App
from bot.cli import OBJECTS
from graph.lexicon import Lexicon
from graph.look import look
from graph.machine import Machine
from graph.ports import Prompt, Search
from graph.relevance import search_terms
from graph.text import question_language, spaced

_WARM_UP = 3  # questions that are asked before, and not counted
CONCURRENT = 16  # questions under way at once in the throughput run


async def costs(app: App, questions: Sequence[str]) -> list[Figure]:
    """Bare and whole are measured in turns, so that a busy moment falls on both."""
    gc.set_threshold(OBJECTS)  # as in every process of Belay
    machine = Machine(replace(app.machine.ports, model=None, web=None), app.machine.policy)
    lexicon = Lexicon(app.words)
    bare: list[float] = []
    ranked: list[float] = []
    whole: list[float] = []
    for text in (*questions[:_WARM_UP], *questions):
        question = app.question(text, web=False)
        bare.append(await timed(partial(_bare, app, lexicon, text)))
        ranked.append(await timed(partial(machine.search, text, question.scope)))
        whole.append(await timed(partial(machine.answer, question)))
    bare, ranked, whole = bare[_WARM_UP:], ranked[_WARM_UP:], whole[_WARM_UP:]
    own = [total - part for total, part in zip(whole, bare, strict=True)]
    return [
        ratio("whole question ÷ (embedding + search, glossary included)",
              median(whole), median(bare), "ms"),
        Figure("own overhead of a question", f"{median(own):.1f} ms", "median of the differences"),
        ratio("whole question ÷ `belay search`, which ranks what was found",
              median(whole), median(ranked), "ms"),
        await _throughput(app, questions),
    ]  # fmt: skip


async def _bare(app: App, lexicon: Lexicon, text: str) -> None:
    retriever = app.machine.ports.retriever
    profile = await retriever.profile()
    vector = (await app.embedder.embed_questions([spaced(text)]))[0]
    view = await look(text, question_language(text), profile, lexicon, vector)
    scope = app.question(text).scope
    await retriever.search(Search(search_terms(view), vector), scope)


def _reply(prompt: Prompt) -> str | Mapping[str, Any]:
    return {"questions": []} if prompt.schema else "Yes [1]."


async def _throughput(app: App, questions: Sequence[str]) -> Figure:
    model = ScriptedModel(default=_reply)
    machine = Machine(replace(app.machine.ports, model=model, web=None), app.machine.policy)
    gate = asyncio.Semaphore(CONCURRENT)

    async def ask(text: str) -> None:
        async with gate:
            await machine.answer(app.question(text, web=False))

    started = time.perf_counter()
    async with asyncio.TaskGroup() as group:
        for text in questions:
            group.create_task(ask(text))
    seconds = time.perf_counter() - started
    return Figure(
        "questions a second in one process, instant model",
        f"{len(questions) / seconds:.0f}",
        f"{len(questions)} questions, {CONCURRENT} at once, {os.cpu_count()} cores",
    )
