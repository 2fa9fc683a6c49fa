"""What a reading policy lets out: whatever is stored and asked, nothing outside of it."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from adapters.memory.index import MemoryIndex
from bot.ingest.folder_rules import narrowed
from bot.kept import KeptDocuments
from bot.narrowed import Narrowed
from bot.ports import Chunk, FileRecord, FileState
from bot.search import document_id, documents_of
from graph.model import EVERYBODY, LEVELS, Access, Passage, Scope, SourceType, Status, levels_up_to
from graph.ports import Search
from graph.terms import Fields, TermCounts
from graph.text import tokens

LABELS = st.frozensets(st.sampled_from((EVERYBODY, "swift", "sre")), min_size=1)
ACCESS = st.builds(
    Access,
    tenant=st.sampled_from(("default", "other")),
    audience=st.sampled_from(LEVELS),
    labels=LABELS,
    status=st.sampled_from(Status),
    effective_until=st.sampled_from(
        (None, datetime(2020, 1, 1, tzinfo=UTC), datetime(2999, 1, 1, tzinfo=UTC))
    ),
    source_type=st.sampled_from((SourceType.FOLDER, SourceType.UPLOAD, SourceType.MANUAL)),
    place=st.sampled_from(("", "slack:C1")),
)
SCOPES = st.builds(
    Scope,
    levels=st.sampled_from(LEVELS).map(levels_up_to),
    labels=LABELS,
    source_types=st.sampled_from((None, frozenset({SourceType.UPLOAD}))),
)
SOURCES = ("runbooks", "team/hr", "notes")
TEXTS = ("pool alpha beta", "pool gamma", "pool delta")
STORED = st.lists(
    st.tuples(st.sampled_from(SOURCES), st.sampled_from(TEXTS), ACCESS), min_size=1, max_size=8
)


def chunk(source: str, path: str, text: str, access: Access) -> Chunk:
    passage = Passage(
        f"{source}/{path}", source, access.source_type, path, path, (), text, path,
        status=access.status,
    )  # fmt: skip
    fields = Fields(tuple(tokens(text)), (), (), ())
    vector = np.array([1.0, 0.0], dtype=np.float32)
    return Chunk(passage, access, fields, TermCounts.of(fields), vector, text)


async def stored(items: list[tuple[str, str, Access]]) -> tuple[MemoryIndex, dict[str, Access]]:
    index, rights = MemoryIndex(), {}
    await index.begin("test", 2, "1")
    for at, (source, text, access) in enumerate(items):
        one = chunk(source, f"{at}.md", text, access)
        await index.replace(source, FileRecord(f"{at}.md", "", FileState.INDEXED), [one])
        rights[f"{source}/{at}.md"] = access
    return index, rights


@settings(max_examples=60, deadline=None)
@given(items=STORED, scope=SCOPES, sources=st.frozensets(st.sampled_from(SOURCES)))
def test_nothing_outside_the_policy_is_found_or_read(
    items: list[tuple[str, str, Access]], scope: Scope, sources: frozenset[str]
) -> None:
    async def run() -> None:
        index, rights = await stored(items)
        narrow = Narrowed(index, sources)
        search = Search(tuple(tokens("pool")), np.array([1.0, 0.0], dtype=np.float32))
        shown = [item.passage for item in await narrow.search(search, scope)]
        open_ = {
            name
            for name, access in rights.items()
            if scope.admits(access) and any(name.startswith(f"{source}/") for source in sources)
        }
        assert {document_id((item.source, item.document)) for item in shown} <= open_
        texts = {items[int(name.rpartition("/")[2].removesuffix(".md"))][1] for name in open_}
        assert {item.text for item in shown} == texts  # and what is inside of it is all found
        for name in rights:
            read = await narrow.readable(documents_of(name), scope)
            assert bool(read) == (name in open_)

    asyncio.run(run())


async def test_a_closed_source_that_is_nearer_hides_no_open_document() -> None:
    """Hundreds of closed passages fit better than the only open one."""
    closed = [("hr", f"pool pool pool number {n}", Access()) for n in range(900)]
    index, _ = await stored([*closed, ("notes", "pool and much else besides", Access())])
    search = Search(tuple(tokens("pool")), np.array([1.0, 0.0], dtype=np.float32), 2, 2)
    found = await Narrowed(index, {"notes"}).search(search, Scope())
    assert [item.passage.source for item in found] == ["notes"]


@settings(max_examples=100, deadline=None)
@given(own=ACCESS, bound=ACCESS, scope=SCOPES)
def test_a_bound_is_never_widened_by_what_a_document_says(
    own: Access, bound: Access, scope: Scope
) -> None:
    both = narrowed(own, bound, LEVELS)
    if scope.admits(both):
        assert both.audience in scope.levels
        assert bound.audience in scope.levels
        assert bound.tenant == scope.tenant
        assert bound.place in ("", scope.place)
        assert bound.effective_until is None or scope.now < bound.effective_until
        assert EVERYBODY in (scope.labels | bound.labels) or scope.labels & bound.labels


def test_names_that_strangers_give_stay_inside_the_folder(tmp_path: Path) -> None:
    store = KeptDocuments(tmp_path)
    for name in ("../../etc/passwd", "..", "a/b\\c.md", "\x00\n.md", "x" * 400 + ".md", ""):
        kept = store.add(SourceType.UPLOAD, name, name.encode() + b"!", "telegram:42")
        assert "/" not in kept.name
        assert kept.name not in ("", ".", "..")
        assert len(kept.name) <= 120
        assert store.data(store.get(kept.id)) == name.encode() + b"!"
    assert {path.name for path in tmp_path.iterdir()} == {"uploads"}
