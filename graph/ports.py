"""What the machine needs from outside: Protocols of one to four methods.

Every port has an in-memory twin in adapters/memory.py and one contract suite in tests/contract/.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from graph.model import Document, Language, Passage, Scope
from graph.profile import Profile
from graph.terms import TermCounts

Vector = npt.NDArray[np.float32]  # (dimension,)
Matrix = npt.NDArray[np.float32]  # (texts, dimension), rows of unit length


class Embedder(Protocol):
    """Turns texts into unit vectors. Questions and passages may be treated differently."""

    @property
    def name(self) -> str:
        """Identifies the vector space: an index built under another name is refused."""

    @property
    def dimension(self) -> int: ...

    async def embed_questions(self, texts: Sequence[str]) -> Matrix:
        """One row a text, in order. Raises EmbedderError."""

    async def embed_passages(self, texts: Sequence[str]) -> Matrix:
        """One row a text, in order. Raises EmbedderError."""


@dataclass(frozen=True, slots=True)
class Search:
    """Where to look for candidates. A missing vector or no terms switches that half off."""

    terms: tuple[str, ...]  # analyzer tokens, most telling first
    vector: Vector | None  # of the question, raw (not centred)
    dense_limit: int = 50  # for each chunk language
    lexical_limit: int = 100


@dataclass(frozen=True, slots=True)
class Candidate:
    """A stored chunk as a store returns it: unscored, with all that scoring needs."""

    passage: Passage
    vector: Vector  # raw, unit length
    terms: TermCounts


class Retriever(Protocol):
    """Finds candidates inside a scope; graph/relevance.py scores them, for every store."""

    async def profile(self) -> Profile:
        """Calibration and statistics of the index. Raises StoreError, IndexMismatch."""

    async def search(self, search: Search, scope: Scope) -> Sequence[Candidate]:
        """The union of the dense and lexical candidates, in no order. Raises StoreError.

        Dense: the `dense_limit` nearest by cosine for each chunk language. Lexical: the
        `lexical_limit` best of those that hold at least one term.
        """

    async def mentioned(self, terms: Sequence[str], scope: Scope) -> frozenset[str]:
        """Those of `terms` that occur in at least one chunk of the scope. Raises StoreError."""

    async def document(self, passage: Passage, scope: Scope) -> Sequence[Passage]:
        """The document that `passage` is from: its chunks in reading order. Raises StoreError."""

    async def readable(self, documents: Collection[Document], scope: Scope) -> frozenset[Document]:
        """Those of `documents` that are stored and that the scope admits. Raises StoreError."""


@dataclass(frozen=True, slots=True)
class Prompt:
    """One request to a chat model. `purpose` names the node, for logs and `belay why`."""

    purpose: str
    system: str
    user: str
    max_tokens: int = 1024
    schema: Mapping[str, Any] | None = None  # JSON schema of the reply; None for plain text


@dataclass(frozen=True, slots=True)
class Completion:
    """A finished reply. Token counts are 0 when the server does not report them."""

    text: str
    data: Mapping[str, Any] | None = None  # the parsed reply when a schema was asked for
    prompt_tokens: int = 0
    completion_tokens: int = 0
    cut: bool = False  # a plain text that ends where the prompt's `max_tokens` did


class ChatModel(Protocol):
    """A chat model. Both methods raise a ModelError; reasoning blocks never reach the caller."""

    @property
    def name(self) -> str: ...

    async def complete(self, prompt: Prompt) -> Completion:
        """The whole reply. With a schema `data` is set, or ReplyUnusable is raised."""

    def stream(self, prompt: Prompt) -> AsyncIterator[str | Completion]:
        """Pieces of text as they come, and the Completion as the last item."""


@dataclass(frozen=True, slots=True)
class WebResult:
    title: str
    url: str
    snippet: str


class WebSearch(Protocol):
    async def search(self, query: str, *, language: Language, limit: int) -> Sequence[WebResult]:
        """Results, best first; empty when there are none. Raises WebUnavailable when it failed."""


@dataclass(frozen=True, slots=True)
class Ports:
    """What a machine is built from. `words` is the builtin embedder: glossary and query types;
    `sessions` finds what was said before, beside the documents of `retriever`."""

    retriever: Retriever
    embedder: Embedder
    words: Embedder
    model: ChatModel | None = None
    web: WebSearch | None = None
    sessions: Retriever | None = None
