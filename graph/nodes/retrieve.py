"""retrieve: searches documents and earlier conversations for the question, side by side; once it
was taken apart, the documents for each of its parts."""

from __future__ import annotations

import asyncio
from dataclasses import replace

from langgraph.runtime import Runtime

from graph.errors import StoreError
from graph.grading import grade
from graph.retrieval import Found, evidence, find, find_beside, merged
from graph.state import Context, Stage, State, SubQuestion


async def retrieve(state: State, runtime: Runtime[Context]) -> State:
    """Sets view, considered, ranked and said; after a decomposition also the parts' own grades.

    Raises StoreError: the machine turns it into a failed answer.
    """
    parts = state.get("parts", ())
    runtime.stream_writer(Stage("retrieve", str(len(parts) or "")))
    if parts:
        return await _parts(state, parts, runtime.context)
    scope = state["question"].scope
    found, said = await find_beside(
        state["resolved"], state["language"], scope, runtime.context, state.get("word_vector")
    )
    return {
        "said": said,
        "view": found.view,
        "considered": found.ranked,
        "ranked": evidence(found.ranked, runtime.context.policy),
        "notes": found.notes,
    }


async def _parts(state: State, parts: tuple[SubQuestion, ...], context: Context) -> State:
    policy = context.policy
    found = await _side_by_side(parts, state, context)
    graded = tuple(
        _graded(part, one, state, context) for part, one in zip(parts, found, strict=True)
    )
    lifted = merged(
        state["considered"],
        [(part.text, one.ranked) for part, one in zip(parts, found, strict=True)],
        policy.sub_question_penalty,
    )
    return {
        "parts": graded,
        "considered": lifted,
        "ranked": evidence(lifted, policy),
        "notes": tuple(dict.fromkeys(note for one in found for note in one.notes)),
    }


async def _side_by_side(
    parts: tuple[SubQuestion, ...], state: State, context: Context
) -> list[Found]:
    scope = state["question"].scope
    try:
        async with asyncio.TaskGroup() as group:
            tasks = [
                group.create_task(find(part.text, state["language"], scope, context))
                for part in parts
            ]
    except* StoreError as failed:
        raise StoreError("the index could not be searched") from failed
    return [task.result() for task in tasks]


def _graded(part: SubQuestion, found: Found, state: State, context: Context) -> SubQuestion:
    decision = part.decision or state["decision"]
    verdict = grade(found.view, found.ranked, decision.query_type, context.policy)
    return replace(
        part,
        decision=decision,
        grade=verdict,
        ranked=evidence(found.ranked, context.policy),
    )
