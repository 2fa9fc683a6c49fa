"""The contenders side by side, as Markdown."""

from __future__ import annotations

import asyncio
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.contenders import belay_machine, langgraph_flow
from benchmarks.contenders.job import Figures, Job, load_figures

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "examples/docs"
QUESTIONS = ROOT / "examples/questions.jsonl"
PYTHON = ROOT / ".venv-bench/bin/python"
INSTALL = (
    "scripts/venv .venv-bench && scripts/install .venv-bench/bin/python benchmarks/requirements.txt"
)

_COLUMNS = (
    "flow",
    "the model judges passages",
    "model calls a question",
    "at most",
    "web calls",
    "ms p50",
    "CPU ms p50",
)
_TEXT_COLUMNS = 2  # the others are numbers, to the right
_NOTES = """\
Every flow gets the same {passages} passages ({docs}), the same builtin embedder, the same
{questions} answerable questions
({rows}), a web that finds five pages at once and a model that
replies at once. Milliseconds are one question at a time, its embedding included; CPU counts all
threads of the process and is the steadier of the two on a busy machine.

The model judges in three ways. *By the labels*: a passage is relevant when it comes from a document
that holds the answer. That is strict with the two flows that grade each passage alone: one passage
of another document is enough to send them to the web. *Always* and *never relevant* bound what any
model can make of a flow; a lenient model is between the labels and always.

- Belay decides by calibrated relevance, before any model is called, and calls one to write; its
  other calls take questions apart. The model sees all passages at once and says "not relevant" as
  `INSUFFICIENT`. The time includes checking the answer against the passages, which the other two
  flows do not do.
- LangGraph: the documented steps, on its own graph, chains and in-memory store, with the documented
  default of 4 passages. Any passage graded irrelevant sends the question to the web.
- LlamaIndex: the pack's own workflow and prompts, with its default of 2 passages and the same rule.

Not measured: the quality of answers (an instant model has none); real models and networks, where
each call costs the seconds and money that counting calls stands for; the contenders' own splitting
of documents (all read Belay's passages); several questions at once; memory."""


@dataclass(frozen=True, slots=True)
class Skipped:
    """A contender that did not run, and why."""

    flow: str
    reason: str


def table(
    docs: Path = DOCS,
    questions: Path = QUESTIONS,
    python: Path = PYTHON,
    most: int = 40,
    limit: float = 90,
) -> str:
    """A Markdown table with its notes.

    Each flow is asked at most `most` questions. `python` runs LlamaIndex's pack, for `limit`
    seconds at most; a pack that does not run is a line with the reason.
    Raises BotError when the documents or the questions cannot be read.
    """
    job, figures = asyncio.run(_belay(docs, questions, most))
    figures += langgraph_flow.measure(job)
    packed = _llamaindex(job, python, limit)
    skipped = [packed] if isinstance(packed, Skipped) else []
    figures += [] if isinstance(packed, Skipped) else packed
    lines = [*_head(), *map(_row, figures), *(_skipped_row(item) for item in skipped)]
    notes = _NOTES.format(
        passages=len(job.passages),
        docs=_shown(docs),
        questions=len(job.questions),
        rows=_shown(questions),
    )
    why = [f"{item.flow} did not run: {item.reason}" for item in skipped]
    return "\n\n".join(["\n".join(lines), *why, notes])


async def _belay(docs: Path, questions: Path, most: int) -> tuple[Job, list[Figures]]:
    async with belay_machine.indexed(docs) as app:
        job = await belay_machine.job_of(app, questions, most)
        own = await belay_machine.measure(app, job)
        return job, [await belay_machine.measure_embedding(app, job), *own]


def _llamaindex(job: Job, python: Path, limit: float) -> Sequence[Figures] | Skipped:
    name = "LlamaIndex pack"
    if not python.exists():
        return Skipped(name, f"it is not installed. To install it: `{INSTALL}`")
    # The pack makes an OpenAI client, which is replaced before its first use, and wants a key.
    command = ["/usr/bin/env", "OPENAI_API_KEY=none", str(python), "-m"]
    try:
        done = subprocess.run(
            [*command, "benchmarks.contenders.llamaindex_pack"],
            input=job.dumps(),
            capture_output=True,
            text=True,
            cwd=ROOT,
            timeout=limit,
            check=True,
        )
    except subprocess.TimeoutExpired:
        return Skipped(name, f"it took longer than {limit:.0f} s")
    except subprocess.CalledProcessError as error:
        last = (error.stderr.strip() or "no message").splitlines()[-1]
        return Skipped(name, f"it failed with `{last}`. To install it again: `{INSTALL}`")
    return load_figures(done.stdout)


def _head() -> Sequence[str]:
    rules = ["---"] * _TEXT_COLUMNS + ["---:"] * (len(_COLUMNS) - _TEXT_COLUMNS)
    return _line(_COLUMNS), _line(rules)


def _line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _row(item: Figures) -> str:
    times = (f"{item.milliseconds:.1f}", f"{item.cpu:.1f}")
    if item.verdicts is None:
        return _line((item.flow, "", "", "", "", *times))
    web = f"{item.web_calls} of {len(item.samples)}"
    calls = (f"{item.model_calls:.2f}", str(item.most_model_calls))
    return _line((item.flow, item.verdicts, *calls, web, *times))


def _skipped_row(item: Skipped) -> str:
    return _line((item.flow, "did not run, see below", "", "", "", "", ""))


def _shown(path: Path) -> str:
    path = path.resolve()
    return f"`{path.relative_to(ROOT)}`" if path.is_relative_to(ROOT) else f"`{path.name}`"
