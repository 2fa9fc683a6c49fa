"""One retrieval: a text in, scored evidence out. Used for the question and for each part of it."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from graph.errors import EmbedderError
from graph.look import look, tokens_of
from graph.model import Language, Ranked, Scope
from graph.policy import Policy
from graph.ports import Candidate, Search, Vector
from graph.profile import Profile
from graph.relevance import rank, relevance, search_terms
from graph.state import Context
from graph.terms import term_hashes
from graph.text import fold, parts, spaced
from graph.view import QuestionView


@dataclass(frozen=True, slots=True)
class Found:
    """`ranked` holds every candidate, best first; `notes` says what was degraded."""

    view: QuestionView
    ranked: tuple[Ranked, ...]
    notes: tuple[str, ...] = ()


async def find(
    text: str,
    language: Language,
    scope: Scope,
    context: Context,
    word_vector: Vector | None = None,
) -> Found:
    """Candidates for `text` inside `scope`, scored. Raises StoreError.

    `word_vector` is the builtin embedder's vector of `text` when somebody has it already. With
    the embedder down, keywords alone are searched and the note says so.
    """
    retriever = context.ports.retriever
    profile = await retriever.profile()
    notes: tuple[str, ...] = ()
    try:
        vector = await _embed(text, context, word_vector)
        view = await look(text, language, profile, context.lexicon, vector)
    except EmbedderError:
        notes = ("embedder_down",)
        vector = None
        view = await look(text, language, profile, context.lexicon, None)
    candidates = await retriever.search(Search(search_terms(view), vector), scope)
    view = await _within(view, candidates, profile, scope, context)
    return Found(view, rank(view, candidates, profile, context.policy), notes)


async def _embed(text: str, context: Context, word_vector: Vector | None) -> Vector:
    ports = context.ports
    if word_vector is not None and ports.embedder is ports.words:
        return word_vector
    try:
        async with asyncio.timeout(context.limits.embed_timeout):
            vectors = await ports.embedder.embed_questions([spaced(text)])
            return np.asarray(vectors[0], dtype=np.float32)
    except TimeoutError as error:
        raise EmbedderError("the embedder did not answer in time") from error


async def _within(
    view: QuestionView,
    candidates: Sequence[Candidate],
    profile: Profile,
    scope: Scope,
    context: Context,
) -> QuestionView:
    """Named things count as known only when a document of the scope mentions them.

    What was found mentions most of them; the store is asked for the others only.
    """
    unseen: dict[str, set[str]] = {}
    for name in view.named:
        items = {*tokens_of(name), *_stand_ins(name, view)}
        known = set(filter(profile.statistics.known, items))
        wanted = term_hashes(known)
        if not any(item.terms.holds_any(wanted) for item in candidates):
            unseen[name] = known
    asked = set().union(*unseen.values())
    if asked:
        visible = await context.ports.retriever.mentioned(sorted(asked), scope)
        unseen = {name: items for name, items in unseen.items() if not visible & items}
    return replace(view, unknown_names=tuple(unseen))


def _stand_ins(name: str, view: QuestionView) -> frozenset[str]:
    pieces = {fold(name), *(fold(piece) for piece in parts(name))}
    return frozenset().union(*(word.stand_ins() for word in view.words if word.text in pieces))


def evidence(ranked: Sequence[Ranked], policy: Policy) -> tuple[Ranked, ...]:
    """The best passages, at most `chunks_per_document` of one document."""
    taken: Counter[tuple[str, str]] = Counter()
    chosen: list[Ranked] = []
    for item in ranked:
        key = (item.passage.source, item.passage.document)
        if taken[key] < policy.chunks_per_document:
            taken[key] += 1
            chosen.append(item)
            if len(chosen) == 2 * policy.passages:
                break
    return tuple(chosen)


def merged(
    whole: Sequence[Ranked], parts: Sequence[tuple[str, Sequence[Ranked]]], penalty: float
) -> tuple[Ranked, ...]:
    """Each passage with the better of its score for the question and (part - penalty), in u.

    The sub-question that lifted a passage becomes its origin.
    """
    best = {item.passage.id: item for item in whole}
    for text, ranked in parts:
        for item in ranked:
            lifted = _lowered(item, penalty, text)
            present = best.get(item.passage.id)
            if present is None or lifted.scores.u > present.scores.u:
                best[item.passage.id] = lifted
    return tuple(sorted(best.values(), key=lambda item: (-item.scores.u, item.passage.id)))


def _lowered(item: Ranked, penalty: float, origin: str) -> Ranked:
    u = item.scores.u - penalty
    return replace(item, scores=replace(item.scores, u=u, relevance=relevance(u), origin=origin))
