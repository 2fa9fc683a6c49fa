"""A repository over its history: whatever happened on the way, the index is that of its end."""

from __future__ import annotations

import asyncio
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st
from ingest_kit import CountingEmbedder

from adapters.documents import create as converters
from adapters.git import create
from adapters.memory.index import MemoryIndex
from bot.errors import SourceError
from bot.ingest.options import SyncOptions
from bot.ingest.sync import sync
from bot.ports import KnowledgeIndex
from bot.source_settings import GitLimits, Remote
from graph.errors import EmbedderError
from graph.ports import Matrix

PATHS = ("a.md", "b.md", "ops/c.md", "ops/d e.md", "ж.md")
BODIES = ("# One\n\nDrain the node.\n", "# Two\n\nRestart the pool.\n", "# Three\n\nCall Ann.\n")
LIMITS = GitLimits(protocols=("file",))

Step = tuple[str, ...]
STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("write"), st.sampled_from(PATHS), st.sampled_from(BODIES)),
        st.tuples(st.just("delete"), st.sampled_from(PATHS)),
        st.tuples(st.just("rename"), st.sampled_from(PATHS), st.sampled_from(PATHS)),
        st.just(("rewrite history",)),
        st.just(("sync",)),
        st.just(("sync that breaks",)),
        st.just(("sync without server",)),
    ),
    min_size=1,
    max_size=12,
)


class Failing(CountingEmbedder):
    """Its server goes away after the first text, when a test says so."""

    fails = False

    async def embed_passages(self, texts: Sequence[str]) -> Matrix:
        if self.fails and self.texts:
            raise EmbedderError("away")
        return await super().embed_passages(texts)


class Repository:
    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._git("init", "-q", "-b", "main", str(folder))
        (folder / "README.md").write_text("# Runbooks\n\nWhat to do at night.\n")
        self.commit()

    def take(self, step: Step) -> None:
        place = self.folder / step[1] if len(step) > 1 else self.folder
        match step[0]:
            case "write":
                place.parent.mkdir(exist_ok=True)
                place.write_text(step[2])
            case "delete":
                place.unlink(missing_ok=True)
            case "rename" if place.exists():
                (self.folder / step[2]).parent.mkdir(exist_ok=True)
                place.replace(self.folder / step[2])
            case "rewrite history":
                self._git("checkout", "-q", "--orphan", "other")
                self.commit()
                self._git("branch", "-q", "-M", "main")
            case _:
                return
        self.commit()

    def commit(self) -> None:
        self._git("add", "-A")
        self._git("commit", "-q", "--allow-empty", "-m", "change")

    def _git(self, *words: str) -> None:
        who = ["-c", "user.name=a", "-c", "user.email=a@example.org"]
        cwd = self.folder if self.folder.exists() else self.folder.parent
        subprocess.run(["git", *who, *words], cwd=cwd, check=True, capture_output=True)


async def run(remote: str, home: Path, index: KnowledgeIndex, embedder: CountingEmbedder) -> None:
    source = create("runbooks", Remote(remote), home / "copy", limits=LIMITS)
    options = SyncOptions(converters=converters(), allow_loss=True)
    await sync(source, index, embedder, lock=home / "lock", options=options)


async def content(index: KnowledgeIndex) -> dict[str, set[str]]:
    """Each text with the documents that it stands in."""
    found: dict[str, set[str]] = {}
    for path in await index.records("runbooks"):
        for stored in await index.stored("runbooks", path):
            found.setdefault(stored.chunk.passage.text, set()).add(path)
    return found


async def findable(index: KnowledgeIndex) -> set[str]:
    return {passage.text async for passage, _, _ in index.chunks()}


async def play(steps: Sequence[Step], folder: Path) -> None:
    repository, index, embedder = Repository(folder / "up"), MemoryIndex(), Failing()
    home, address = folder / "home", (folder / "up").as_uri()
    home.mkdir()
    for step in steps:
        repository.take(step)
        if not step[0].startswith("sync"):
            continue
        embedder.fails = step[0] == "sync that breaks"
        try:
            there = address if step[0] != "sync without server" else f"{address}-gone"
            await run(there, home, index, embedder)
        except (EmbedderError, SourceError):
            assert step != ("sync",)
    embedder.fails = False
    await run(address, home, index, embedder)
    (folder / "fresh").mkdir()
    fresh = MemoryIndex()
    await run(address, folder / "fresh", fresh, CountingEmbedder())
    assert await content(index) == await content(fresh)
    assert await findable(index) == await findable(fresh)


@settings(max_examples=12, deadline=None)
@given(STEPS)
def test_any_history_ends_in_the_index_of_its_final_state(steps: Sequence[Step]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(play(steps, Path(folder)))
