"""Runs generate and verify on given evidence, as a reader of the answer would judge them."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime

from langgraph.runtime import Runtime
from node_run import NoEmbedder

from graph.errors import StoreError
from graph.lexicon import Lexicon
from graph.model import (
    LANGUAGES,
    Answer,
    Document,
    Grade,
    Passage,
    QueryType,
    Question,
    Ranked,
    Scope,
    Scores,
    SourceType,
    Verdict,
)
from graph.nodes.generate import generate
from graph.nodes.verify import verify
from graph.policy import Limits, Policy
from graph.ports import Candidate, ChatModel, Ports, Retriever, Search
from graph.profile import Profile
from graph.state import Context, Draft, Stage, State, SubQuestion, Token, TypeDecision
from graph.text import content_words, passage_language, question_language
from graph.view import QuestionView, Word

NOW = datetime(2026, 3, 2, 3, 0, tzinfo=UTC)


@dataclass
class Shelf(Retriever):
    """Knows whole documents and nothing else. `broken` fails as an unreadable index does."""

    documents: dict[str, Sequence[Passage]] = field(default_factory=dict)
    broken: bool = False

    async def profile(self) -> Profile:
        raise AssertionError("generation looks nothing up")

    async def search(self, search: Search, scope: Scope) -> Sequence[Candidate]:
        raise AssertionError("generation looks nothing up")

    async def mentioned(self, terms: Sequence[str], scope: Scope) -> frozenset[str]:
        raise AssertionError("generation looks nothing up")

    async def document(self, passage: Passage, scope: Scope) -> Sequence[Passage]:
        if self.broken:
            raise StoreError("the disk is gone")
        return self.documents.get(passage.document, (passage,))

    async def readable(self, documents: Collection[Document], scope: Scope) -> frozenset[Document]:
        return frozenset(documents)


def passage(text: str, document: str = "runbook.md", title: str = "", **more: object) -> Passage:
    values: dict[str, object] = {
        "id": f"{document}#{len(text)}",
        "source": "docs",
        "source_type": SourceType.FOLDER,
        "document": document,
        "title": title or document.rsplit("/", 1)[-1].removesuffix(".md"),
        "heading": (),
        "text": text,
        "uri": f"file:///docs/{document}",
        "language": passage_language(text),
    }
    return Passage(**(values | more))  # type: ignore[arg-type]  # a builder over all fields


def web_result(text: str, url: str = "https://forum.example/t/1") -> Passage:
    return passage(text, url, "A forum", source_type=SourceType.WEB, uri=url)


def ranked(*passages: Passage, relevance: float = 0.9) -> tuple[Ranked, ...]:
    """Best first; each next one a little less relevant."""
    return tuple(
        Ranked(item, Scores(0.6, 2.0, 2.0 - step * 0.1, relevance - step * 0.02, 0.8))
        for step, item in enumerate(passages)
    )


def view_of(text: str) -> QuestionView:
    words = tuple(
        Word(word, stem, 1.0, True, dict.fromkeys(LANGUAGES, ((stem, 1.0),)))
        for word, stem in content_words(text)
    )
    return QuestionView(text, question_language(text), None, words)


def state_of(
    question: str,
    evidence: Sequence[Ranked],
    *,
    verdict: Verdict = Verdict.RELEVANT,
    query_type: QueryType = QueryType.FACTUAL,
    parts: tuple[SubQuestion, ...] = (),
    critical: bool = False,
) -> State:
    return {
        "question": Question(question, "q1"),
        "language": question_language(question),
        "resolved": question,
        "decision": TypeDecision(query_type, "local"),
        "view": view_of(question),
        "ranked": tuple(evidence),
        "grade": Grade(verdict, "for the test", relevance=0.9, critical=critical),
        "parts": parts,
    }


def part(text: str, *evidence: Ranked, verdict: Verdict = Verdict.RELEVANT) -> SubQuestion:
    return SubQuestion(text, None, Grade(verdict, "for the test"), evidence)


@dataclass
class Run:
    """What came out: the draft and answer, and everything that was shown on the way."""

    state: State
    events: list[Stage | Token]

    @property
    def answer(self) -> Answer:
        return self.state["answer"]

    @property
    def draft(self) -> Draft:
        return self.state["draft"]

    @property
    def streamed(self) -> str:
        return "".join(event.text for event in self.events if isinstance(event, Token))


async def answered(
    state: State,
    *,
    model: ChatModel | None = None,
    retriever: Retriever | None = None,
    policy: Policy | None = None,
    limits: Limits | None = None,
    seconds: float = 60.0,
    now: datetime = NOW,
) -> Run:
    """Generates and verifies. `seconds` is what is left of the question's deadline."""
    embedder = NoEmbedder()
    context = Context(
        ports=Ports(retriever or Shelf(), embedder, embedder, model),
        lexicon=Lexicon(embedder),
        policy=policy or Policy(),
        limits=limits or Limits(),
        deadline=asyncio.get_running_loop().time() + seconds,
        now=lambda: now,
    )
    events: list[Stage | Token] = []
    runtime = Runtime(context=context, stream_writer=events.append)
    drafted: State = await generate(state, runtime) if "draft" not in state else {}
    merged: State = {**state, **drafted}
    verified = await verify(merged, runtime)
    calls = (*drafted.get("calls", ()), *verified.get("calls", ()))
    return Run({**merged, **verified, "calls": calls}, events)


async def verified(
    text: str, *passages: Passage, question: str = "what now?", model: ChatModel | None = None
) -> Run:
    """Verifies a draft that a model wrote over `passages`."""
    evidence = ranked(*passages)
    state = state_of(question, evidence)
    state["draft"] = Draft(text, evidence, "model")
    return await answered(state, model=model)
