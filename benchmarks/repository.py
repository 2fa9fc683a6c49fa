"""A repository of 2,000 documents: the first sync, one where nothing changed, one changed file.

Beside them: git alone, with the same options and server, and parsing and embedding alone.
"""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import subprocess
from collections.abc import Awaitable, Callable
from pathlib import Path

from benchmarks.starting import command
from benchmarks.table import Figure, ratio, timed
from bot.app import App, opened
from bot.ingest.chunk import ChunkLimits, chunks
from bot.ingest.embed import passage_text
from bot.ingest.parse import parse
from bot.library import Shelf, sync_shelf
from bot.progress import Silent
from bot.settings import Settings
from bot.source_settings import GitSettings, Remote
from graph.model import SourceType

DOCUMENTS = 2000
RUNS = 5
_PROGRAM = shutil.which("git") or "git"
_GIT = GitSettings(protocols=("file",))
_SECTIONS, _SENTENCES = 4, 10  # of a document and of a section


Work = Callable[[], Awaitable[None]]


async def costs(docs: Path, home: Path) -> list[Figure]:
    """`docs` gives the sentences."""
    upstream = home / "upstream"
    await asyncio.to_thread(_write, upstream, docs)
    peak = await asyncio.to_thread(_peak, upstream.as_uri(), home / "process")
    settings = Settings(home=home / "data", web=False, git=_GIT)
    async with opened(settings, check=False) as app:
        return [*await _compared(app, upstream, home), peak]


async def _compared(app: App, upstream: Path, home: Path) -> list[Figure]:
    remote = Remote(upstream.as_uri())
    shelf = Shelf("docs", home / "copy", kind=SourceType.REPO, remote=remote)
    alone = home / "alone"
    _git(home, "init", "-q", "--bare", str(alone))

    async def sync() -> None:
        await sync_shelf(app, shelf, home=home, progress=Silent())

    async def fetch() -> None:
        words = ("fetch", "-q", "--depth=1", "--no-tags", remote.url, "+HEAD:refs/x/tip")
        await asyncio.to_thread(_git, alone, *words)

    await app.embedder.embed_questions(["warm"])
    first, cloned = await timed(sync), await timed(fetch)
    bare = await _bare(app, upstream)
    second, fetched = await _least(sync, fetch)
    changed: list[float] = []
    change: list[float] = []
    for run in range(RUNS):
        _change(upstream, run)
        changed.append(await timed(sync))
        change.append(await timed(fetch))
    count = (await app.index.info()).chunks
    return [
        ratio(
            f"first sync of {DOCUMENTS} documents in a repository ÷ parsing and embedding "
            f"of their {count} chunks", first, bare, "ms",
        ),
        ratio("that first sync ÷ the first `git fetch` alone", first, cloned, "ms"),
        ratio("second sync, nothing changed ÷ `git fetch` alone", second, fetched, "ms"),
        ratio("sync of one changed file ÷ `git fetch` alone", min(changed), min(change), "ms"),
    ]  # fmt: skip


async def _least(sync: Work, fetch: Work) -> tuple[float, float]:
    """The best of some runs, in turn."""
    times = [(await timed(sync), await timed(fetch)) for _ in range(RUNS)]
    return min(time for time, _ in times), min(time for _, time in times)


async def _bare(app: App, upstream: Path) -> float:
    """Milliseconds for parsing and cutting the files and embedding the chunks."""

    files = await asyncio.to_thread(lambda: sorted(upstream.rglob("*.md")))

    async def work() -> None:
        texts: list[str] = []
        for path in files:
            outline = parse(path.name, path.read_text(encoding="utf-8"), {}).outline
            pieces = chunks(outline, ChunkLimits())
            texts += [passage_text(outline.title, piece.head, piece.text) for piece in pieces]
        await app.embedder.embed_passages(texts)

    return await timed(work)


def _peak(url: str, home: Path) -> Figure:
    """Of a process that syncs the repository for the first time."""
    variables = {
        "BELAY_HOME": str(home),
        "BELAY_SOURCES": json.dumps([{"url": url}]),
        "BELAY_GIT__PROTOCOLS": '["file"]',
    }
    environment = {**os.environ, **variables}
    with subprocess.Popen(command("sync"), env=environment, stdout=subprocess.DEVNULL) as process:
        _, status, usage = os.wait4(process.pid, 0)
    assert status == 0
    what = f"peak memory of `belay sync` of {DOCUMENTS} documents for the first time"
    return Figure(what, f"{usage.ru_maxrss / 1024:.0f} MB", "one process")


def _write(folder: Path, docs: Path) -> None:
    """Documents of sections of sentences, each in an order of its own, in twenty folders."""
    text = "\n".join(path.read_text(encoding="utf-8") for path in sorted(docs.rglob("*.md")))
    sentences = [line.strip() for line in text.splitlines() if len(line.split()) > _SENTENCES]
    for number in range(DOCUMENTS):
        path = folder / f"team-{number % 20}" / f"runbook-{number}.md"
        path.parent.mkdir(parents=True, exist_ok=True)
        parts = [f"# Runbook {number}"]
        for section in range(_SECTIONS):
            start, step = number * 37 + section * 11, 1 + number % 13
            chosen = (sentences[(start + step * n) % len(sentences)] for n in range(_SENTENCES))
            body = " ".join(chosen)
            parts.append(f"## Part {section} of {number}\n\n{body}")
        path.write_text("\n\n".join(parts) + "\n", encoding="utf-8")
    _git(folder, "init", "-q", "-b", "main")
    _commit(folder)


def _change(folder: Path, run: int) -> None:
    path = folder / "team-0" / "runbook-0.md"
    path.write_text(f"# Runbook 0\n\nThe change number {run} of this file.\n", encoding="utf-8")
    _commit(folder)


def _commit(folder: Path) -> None:
    _git(folder, "add", "-A")
    who = ("-c", "user.name=bench", "-c", "user.email=bench@example.org")
    _git(folder, *who, "commit", "-q", "-m", "change")


def _git(folder: Path, *words: str) -> None:
    subprocess.run([_PROGRAM, *words], cwd=folder, check=True, capture_output=True)
