"""One retrieval: a text in, scored evidence out. Used for the question and for each part of it."""

from __future__ import annotations

import asyncio
import logging
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from graph.errors import EmbedderError, IndexEmpty, StoreError
from graph.look import is_numbered, look, telling_words, tokens_of
from graph.model import Language, Ranked, Scope
from graph.policy import Policy
from graph.ports import Candidate, Retriever, Search, Vector
from graph.profile import Profile
from graph.recollection import looked_for
from graph.relevance import rank, relevance, search_terms
from graph.state import Context, Recalled
from graph.terms import held
from graph.text import fold, parts, spaced, tokens
from graph.view import QuestionView

_log = logging.getLogger(__name__)
_SAID = 20  # messages that are considered


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
    wanted = await _wanted(text, language, scope, context, word_vector)
    return await _found(wanted)


async def find_beside(
    text: str,
    language: Language,
    scope: Scope,
    context: Context,
    word_vector: Vector | None = None,
) -> tuple[Found, Recalled | None]:
    """What the documents hold, and beside it what was said before in the scope's place.

    Both are searched at once. Without the earlier conversations the documents still answer:
    None stands for those that cannot be searched, too. Raises StoreError.
    """
    wanted = await _wanted(text, language, scope, context, word_vector)
    sessions = context.ports.sessions
    if sessions is None or not scope.place:
        return await _found(wanted), None
    try:
        async with asyncio.TaskGroup() as group:
            found = group.create_task(_found(wanted))
            said = group.create_task(_said(wanted, sessions))
    except ExceptionGroup as failed:
        raise failed.exceptions[0] from failed  # the documents'; what was said raises nothing
    return found.result(), said.result()


@dataclass(frozen=True, slots=True)
class _Wanted:
    """What is looked for, and what is known of the documents; `vector` is None while the embedder
    is down."""

    text: str
    language: Language
    scope: Scope
    context: Context
    profile: Profile
    vector: Vector | None


async def _wanted(
    text: str, language: Language, scope: Scope, context: Context, word_vector: Vector | None
) -> _Wanted:
    """Raises StoreError: without a profile nothing is found, so nothing need be embedded."""
    profile = await context.ports.retriever.profile()
    vector = await _vector(text, context, word_vector)
    return _Wanted(text, language, scope, context, profile, vector)


async def _found(wanted: _Wanted) -> Found:
    context, profile, vector = wanted.context, wanted.profile, wanted.vector
    retriever = context.ports.retriever
    try:
        view = await look(wanted.text, wanted.language, profile, context.lexicon, vector)
    except EmbedderError:
        vector = None
        view = await look(wanted.text, wanted.language, profile, context.lexicon, None)
    candidates = await retriever.search(Search(search_terms(view), vector), wanted.scope)
    view = await _within(view, candidates, profile, wanted.scope, retriever)
    notes = ("embedder_down",) if vector is None else ()
    return Found(view, rank(view, candidates, profile, context.policy), notes)


async def _said(wanted: _Wanted, sessions: Retriever) -> Recalled | None:
    context, scope, text = wanted.context, wanted.scope, looked_for(wanted.text)
    try:
        profile = await sessions.profile()
        same = text == wanted.text
        vector = wanted.vector if same else await _vector(text, context, None)
        view = await look(text, wanted.language, profile, context.lexicon, vector)
        hits = await sessions.search(Search(search_terms(view), vector), scope)
        view = await _within(view, hits, profile, scope, sessions)
        hits = [hit for hit in hits if not hit.passage.stub]
        hits = await _open(hits, scope, context.ports.retriever)
    except IndexEmpty:
        return None
    except (StoreError, EmbedderError) as error:
        _log.warning("earlier conversations could not be searched: %s", error)
        return None
    ranked = rank(view, hits, profile, context.policy)[:_SAID]
    return Recalled(view, _telling(ranked, wanted.text))


async def _open(hits: Sequence[Candidate], scope: Scope, documents: Retriever) -> list[Candidate]:
    """What was said from documents that the audience may read today, all of them."""
    behind = {document for hit in hits for document in hit.passage.behind}
    readable = await documents.readable(behind, scope) if behind else frozenset()
    return [hit for hit in hits if readable.issuperset(hit.passage.behind)]


def _telling(ranked: Sequence[Ranked], asked: str) -> tuple[Ranked, ...]:
    """Messages that say more than was asked: an earlier wording of a question answers none."""
    known = set(tokens(asked))
    return tuple(item for item in ranked if not known.issuperset(tokens(item.passage.text)))


async def _vector(text: str, context: Context, word_vector: Vector | None) -> Vector | None:
    try:
        return await _embed(text, context, word_vector)
    except EmbedderError:
        return None


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
    retriever: Retriever,
) -> QuestionView:
    """Words and named things count as known only when a document of the scope mentions them: what
    stands in other documents must not show, not even by not being called unknown.

    What was found mentions most of them; the store is asked for the others only.
    """
    words = telling_words(view.text, view.words)
    names = {name: {*tokens_of(name), *_stand_ins(name, view)} for name in view.named}
    wanted = [(text, set(items)) for text, items in (*words.items(), *names.items())]
    known = profile.statistics.known_among({term for _, items in wanted for term in items})
    seen = held(known, [item.terms for item in candidates])
    unseen = [(text, items & known) for text, items in wanted if not items & seen]
    asked = set().union(*(items for _, items in unseen))
    visible = await retriever.mentioned(sorted(asked), scope) if asked else frozenset()
    unknown = {text for text, items in unseen if not visible & items}
    return replace(
        view,
        unknown=tuple(word for word in words if word in unknown),
        unknown_names=tuple(name for name in names if name in unknown),
    )


def _stand_ins(name: str, view: QuestionView) -> frozenset[str]:
    if is_numbered(name):  # another word for "err" is none for ERR-4418
        return frozenset()
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
