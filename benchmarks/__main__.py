"""Measures everything once and writes docs/benchmarks.md.

python -m benchmarks [--docs DIR] [--questions FILE.jsonl] [--sizes 10000,100000]
"""

from __future__ import annotations

import argparse
import asyncio
import os
import platform
import sys
import tempfile
from datetime import UTC, datetime
from pathlib import Path

from benchmarks import questions, searching, starting, syncing
from benchmarks.contenders.table import table
from benchmarks.table import Figure, markdown
from bot.app import opened
from bot.evals.rows import load_rows
from bot.settings import Settings

ROOT = Path(__file__).resolve().parent.parent
REPORT = ROOT / "docs" / "benchmarks.md"
MOST = 60  # questions asked

_HEAD = """\
# Benchmarks

Written by `make bench`; do not edit. Each ratio is measured side by side in one run, so that it
says something on any machine; times of another machine, or of a busy one, do not.

{when}, Python {python}, {cores} cores, load {load:.1f} at the start.
Documents: {docs}, {asked} questions.
"""


async def _measure(docs: Path, asked: list[str], sizes: list[int]) -> list[Figure]:
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder) / "home"
        # First: Linux counts what this process holds to the peak of the processes it starts.
        started = await asyncio.to_thread(starting.costs, Path(folder) / "own", docs, asked[0])
        figures = await syncing.costs(docs, home)
        async with opened(Settings(home=home, web=False)) as app:
            figures += await questions.costs(app, asked)
        figures += await searching.costs(Path(folder), sizes)
    return figures + started


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks")
    parser.add_argument("--docs", type=Path, default=ROOT / "examples/docs")
    parser.add_argument("--questions", type=Path, default=ROOT / "examples/questions.jsonl")
    parser.add_argument("--sizes", default="10000,100000")
    options = parser.parse_args()
    asked = [row.question for row in load_rows(options.questions) if row.answerable][:MOST]
    head = _HEAD.format(
        when=f"{datetime.now(UTC):%Y-%m-%d %H:%M} UTC",
        python=platform.python_version(),
        cores=os.cpu_count(),
        load=os.getloadavg()[0],
        docs=_shown(options.docs),
        asked=len(asked),
    )
    sizes = [int(size) for size in options.sizes.split(",") if size]
    figures = asyncio.run(_measure(options.docs, asked, sizes))
    contenders = table(options.docs, options.questions)
    text = "\n".join((head, markdown(figures), "", "## Corrective RAG elsewhere", "", contenders))
    REPORT.write_text(text.rstrip() + "\n", encoding="utf-8")
    sys.stdout.write(text + "\n")


def _shown(path: Path) -> str:
    """A path as the report may name it: inside the repository, or by its last two names."""
    full = path.resolve()
    if full.is_relative_to(ROOT):
        return f"`{full.relative_to(ROOT)}`"
    return f"`{'/'.join(full.parts[-2:])}`"


if __name__ == "__main__":
    main()
