"""classify: decides which threshold the evidence must reach, locally unless the call is close."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import numpy as np
from langgraph.runtime import Runtime

from graph.calls import complete
from graph.errors import EmbedderError, ModelError
from graph.model import QueryType
from graph.ports import ChatModel, Prompt, Vector
from graph.prompts import load
from graph.query_type import QueryTypeModel, margin
from graph.state import Context, ModelCall, Stage, State, TypeDecision
from graph.text import spaced

_SCHEMA = {
    "type": "object",
    "properties": {"type": {"type": "string", "enum": [kind.value for kind in QueryType]}},
    "required": ["type"],
    "additionalProperties": False,
}
_REPLY_TOKENS = 32


async def classify(state: State, runtime: Runtime[Context]) -> State:
    """Sets the question's vector and its type; the model settles only what is nearly a tie."""
    context = runtime.context
    question = state["resolved"]
    vector = await _vector(question, context)
    decision = _local(question, vector, context)
    calls: tuple[ModelCall, ...] = ()
    model = context.ports.model
    if model is not None and margin(decision) < context.policy.classify_margin:
        decision, call = await _asked(model, question, decision, context)
        calls = (call,)
    runtime.stream_writer(Stage("classify", decision.query_type.value))
    notes = () if vector is not None else ("embedder_down",)
    return {"word_vector": vector, "decision": decision, "calls": calls, "notes": notes}


async def _vector(question: str, context: Context) -> Vector | None:
    try:
        async with asyncio.timeout(context.limits.embed_timeout):
            rows = await context.ports.words.embed_questions([spaced(question)])
    except (EmbedderError, TimeoutError):
        return None
    return np.asarray(rows[0], dtype=np.float32)


def _local(question: str, vector: Vector | None, context: Context) -> TypeDecision:
    """By vector and cues, or by cues alone where the weights are of another vector space."""
    model = QueryTypeModel.shipped()
    readable = context.ports.words.name == model.embedder
    return model.decide(question, vector if readable else None)


async def _asked(
    model: ChatModel, question: str, local: TypeDecision, context: Context
) -> tuple[TypeDecision, ModelCall]:
    """The model's type, or the local one when the model failed."""
    prompt = Prompt("classify", load("classify"), question, _REPLY_TOKENS, _SCHEMA)
    reply, call = await complete(model, prompt, context)
    if isinstance(reply, ModelError) or reply.data is None:
        return local, call
    return replace(local, query_type=QueryType(reply.data["type"]), by="model"), call
