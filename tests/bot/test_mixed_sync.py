"""A folder, a vault, uploads and notes in one index: whatever happened, it is that of the end."""

from __future__ import annotations

import asyncio
import subprocess
import tempfile
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st
from ingest_kit import CountingEmbedder

from adapters.memory.embedder import HashEmbedder
from adapters.memory.index import MemoryIndex
from bot.app import Library
from bot.errors import SourceError
from bot.ingest.options import SyncOptions
from bot.ingest.sync import sync
from bot.kept import NAMES, KeptDocuments
from bot.library import Shelf, kept_shelf, source_of
from bot.settings import Settings
from bot.source_settings import GitSettings, Remote
from graph.errors import EmbedderError
from graph.model import SourceType
from graph.ports import Matrix

PATHS = ("a.md", "ops/b.md", "c.md")
BODIES = ("# One\n\nDrain the node.\n", "# Two\n\nRestart it.\n", "# Three\n\nCall Ann.\n")
UPLOAD, MANUAL = SourceType.UPLOAD, SourceType.MANUAL
KINDS = st.sampled_from((UPLOAD, MANUAL))
BODY = st.sampled_from(BODIES)

Step = tuple[object, ...]
STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("write"), st.sampled_from(PATHS), BODY),
        st.tuples(st.just("remove"), st.sampled_from(PATHS)),
        st.tuples(st.just("push"), st.sampled_from(PATHS), BODY),
        st.tuples(st.just("hand in"), KINDS, BODY, st.booleans()),
        st.tuples(st.just("publish"), st.integers(0, 3)),
        st.tuples(st.just("replace"), st.integers(0, 3), BODY),
        st.tuples(st.just("delete"), st.integers(0, 3)),
        st.tuples(st.just("sync"), st.sampled_from((0, 1, 2, 100))),
    ),
    min_size=2,
    max_size=14,
)


class Failing(CountingEmbedder):
    """Goes away after `left` texts, in the middle of whatever is done then."""

    left = 100

    async def embed_passages(self, texts: Sequence[str]) -> Matrix:
        self.left -= len(texts)
        if self.left < 0:
            raise EmbedderError("away")
        return await super().embed_passages(texts)


class Team:
    def __init__(self, root: Path) -> None:
        self.docs, self.up, self.root = root / "docs", root / "up", root
        self.home = root / "home"
        self.docs.mkdir()
        (self.docs / "first.md").write_text("# First\n\nAlways there.\n")
        self._git("init", "-q", "-b", "main", str(self.up), cwd=root)
        self.push("README.md", "# Vault\n\nAlways there, too.\n")
        self.kept = KeptDocuments(self.home)
        self.embedder = Failing()
        self.index = MemoryIndex()

    def library(self, index: MemoryIndex) -> Library:
        chosen = Settings(home=self.home, git=GitSettings(protocols=("file",)))
        return Library(chosen, index, self.embedder, HashEmbedder())

    def push(self, path: str, body: str) -> None:
        (self.up / path).parent.mkdir(exist_ok=True)
        (self.up / path).write_text(body)
        self._git("add", "-A", cwd=self.up)
        who = ("-c", "user.name=a", "-c", "user.email=a@example.org")
        self._git(*who, "commit", "-q", "--allow-empty", "-m", "change", cwd=self.up)

    def take(self, step: Step) -> None:
        match step:
            case ("write", str(path), str(body)):
                (self.docs / path).parent.mkdir(exist_ok=True)
                (self.docs / path).write_text(body)
            case ("remove", str(path)):
                (self.docs / path).unlink(missing_ok=True)
            case ("push", str(path), str(body)):
                self.push(path, body)
            case ("hand in", SourceType() as kind, str(body), bool(draft)):
                self.kept.add(kind, "note.md", body.encode(), "ann", draft=draft)
            case (str(what), int(number), *rest) if what != "sync":
                self._change(what, number, rest)

    def _change(self, what: str, number: int, rest: Sequence[object]) -> None:
        known = self.kept.all()
        if number >= len(known):
            return
        one = known[number]
        if what == "publish":
            self.kept.put(replace(one, draft=False))
        elif what == "replace":
            data = str(rest[0]).encode()
            self.kept.put(replace(one, content=self.kept.keep(data), size=len(data)))
            self.kept.sweep(one.content)
        else:
            self.kept.delete(one)

    async def sync(self, index: MemoryIndex, left: int = 10_000) -> None:
        """One run over everything; `left` texts until it is cut off."""
        self.embedder.left = left
        library = self.library(index)
        vault = Remote(self.up.as_uri())
        shelves = [
            Shelf("docs", self.docs),
            Shelf("safe", self.root / "copy", kind=SourceType.VAULT, remote=vault),
        ]
        for kind in NAMES:
            if any(not kept.draft for kept in self.kept.all(kind)):
                shelves.append(kept_shelf(self.home, kind))
            else:
                await index.remove_source(NAMES[kind])
        for shelf in shelves:
            source, lock = source_of(library, shelf), self.home / "lock"
            options = SyncOptions(allow_loss=True, gather=1, batch=1, parallel=1)
            await sync(source, index, self.embedder, lock=lock, options=options)

    def _git(self, *words: str, cwd: Path) -> None:
        subprocess.run(["git", *words], cwd=cwd, check=True, capture_output=True)


async def content(index: MemoryIndex) -> set[tuple[str, str, str, str]]:
    """Every text with its place and its readers."""
    found = set()
    for record in await index.sources():
        for path in await index.records(record.name):
            for stored in await index.stored(record.name, path):
                item = stored.chunk
                kind = item.access.source_type
                found.add((record.name, path, kind, item.passage.text))
    return found


async def findable(index: MemoryIndex) -> set[tuple[str, str]]:
    return {(passage.source_type, passage.text) async for passage, _, _ in index.chunks()}


async def play(steps: Sequence[Step], root: Path) -> None:
    team = Team(root)
    team.home.mkdir()
    for step in steps:
        team.take(step)
        if step[0] == "sync":
            try:
                await team.sync(team.index, int(str(step[1])))
            except (EmbedderError, SourceError):
                assert step != ("sync", 100)
    await team.sync(team.index)
    fresh = MemoryIndex()
    await team.sync(fresh)
    assert await content(team.index) == await content(fresh)
    assert await findable(team.index) == await findable(fresh)


@settings(max_examples=15, deadline=None)
@given(STEPS)
def test_in_27_any_history_of_all_sources_ends_in_the_index_of_its_end(
    steps: Sequence[Step],
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(play(steps, Path(folder)))


async def test_a_source_takes_only_its_own_along(tmp_path: Path) -> None:
    """The same text stands in all four: each of them can go, and the others still answer."""
    team = Team(tmp_path)
    team.home.mkdir()
    (team.docs / "same.md").write_text(BODIES[0])
    team.push("same.md", BODIES[0])
    for kind in (UPLOAD, MANUAL):
        team.kept.add(kind, "same.md", BODIES[0].encode(), "ann")
    await team.sync(team.index)
    left = {"docs", "safe", "uploads", "notes"}
    for name in ("safe", "docs", "notes"):
        await team.index.remove_source(name)
        left.remove(name)
        places = {source for source, _, _, text in await content(team.index) if "Drain" in text}
        assert places == left
        shown = [passage async for passage, _, _ in team.index.chunks()]
        assert {item.source for item in shown if "Drain" in item.text} == left
