"""Chunks for the tests of a knowledge index: real tokens, and a vector that the text decides."""

from __future__ import annotations

import os
from hashlib import sha256
from pathlib import Path
from uuid import NAMESPACE_URL, uuid4, uuid5

import numpy as np
import pytest

from adapters.memory.index import MemoryIndex
from adapters.sqlite import SqliteIndex
from adapters.weaviate import WeaviateIndex
from adapters.weaviate.options import Layout, Waits
from bot.ports import Chunk, FileRecord, FileState, KnowledgeIndex
from graph.model import Access, Language, Passage, Scope
from graph.ports import Search, Vector
from graph.terms import Fields, TermCounts
from graph.text import passage_language, tokens

DIMENSION = 16
EMBEDDER = ("toy-embedder", DIMENSION, "chunker-1")


def vector_of(text: str, dimension: int = DIMENSION) -> Vector:
    seed = int.from_bytes(sha256(text.encode()).digest()[:8], "little")
    values = np.random.default_rng(seed).standard_normal(dimension)
    return (values / np.linalg.norm(values)).astype(np.float32)


def chunk_of(
    text: str,
    path: str = "orders/db.md",
    *,
    source: str = "runbooks",
    ordinal: int = 0,
    heading: str = "",
    access: Access | None = None,
    language: Language | None = None,
    vector: Vector | None = None,
) -> Chunk:
    access = access or Access()
    folders, _, name = path.rpartition("/")
    passage = Passage(
        id=str(uuid5(NAMESPACE_URL, f"{source}/{path}#{ordinal}")),
        source=source,
        source_type=access.source_type,
        document=path,
        title=name,
        heading=(heading,) if heading else (),
        text=text,
        uri=f"file:///{source}/{path}#L{ordinal + 1}",
        lines=(ordinal + 1, ordinal + 1),
        language=language or passage_language(text),
        effective_from=access.effective_from,
        effective_until=access.effective_until,
        status=access.status,
    )
    fields = Fields(
        body=tuple(tokens(text)),
        heading=tuple(tokens(heading)),
        name=tuple(tokens(name.removesuffix(".md"))),
        folders=tuple(tokens(folders)),
    )
    return Chunk(
        passage=passage,
        access=access,
        fields=fields,
        terms=TermCounts.of(fields),
        vector=vector_of(text) if vector is None else vector,
        content_hash=sha256(" ".join(text.split()).encode()).hexdigest(),
    )


def record_of(path: str, fingerprint: str = "f1", *, chunks: int = 0) -> FileRecord:
    return FileRecord(path, fingerprint, FileState.INDEXED, chunks=chunks, title=path)


async def put(
    index: KnowledgeIndex,
    path: str,
    *texts: str,
    source: str = "runbooks",
    access: Access | None = None,
) -> int:
    """The file `path` now holds `texts`, a chunk each."""
    chunks = [
        chunk_of(text, path, source=source, ordinal=ordinal, access=access)
        for ordinal, text in enumerate(texts)
    ]
    return await index.replace(source, record_of(path, chunks=len(chunks)), chunks)


async def by_words(index: KnowledgeIndex, question: str, scope: Scope | None = None) -> set[str]:
    """Texts that keyword search alone finds."""
    search = Search(tuple(tokens(question)), None)
    return {hit.passage.text for hit in await index.search(search, scope or Scope())}


async def by_meaning(index: KnowledgeIndex, question: str, scope: Scope | None = None) -> set[str]:
    """Texts that vectors alone find."""
    search = Search((), vector_of(question))
    return {hit.passage.text for hit in await index.search(search, scope or Scope())}


WEAVIATE_URL = os.environ.get("BELAY_WEAVIATE_URL", "")  # tests have no settings of the machine
WEAVIATE_GRPC = os.environ.get("BELAY_WEAVIATE_GRPC", "")
WEAVIATE_KEY = os.environ.get("BELAY_WEAVIATE_KEY", "")
_NO_SERVER = (
    "needs a Weaviate server: start one, then "
    "BELAY_WEAVIATE_URL=http://127.0.0.1:8080 pytest tests/contract -k weaviate"
)
NEEDS_WEAVIATE = pytest.mark.skipif(not WEAVIATE_URL, reason=_NO_SERVER)
SERVED = (
    pytest.param("weaviate", marks=NEEDS_WEAVIATE),
    pytest.param("weaviate-tenant", marks=NEEDS_WEAVIATE),
)
KINDS = ("memory", "sqlite", *SERVED)


async def open_index(kind: str, folder: Path) -> KnowledgeIndex:
    """A new index; `close_index` ends it."""
    index: KnowledgeIndex
    if kind == "memory":
        index = MemoryIndex()
    elif kind == "sqlite":
        index = await SqliteIndex.open(folder / "index.db")
    else:
        index = await open_weaviate(*place_of(kind))
    await index.begin(*EMBEDDER)
    return index


def place_of(kind: str) -> tuple[str, str]:
    """A new shelf of a Weaviate server, or a new tenant of a shelf that tests share."""
    name = uuid4().hex
    return ("SuiteShared", name) if kind == "weaviate-tenant" else (f"Suite{name}", "")


async def open_weaviate(shelf: str, tenant: str = "", waits: Waits | None = None) -> WeaviateIndex:
    """The index `shelf` of the server that the suite was started with."""
    return await WeaviateIndex.open(
        WEAVIATE_URL,
        grpc=WEAVIATE_GRPC,
        key=WEAVIATE_KEY,
        shelf=shelf,
        layout=Layout(prefix="BelayTests", tenant=tenant),
        waits=waits,
    )


async def close_index(index: KnowledgeIndex) -> None:
    if isinstance(index, WeaviateIndex):
        await index.drop()
    await index.close()
