"""contextualize: turns a follow-up into a question that can be understood alone.

A question that stands alone passes unchanged and no model is called for it. The rules of
graph/followup.py decide that; a model, where there is one, only words the resolved question, and
what it words is checked against the conversation.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from langgraph.runtime import Runtime

from graph.calls import complete
from graph.errors import ModelError
from graph.followup import ASKER, BOT, asker_language, cut, leaned_on, needs_context, resolve
from graph.model import Question, Turn
from graph.pointers import is_personal
from graph.policy import Limits
from graph.ports import ChatModel, Prompt
from graph.prompts import load
from graph.smalltalk import courtesy
from graph.state import Context, ModelCall, Stage, State
from graph.text import normalise
from graph.wording import is_faithful

_SCHEMA = {
    "type": "object",
    "properties": {"question": {"type": "string"}},
    "required": ["question"],
    "additionalProperties": False,
}
_REPLY_TOKENS = 256
_CHARACTERS_PER_TOKEN = 4
_TURN_CHARACTERS = 600  # of one earlier message in the prompt


async def contextualize(state: State, runtime: Runtime[Context]) -> State:
    """Sets the language of the answer and the self-contained question."""
    runtime.stream_writer(Stage("contextualize"))
    return await understood(state["question"], runtime.context)


async def understood(question: Question, context: Context) -> State:
    """What the question means after what was said before, and the model calls that it took."""
    text = normalise(question.text).strip()
    shortened = cut(text, context.limits.question_characters)
    history = recent(question.history, context.limits)
    update: State = {
        "language": asker_language(text, history),
        "resolved": shortened,
        "notes": ("cut_question",) if shortened != text else (),
    }
    answer = courtesy(question, update["language"])
    if answer is not None:
        return {**update, "answer": answer}
    if not needs_context(shortened, history):
        return update
    ruled = resolve(shortened, history)
    if context.ports.model is None:
        return {**update, "resolved": ruled}
    worded, call = await _worded(context.ports.model, shortened, history, context)
    return {**update, "resolved": worded or ruled, "calls": (call,)}


def recent(history: Sequence[Turn], limits: Limits) -> tuple[Turn, ...]:
    """The last turns that fit the limits, oldest first."""
    kept: list[Turn] = []
    room = limits.history_tokens * _CHARACTERS_PER_TOKEN
    for turn in reversed(history[-limits.history_turns :]):
        short = replace(turn, text=cut(normalise(turn.text), _TURN_CHARACTERS))
        room -= len(short.text)
        if room < 0:
            break
        kept.append(short)
    return tuple(reversed(kept))


async def _worded(
    model: ChatModel, text: str, history: Sequence[Turn], context: Context
) -> tuple[str | None, ModelCall]:
    """The model's wording, or None when it failed or worded something else."""
    shown = _shown(text, history)
    prompt = Prompt(
        purpose="contextualize",
        system=load("contextualize"),
        user=_transcript(text, shown),
        max_tokens=_REPLY_TOKENS,
        schema=_SCHEMA,
    )
    result, call = await complete(model, prompt, context)
    if isinstance(result, ModelError) or result.data is None:
        return None, call
    worded = str(result.data.get("question", "")).strip()
    return (worded if is_faithful(worded, text, shown) else None), call


def _shown(text: str, history: Sequence[Turn]) -> Sequence[Turn]:
    """What the model may read: without other people's messages when the asker says "my"."""
    if not is_personal(text):
        return history
    exchange = leaned_on(text, history)
    own = [turn for turn in history if turn.who == ASKER]
    return [*own, Turn(BOT, exchange.reply)] if exchange and exchange.reply else own


def _transcript(text: str, history: Sequence[Turn]) -> str:
    lines = [f"{_label(turn.who)}: {' '.join(turn.text.split())}" for turn in history]
    return "\n".join(["<chat>", *lines, "</chat>", f"Last message, from asker: {text}"])


def _label(who: str) -> str:
    return {ASKER: "asker", BOT: "bot"}.get(who, "other")
