"""The edges of the graph: the whole corrective policy on one screen.

Enough evidence: answer. Some: take the question apart once and look again. None: the web, once.
Evidence for two things of which the question names neither: ask which one is meant, once.
"""

from __future__ import annotations

from typing import Literal

from graph.model import Verdict
from graph.state import Context, State
from graph.text import has_words


def after_contextualize(state: State, _: Context) -> Literal["classify", "decline"]:
    """Emoji, punctuation and small talk are not searched for."""
    if "answer" in state or not has_words(state["resolved"]):
        return "decline"
    return "classify"


def after_grade(
    state: State, context: Context
) -> Literal["generate", "decompose", "web", "decline"]:
    verdict = state["grade"].verdict
    may_look = "web" not in state and may_search_web(state, context)
    if state["question"].web_first and may_look:
        return "web"
    if "web" not in state and state.get("options"):
        return "decline"
    if verdict is Verdict.RELEVANT:
        return "generate"
    if verdict is Verdict.PARTIAL:
        return "generate" if "parts" in state else "decompose"
    return "web" if may_look else "decline"


def after_decompose(state: State, _: Context) -> Literal["retrieve", "generate"]:
    """A question without parts is answered from what there is."""
    return "retrieve" if state["parts"] else "generate"


def after_verify(state: State, _: Context) -> Literal["decline", "__end__"]:
    """A draft that does not hold, or a model that found nothing in the passages, is no answer."""
    return "__end__" if "answer" in state else "decline"


def may_search_web(state: State, context: Context) -> bool:
    return context.ports.web is not None and context.policy.web and state["question"].web_allowed
