"""Runs one node of the graph by itself, on in-memory ports."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

import numpy as np
from langgraph.runtime import Runtime

from adapters.memory.index import MemoryIndex
from graph.lexicon import Lexicon
from graph.model import Passage, Question, Ranked, Scores, SourceType, Turn
from graph.policy import Limits, Policy
from graph.ports import ChatModel, Embedder, Matrix, Ports, WebSearch
from graph.state import Context, Stage, State

Node = Callable[[State, Runtime[Context]], Awaitable[State]]


class NoEmbedder(Embedder):
    """Stands where an embedder is required but the node must not need it."""

    @property
    def name(self) -> str:
        return "none"

    @property
    def dimension(self) -> int:
        return 1

    async def embed_questions(self, texts: Sequence[str]) -> Matrix:
        raise AssertionError("this node embeds nothing")

    async def embed_passages(self, texts: Sequence[str]) -> Matrix:
        return np.zeros((len(texts), 1), np.float32)


@dataclass
class Ran:
    state: State
    stages: list[Stage]


async def run(
    node: Node,
    state: State,
    *,
    model: ChatModel | None = None,
    web: WebSearch | None = None,
    policy: Policy | None = None,
    limits: Limits | None = None,
) -> Ran:
    """The node's update of the state, and the stages it announced."""
    embedder = NoEmbedder()
    limits = limits or Limits()
    context = Context(
        ports=Ports(MemoryIndex(), embedder, embedder, model, web),
        lexicon=Lexicon(embedder),
        policy=policy or Policy(),
        limits=limits,
        deadline=asyncio.get_running_loop().time() + limits.deadline,
    )
    stages: list[Stage] = []
    update = await node(state, Runtime(context=context, stream_writer=stages.append))
    return Ran(update, stages)


def question(text: str, *turns: str, web: bool = True) -> Question:
    """A question after a chat; each turn is written "who: text"."""
    history = tuple(Turn(*turn.split(": ", 1)) for turn in turns)
    return Question(text, "q1", history=history, web_allowed=web)


def found(document: str, title: str = "", owner: str = "", relevance: float = 0.5) -> Ranked:
    """A scored passage of a document in the folder "docs"."""
    passage = Passage(
        id=f"{document}#{relevance}",
        source="docs",
        source_type=SourceType.FOLDER,
        document=document,
        title=title or document,
        heading=(),
        text="text",
        uri=f"file:///docs/{document}",
        owner=owner,
    )
    return Ranked(passage, Scores(0.5, 1.0, 0.7, relevance, 0.5))
