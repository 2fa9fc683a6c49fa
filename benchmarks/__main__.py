"""Measures everything once and writes docs/benchmarks.md.

python -m benchmarks [--docs DIR] [--questions FILE.jsonl] [--sizes 10000,100000] [--only PART]

With --only, one part is measured and printed, and nothing is written.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import platform
import sys
import tempfile
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from benchmarks import (
    chat,
    questions,
    replicas,
    repository,
    searching,
    served,
    sessions,
    slack,
    starting,
    syncing,
)
from benchmarks.contenders.table import table
from benchmarks.table import Figure, markdown
from bot.app import opened
from bot.evals.rows import load_rows
from bot.settings import Settings

ROOT = Path(__file__).resolve().parent.parent
REPORT = ROOT / "docs" / "benchmarks.md"
MOST = 60  # questions asked
ELSEWHERE = "elsewhere"  # the part with a table of its own

_HEAD = """\
# Benchmarks

Written by `make bench`; do not edit. Each ratio is measured side by side in one run, so that it
says something on any machine; times of another machine, or of a busy one, do not.

{when}, Python {python}, {cores} cores, load {load:.1f} at the start.
Documents: {docs}, {asked} questions.
"""


@dataclass(frozen=True, slots=True)
class Plan:
    docs: Path
    questions: Path
    asked: Sequence[str]
    sizes: Sequence[int]  # of large indexes, in chunks


async def _starting(plan: Plan, folder: Path) -> list[Figure]:
    return await asyncio.to_thread(starting.costs, folder, plan.docs, plan.asked[0])


async def _documents(plan: Plan, folder: Path) -> list[Figure]:
    figures = await syncing.costs(plan.docs, folder)
    async with opened(Settings(home=folder, web=False)) as app:
        return figures + await questions.costs(app, plan.asked)


async def _repository(plan: Plan, folder: Path) -> list[Figure]:
    return await repository.costs(plan.docs, folder)


async def _search(plan: Plan, folder: Path) -> list[Figure]:
    return await searching.costs(folder, plan.sizes)


async def _weaviate(plan: Plan, folder: Path) -> list[Figure]:
    return await served.costs(folder, plan.sizes)


async def _chat(plan: Plan, folder: Path) -> list[Figure]:
    return await chat.costs(folder, plan.docs, plan.asked)


async def _slack(plan: Plan, folder: Path) -> list[Figure]:
    return await slack.costs(folder, plan.docs, plan.asked)


async def _replicas(plan: Plan, folder: Path) -> list[Figure]:
    return await replicas.costs(folder, plan.docs, plan.asked)


async def _sessions(plan: Plan, folder: Path) -> list[Figure]:
    return await sessions.costs(folder, plan.docs, plan.asked)


# Processes first: Linux counts what this one holds to the peak of the processes it starts.
PARTS: Mapping[str, Callable[[Plan, Path], Awaitable[list[Figure]]]] = {
    "start": _starting,
    "chat": _chat,
    "slack": _slack,
    "replicas": _replicas,
    "repository": _repository,
    "documents": _documents,
    "sessions": _sessions,
    "search": _search,
    "weaviate": _weaviate,
}


async def _measure(plan: Plan, parts: Collection[str]) -> list[Figure]:
    figures: list[Figure] = []
    for part in parts:
        with tempfile.TemporaryDirectory() as folder:
            figures += await PARTS[part](plan, Path(folder))
    return figures


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks")
    parser.add_argument("--docs", type=Path, default=ROOT / "examples/docs")
    parser.add_argument("--questions", type=Path, default=ROOT / "examples/questions.jsonl")
    parser.add_argument("--sizes", default="10000,100000")
    parser.add_argument("--only", choices=[*PARTS, ELSEWHERE], help="print this part")
    options = parser.parse_args()
    asked = [row.question for row in load_rows(options.questions) if row.answerable][:MOST]
    sizes = [int(size) for size in options.sizes.split(",") if size]
    plan = Plan(options.docs, options.questions, asked, sizes)
    if options.only:
        sys.stdout.write(_part(plan, options.only) + "\n")
        return
    text = "\n".join((_head(plan), _part(plan), "", "## Corrective RAG elsewhere", "",
                      _part(plan, ELSEWHERE)))  # fmt: skip
    REPORT.write_text(text.rstrip() + "\n", encoding="utf-8")
    sys.stdout.write(text + "\n")


def _part(plan: Plan, name: str = "") -> str:
    """One part as Markdown; without a name, all that are in the first table."""
    if name == ELSEWHERE:
        return table(plan.docs, plan.questions)
    return markdown(asyncio.run(_measure(plan, [name] if name else PARTS)))


def _head(plan: Plan) -> str:
    return _HEAD.format(
        when=f"{datetime.now(UTC):%Y-%m-%d %H:%M} UTC",
        python=platform.python_version(),
        cores=os.cpu_count(),
        load=os.getloadavg()[0],
        docs=_shown(plan.docs),
        asked=len(plan.asked),
    )


def _shown(path: Path) -> str:
    """A path as the report may name it: inside the repository, or by its last two names."""
    full = path.resolve()
    if full.is_relative_to(ROOT):
        return f"`{full.relative_to(ROOT)}`"
    return f"`{'/'.join(full.parts[-2:])}`"


if __name__ == "__main__":
    main()
