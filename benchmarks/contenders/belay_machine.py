"""Measures Belay: its own index of the same passages, its own machine, the same model and web."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from importlib.metadata import version
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from adapters.memory.model import ScriptedModel
from adapters.memory.web import MemoryWeb
from benchmarks.contenders.instant import ANSWER, WEB, Judge
from benchmarks.contenders.job import Asked, Figures, Job, Passage, Sample, Stopwatch, Verdicts
from bot.app import App
from bot.evals.rows import Row, load_rows
from bot.evals.run import CountedWeb, scratch
from bot.ingest.embed import passage_text
from bot.progress import Silent
from bot.settings import Settings
from graph.machine import Machine
from graph.ports import Prompt, WebResult

_REPLIES: Mapping[str, Mapping[str, Any]] = {
    "classify": {"type": "factual"},
    "decompose": {"questions": []},
}


@asynccontextmanager
async def indexed(docs: Path) -> AsyncIterator[App]:
    """An App over `docs` in a folder that is gone afterwards. Raises BotError."""
    with TemporaryDirectory(prefix="belay-bench-") as home:
        settings = Settings(home=Path(home), model="", embedder="builtin")
        async with scratch(settings, docs, CountedWeb(), Silent()) as app:
            yield app


async def job_of(app: App, questions: Path, most: int) -> Job:
    """The app's passages with answerable questions of a JSONL file, `most` spread over all of it.

    Raises SourceError.
    """
    passages = [
        Passage(item.document, passage_text(item.title, item.heading, item.text))
        async for item, _, _ in app.index.chunks()
    ]
    rows = [row for row in load_rows(questions) if row.answerable]
    step = max(len(rows) / most, 1)
    kept = [rows[int(at * step)] for at in range(min(most, len(rows)))]
    return Job(tuple(passages), tuple(Asked(row.question, _documents(row)) for row in kept))


def _documents(row: Row) -> frozenset[str]:
    return frozenset().union(*(part.documents for part in row.parts))


async def measure(app: App, job: Job) -> Sequence[Figures]:
    """Every question judged in each way: "not relevant" is the reply INSUFFICIENT."""
    await app.machine.answer(app.question(job.questions[0].text))
    return [await _figures(app, job, verdicts) for verdicts in Verdicts]


async def measure_embedding(app: App, job: Job) -> Figures:
    """What every flow pays before anything else: the vector of the question."""
    samples = []
    for question in job.questions:
        with Stopwatch() as watch:
            await app.embedder.embed_questions([question.text])
        samples.append(Sample(0, 0, watch.milliseconds, watch.cpu))
    return Figures("embedding the question, alone", None, tuple(samples))


async def _figures(app: App, job: Job, verdicts: Verdicts) -> Figures:
    judge = Judge(verdicts)
    model = ScriptedModel(default=lambda prompt: _reply(prompt, judge))
    web = MemoryWeb([WebResult(title, url, text) for url, title, text in WEB])
    ports = replace(app.machine.ports, model=model, web=web)
    machine = Machine(ports, app.machine.policy, app.machine.limits)
    samples = []
    for question in job.questions:
        judge.turn_to(frozenset(f"document: {name}\n" for name in question.documents))
        samples.append(await _sample(machine, app, question, model, web))
    return Figures(f"Belay {version('belay-bot')}", verdicts, tuple(samples))


def _reply(prompt: Prompt, judge: Judge) -> str | Mapping[str, Any]:
    if prompt.purpose in _REPLIES:
        return _REPLIES[prompt.purpose]
    return ANSWER if judge.relevant(prompt.user) else "INSUFFICIENT: not in the passages"


async def _sample(
    machine: Machine, app: App, question: Asked, model: ScriptedModel, web: MemoryWeb
) -> Sample:
    calls, searches = len(model.prompts), len(web.queries)
    with Stopwatch() as watch:
        await machine.answer(app.question(question.text))
    model_calls, web_calls = len(model.prompts) - calls, len(web.queries) - searches
    return Sample(model_calls, web_calls, watch.milliseconds, watch.cpu)
