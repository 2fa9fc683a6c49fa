"""Any history of changes ends in the same index as its last state alone."""

from __future__ import annotations

import asyncio
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from contract.index_chunks import (
    KINDS,
    chunk_of,
    close_index,
    open_index,
    record_of,
    vector_of,
)
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.ports import KnowledgeIndex
from graph.model import Access, Scope
from graph.ports import Search
from graph.text import tokens

TEXTS = st.sampled_from(["drain node", "call vendor", "узел вывести", "rotate =key", "drain узел"])
ACCESS = st.sampled_from(
    [Access(), Access(labels=frozenset({"sec"})), Access(audience="senior", tenant="acme")]
)
FILES = st.sampled_from([(source, path) for source in ("s", "t") for path in ("a", "b", "c")])
STEP = st.one_of(
    st.tuples(st.just("replace"), FILES, st.lists(st.tuples(TEXTS, ACCESS), max_size=4)),
    st.tuples(st.just("remove"), FILES, st.none()),
    st.tuples(st.just("remove_source"), FILES, st.none()),
)
SCOPES = [
    Scope(),
    Scope(labels=frozenset({"sec"})),
    Scope(labels=frozenset({"ops"})),
    Scope(tenant="acme", levels=frozenset({"staff", "senior"})),
]


async def play(index: KnowledgeIndex, steps: list[tuple]) -> dict[tuple[str, str], list]:
    """Takes the steps; returns what each file holds at the end."""
    state: dict[tuple[str, str], list] = {}
    for verb, (source, path), held in steps:
        if verb == "replace":
            state[source, path] = held
            chunks = [
                chunk_of(text, path, source=source, ordinal=ordinal, access=access)
                for ordinal, (text, access) in enumerate(held)
            ]
            await index.replace(source, record_of(path), chunks)
        elif verb == "remove":
            state.pop((source, path), None)
            await index.remove(source, [path])
        else:
            state = {place: held for place, held in state.items() if place[0] != source}
            await index.remove_source(source)
    return state


async def everything(index: KnowledgeIndex, scope: Scope) -> set[tuple]:
    """Each text with all of its places, as both halves of a search give them."""
    halves = []
    words = tuple(tokens("drain node call vendor узел вывести rotate key"))
    for search in (Search(words, None), Search((), vector_of("x"))):
        halves.append(
            {
                (
                    hit.passage.text,
                    frozenset(
                        {f"{hit.passage.source}/{hit.passage.document}", *hit.passage.also_at}
                    ),
                )
                for hit in await index.search(search, scope)
            }
        )
    assert halves[0] == halves[1]
    return halves[0]


def expected(state: dict[tuple[str, str], list], scope: Scope) -> set[tuple]:
    places: dict[tuple[str, Access], set[str]] = {}
    for (source, path), held in state.items():
        for text, access in held:
            if scope.admits(access):
                places.setdefault((text, access), set()).add(f"{source}/{path}")
    return {(text, frozenset(where)) for (text, _), where in places.items()}


@pytest.mark.parametrize("kind", KINDS)
@settings(max_examples=25, deadline=None)
@given(steps=st.lists(STEP, max_size=12))
def test_any_history_ends_in_the_same_index(kind: str, steps: list[tuple]) -> None:
    """What is found depends on what the files hold now, never on how they came to it."""

    async def compare() -> None:
        with TemporaryDirectory() as folder:
            index = await open_index(kind, Path(folder))
            try:
                state = await play(index, steps)
                for scope in SCOPES:
                    assert await everything(index, scope) == expected(state, scope)
                texts = {(t, access) for held in state.values() for t, access in held}
                assert (await index.info()).chunks == len(texts)
            finally:
                await close_index(index)

    asyncio.run(compare())
