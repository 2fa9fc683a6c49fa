"""web: one search for what the documents lack. What comes back is data, labelled as web."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from langgraph.runtime import Runtime

from graph.calls import seconds_left
from graph.errors import EmbedderError, StoreError, WebUnavailable
from graph.model import Passage, Ranked, Scores, SourceType
from graph.ports import Candidate, Matrix, WebResult
from graph.relevance import MIDDLE, rank, relevance
from graph.scrub import scrub
from graph.state import Context, Stage, State, WebOutcome
from graph.terms import Fields, TermCounts
from graph.text import passage_language, spaced, tokens
from graph.view import QuestionView
from graph.web_results import clean

SOURCE = "web"
COVERAGE = 0.25  # of the question's words; a result that covers less must be relevant by itself


async def web(state: State, runtime: Runtime[Context]) -> State:
    """Sets the web outcome: found, empty, or failed when the web could not be looked at.

    Nothing is sent, and the outcome is empty without a query, when searching is not allowed or
    nothing of the question may leave.
    """
    context = runtime.context
    question = state["question"]
    query = scrub(state["resolved"], question.scope.private_names)
    allowed = context.policy.web and question.web_allowed
    if not query or not allowed or context.ports.web is None:
        return {"web": WebOutcome("empty", "")}
    runtime.stream_writer(Stage("web", query))
    try:
        async with asyncio.timeout(min(context.limits.web_timeout, seconds_left(context))):
            results = await context.ports.web.search(
                query, language=state["language"], limit=context.policy.web_results
            )
    except (TimeoutError, WebUnavailable):
        return {"web": WebOutcome("failed", query)}
    ranked = await _evidence(state["view"], clean(results, context.policy.web_results), context)
    return {"web": WebOutcome("found" if ranked else "empty", query, ranked)}


async def _evidence(
    view: QuestionView, results: Sequence[WebResult], context: Context
) -> tuple[Ranked, ...]:
    """The results worth reading, best first: scored like documents, or by their words alone when
    there is no index or no embedder to compare with."""
    if not results:
        return ()
    passages = [_passage(result) for result in results]
    try:
        profile = await context.ports.retriever.profile()
        vectors = await _embed(passages, context)
    except (StoreError, EmbedderError):
        return _by_coverage(view, passages)
    candidates = [
        Candidate(passage, vector, _terms(passage))
        for passage, vector in zip(passages, vectors, strict=True)
    ]
    floor = context.policy.floor
    return tuple(
        item
        for item in rank(view, candidates, profile, context.policy)
        if item.scores.coverage >= COVERAGE or item.scores.relevance >= floor
    )


def _passage(result: WebResult) -> Passage:
    """The snippet is what can be quoted; the title says what it is about."""
    return Passage(
        id=str(uuid.uuid5(uuid.NAMESPACE_URL, result.url)),
        source=SOURCE,
        source_type=SourceType.WEB,
        document=result.url,
        title=result.title,
        heading=(),
        text=result.snippet.strip() or result.title,
        uri=result.url,
        language=passage_language(f"{result.title}\n{result.snippet}"),
    )


def _titled(passage: Passage) -> str:
    same = passage.text == passage.title
    return passage.text if same else f"{passage.title}\n\n{passage.text}"


def _terms(passage: Passage) -> TermCounts:
    body = "" if passage.text == passage.title else passage.text
    return TermCounts.of(Fields(body=tuple(tokens(body)), heading=tuple(tokens(passage.title))))


async def _embed(passages: Sequence[Passage], context: Context) -> Matrix:
    try:
        async with asyncio.timeout(min(context.limits.embed_timeout, seconds_left(context))):
            vectors = await context.ports.embedder.embed_passages(
                [spaced(_titled(passage)) for passage in passages]
            )
            return np.asarray(vectors, dtype=np.float32)
    except TimeoutError as error:
        raise EmbedderError("the embedder did not answer in time") from error


def _by_coverage(view: QuestionView, passages: Sequence[Passage]) -> tuple[Ranked, ...]:
    """Middling relevance for all of them: words alone cannot say more."""
    even = Scores(None, 0.0, MIDDLE, relevance(MIDDLE), 0.0)
    scored = [
        Ranked(
            passage,
            replace(even, coverage=view.coverage(tokens(_titled(passage)), passage.language)),
        )
        for passage in passages
    ]
    kept = [item for item in scored if item.scores.coverage >= COVERAGE]
    return tuple(sorted(kept, key=lambda item: -item.scores.coverage))
