"""grade: is there enough evidence? Arithmetic only; the policy is in graph/grading.py."""

from __future__ import annotations

from dataclasses import replace

from langgraph.runtime import Runtime

from graph.choices import Option, choice
from graph.followup import asks_back
from graph.grading import grade as judge
from graph.model import Grade, Verdict
from graph.policy import Policy
from graph.recollection import is_recollection
from graph.retrieval import evidence
from graph.state import Context, Stage, State

_NEARLY_ALL = 0.8  # coverage from which a message is what was asked for, however short it is


async def grade(state: State, runtime: Runtime[Context]) -> State:
    """Sets the grade of the present evidence, and takes web results as evidence when they came."""
    web = state.get("web")
    if web is not None:
        return _web(state)
    verdict = judge(
        state["view"],
        state["considered"],
        state["decision"].query_type,
        runtime.context.policy,
    )
    verdict = _with_parts(verdict, state)
    said = _from_what_was_said(state, verdict, runtime.context.policy)
    if said is not None:
        runtime.stream_writer(Stage("grade", said["grade"].verdict.value))
        return said
    verdict = _beside_the_point(verdict, state)
    runtime.stream_writer(Stage("grade", verdict.verdict.value))
    return {"grade": verdict, "options": _options(state, verdict)}


def _options(state: State, verdict: Grade) -> tuple[Option, ...]:
    """Nobody is asked twice, nor when nothing was found, nor about a part of the question."""
    history = state["question"].history
    asked = bool(history) and asks_back(history[-1])
    if asked or verdict.verdict is Verdict.NONE or "parts" in state:
        return ()
    return choice(state["view"], state["considered"], state["decision"].query_type)


def _from_what_was_said(state: State, documents: Grade, policy: Policy) -> State | None:
    """Earlier conversations as the evidence, where they hold the answer and the documents do not.

    A question about what was said is answered by what was said, whatever the documents hold; for
    it the nearest that was said is worth showing, too.
    """
    said = state.get("said")
    if said is None or not said.ranked or "parts" in state:
        return None
    asked = is_recollection(state["resolved"])
    verdict = judge(said.view, said.ranked, state["decision"].query_type, policy)
    if asked and verdict.coverage >= _NEARLY_ALL:
        reason = "nearly all that was asked for was said"
        verdict = replace(verdict, verdict=Verdict.RELEVANT, reason=reason)
    if verdict.verdict is Verdict.NONE or (verdict.verdict is Verdict.PARTIAL and not asked):
        return None
    if not asked and _holds_more(documents, verdict):
        return None
    verdict = replace(verdict, reason=f"an earlier conversation: {verdict.reason}", critical=True)
    return {"grade": verdict, "view": said.view, "ranked": evidence(said.ranked, policy)}


def _holds_more(documents: Grade, said: Grade) -> bool:
    """Documents come first, unless they pass without most of the asked words, and what was said
    has these words."""
    if documents.verdict is not Verdict.RELEVANT:
        return False
    return (
        not documents.critical
        or documents.coverage >= said.coverage
        or documents.relevance >= said.relevance
    )


def _beside_the_point(verdict: Grade, state: State) -> Grade:
    """Documents do not tell what people said: they are the nearest there is."""
    if verdict.verdict is not Verdict.RELEVANT or not is_recollection(state["resolved"]):
        return verdict
    reason = "asks what was said, and no earlier conversation here holds it"
    return replace(verdict, verdict=Verdict.PARTIAL, reason=reason, critical=True)


def _with_parts(verdict: Grade, state: State) -> Grade:
    """Parts can only help: one relevant part makes the whole worth answering in part."""
    parts = [part.grade for part in state.get("parts", ()) if part.grade is not None]
    if not parts or verdict.verdict is Verdict.RELEVANT:
        return verdict
    relevant = [part for part in parts if part.verdict is Verdict.RELEVANT]
    if len(relevant) == len(parts):
        reason = "every part of the question has relevant passages"
        return replace(verdict, verdict=Verdict.RELEVANT, reason=reason, critical=True)
    if relevant:
        reason = f"{len(relevant)} of {len(parts)} parts have relevant passages"
        return replace(verdict, verdict=Verdict.PARTIAL, reason=reason, critical=True)
    return verdict


def _web(state: State) -> State:
    web = state["web"]
    if not web.ranked:
        return {"grade": replace(state["grade"], verdict=Verdict.NONE)}
    best = web.ranked[0].scores
    found = Grade(
        Verdict.RELEVANT,
        f"{len(web.ranked)} web results",
        relevance=best.relevance,
        coverage=best.coverage,
        unknown_terms=state["grade"].unknown_terms,
        critical=True,
    )
    return {"grade": found, "ranked": web.ranked}
