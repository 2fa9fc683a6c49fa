"""decompose: takes a question that was answered in part into parts that can be searched alone.

It runs once, after a partial grade. A model words the parts where there is one; what it words
must be about the question and nothing else, or the rules of graph/split.py decide.
"""

from __future__ import annotations

from langgraph.runtime import Runtime

from graph.calls import complete
from graph.errors import ModelError
from graph.ports import ChatModel, Completion, Prompt
from graph.prompts import fill
from graph.split import distinct, split
from graph.state import Context, ModelCall, Stage, State, SubQuestion
from graph.wording import adds_nothing

_SCHEMA = {
    "type": "object",
    "properties": {"questions": {"type": "array", "items": {"type": "string"}}},
    "required": ["questions"],
    "additionalProperties": False,
}
_REPLY_TOKENS = 400
_ROOM = 80  # characters by which a part may be longer than the question


async def decompose(state: State, runtime: Runtime[Context]) -> State:
    """Sets the parts of the question; none when it asks one thing."""
    context = runtime.context
    question, limit = state["resolved"], context.policy.sub_questions
    model = context.ports.model
    texts: tuple[str, ...] = ()
    calls: tuple[ModelCall, ...] = ()
    if model is not None:
        texts, call = await _worded(model, question, context)
        calls = (call,)
    if len(texts) < 2:  # noqa: PLR2004
        texts = split(question, limit)
    runtime.stream_writer(Stage("decompose", str(len(texts))))
    return {"parts": tuple(SubQuestion(text) for text in texts), "calls": calls}


async def _worded(
    model: ChatModel, question: str, context: Context
) -> tuple[tuple[str, ...], ModelCall]:
    limit = context.policy.sub_questions
    prompt = Prompt(
        purpose="decompose",
        system=fill("decompose", limit=limit),
        user=f"<question>\n{question}\n</question>",
        max_tokens=_REPLY_TOKENS,
        schema=_SCHEMA,
    )
    result, call = await complete(model, prompt, context)
    if isinstance(result, ModelError):
        return (), call
    parts = [part for part in _strings(result) if _is_about(part, question)]
    return distinct(parts, question, limit), call


def _strings(completion: Completion) -> list[str]:
    questions = (completion.data or {}).get("questions")
    if not isinstance(questions, list):
        return []
    return [item.strip() for item in questions if isinstance(item, str)]


def _is_about(part: str, question: str) -> bool:
    short = "\n" not in part and len(part) <= len(question) + _ROOM
    return bool(part) and short and adds_nothing(part, question)
