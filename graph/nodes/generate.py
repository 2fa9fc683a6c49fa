"""generate: a grounded draft from the evidence, streamed; without a model, quotations.

One call on the usual path. A prompt that is too long is tried once more with half the passages; one
that the provider's filter blocked, twice more with fewer. Any other failure gives quotations.
"""

from __future__ import annotations

import asyncio
import re
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from langgraph.runtime import Runtime

from graph import calls, prompts
from graph.admissions import admits_nothing
from graph.bare_answer import bare_answer, without_loose_end
from graph.context import (
    CHARACTERS_PER_TOKEN,
    Key,
    asked,
    fence_for,
    fenced,
    fitted,
    hints,
    key_of,
    language_name,
    selected,
    size,
    small_documents,
    today,
)
from graph.errors import (
    ContentFiltered,
    ContextOverflow,
    ModelBusy,
    ModelError,
    ModelRefused,
    QuotaExhausted,
    StoreError,
)
from graph.extract import extract
from graph.gate import Gate, insufficient
from graph.model import Language, Passage, Ranked, SourceType, Verdict
from graph.phrases import say
from graph.ports import ChatModel, Completion, Prompt
from graph.proof import Sources
from graph.shortfall import shortfall
from graph.state import Context, Draft, ModelCall, Stage, State, Token

_ALARMING = re.compile(  # ordinary words of operations that filters take for violence
    r"\b(?:kill|abort|attack|zombie|orphan|child(?:ren)?|die[sd]?|dead|death|suicide|bomb|exploit"
    r"|inject|poison|execut|terminat|destroy|victim|weapon|blast|shoot|slave|rape|hate)"
    r"|убит|убий|убив|атак|взрыв|смерт|умер|сирот|зомби|уничтож",
    re.IGNORECASE,
)
REFUSED = "refused"
"""`Draft.insufficient` when the model itself declined: final, and no answer to keep."""

_LABELS = {SourceType.WEB: "web_label", SourceType.SESSION: "said_label"}


@dataclass(slots=True)
class _Attempts:
    """What the calls of one question brought."""

    given: tuple[Ranked, ...]
    text: str = ""
    cut: bool = False  # the last reply ended at its length limit
    error: ModelError | None = None
    calls: list[ModelCall] = field(default_factory=list)


async def generate(state: State, runtime: Runtime[Context]) -> State:
    """Sets the draft. Notes tell why it holds quotations although a model is configured."""
    runtime.stream_writer(Stage("generate"))
    context = runtime.context
    whole = await _documents(state, context)
    given = selected(state["ranked"], whole, context.policy)
    model = context.ports.model
    if model is None or not given:
        return _uncritical(state, given)
    if calls.seconds_left(context) <= 0:
        return {"draft": _quoted(state, given), "notes": ("deadline",)}
    attempts = await _attempts(model, state, runtime, given)
    return _result(state, given, attempts, context)


async def _documents(state: State, context: Context) -> Mapping[Key, Sequence[Passage]]:
    """The chunks of small documents, read side by side. What cannot be read stays a chunk."""
    wanted = small_documents(state["ranked"], context.policy)
    found: dict[Key, Sequence[Passage]] = {}
    scope = state["question"].scope

    async def read(passage: Passage) -> None:
        try:
            found[key_of(passage)] = await context.ports.retriever.document(passage, scope)
        except StoreError:
            return

    async with asyncio.TaskGroup() as group:
        for passage in wanted:
            group.create_task(read(passage))
    return found


def _uncritical(state: State, given: tuple[Ranked, ...]) -> State:
    """Quotations that no model reads: partial where they plainly lack what was asked."""
    draft, grade = _quoted(state, given), state["grade"]
    lacking = shortfall(state["view"], draft.text, given)
    if lacking is None or grade.verdict is not Verdict.RELEVANT:
        return {"draft": draft}
    partial = replace(grade, verdict=Verdict.PARTIAL, reason=lacking.reason)
    return {"draft": draft, "grade": partial, "notes": (lacking.note,) if lacking.note else ()}


def _quoted(state: State, given: tuple[Ranked, ...]) -> Draft:
    text = extract(state["view"], given, state["decision"].query_type, state.get("parts", ()))
    return Draft(text, given, "extract")


async def _attempts(
    model: ChatModel, state: State, runtime: Runtime[Context], given: tuple[Ranked, ...]
) -> _Attempts:
    done = _Attempts(given)
    error = await _attempt(model, state, runtime, done)
    if isinstance(error, ContextOverflow):
        done.given = fitted(given, max(size(given) // 2, CHARACTERS_PER_TOKEN))
        await _attempt(model, state, runtime, done)
    fewer = _unfiltered(given) if isinstance(error, ContentFiltered) else []
    for part in fewer:
        done.given = part
        error = await _attempt(model, state, runtime, done)
        if not isinstance(error, ContentFiltered):
            break
    return done


def _unfiltered(given: tuple[Ranked, ...]) -> list[tuple[Ranked, ...]]:
    """Two smaller choices that may pass the filter: first without what probably alarmed it."""
    calm = tuple(item for item in given if not _ALARMING.search(item.passage.text))
    middle = (len(given) + 1) // 2
    parts = (calm, given[:middle], given[middle:])
    return [part for part in dict.fromkeys(parts) if 0 < len(part) < len(given)][:2]


async def _attempt(
    model: ChatModel, state: State, runtime: Runtime[Context], done: _Attempts
) -> ModelError | None:
    """One streamed call over `done.given`; what the gate lets through is shown at once."""
    context = runtime.context
    prompt = _prompt(state, context, done.given)
    gate = Gate(sources_of(state, context, done.given))
    show = _shower(runtime, state, done.given)
    started = time.perf_counter()
    pieces: list[str] = []
    result: Completion | ModelError = Completion("")
    async for item in calls.stream(model, prompt, context):
        if isinstance(item, str):
            pieces.append(item)
            show(gate.feed(item))
        else:
            result = item
    done.calls.append(calls.record(prompt, started, result))
    done.error = result if isinstance(result, ModelError) else None
    if isinstance(result, Completion):
        show(gate.close())
        # What was streamed may begin with reasoning that only its end gave away.
        done.text, done.cut = result.text or "".join(pieces), result.cut
    return done.error


def _shower(
    runtime: Runtime[Context], state: State, given: Sequence[Ranked]
) -> Callable[[str], None]:
    """Streams text; before the first piece of an answer that is not from documents its label."""
    label = source_label(given, state["language"])
    before = f"{label}\n\n" if label else ""

    def show(text: str) -> None:
        nonlocal before
        if text:
            runtime.stream_writer(Token(before + text))
            before = ""

    return show


def source_label(given: Sequence[Ranked], language: Language) -> str:
    """What stands over an answer that is from the web, or from what was said before; else ""."""
    kinds = {item.passage.source_type for item in given}
    key = _LABELS.get(kinds.pop(), "") if len(kinds) == 1 else ""
    return f"**{say(key, language)}**" if key else ""


def sources_of(state: State, context: Context, given: Sequence[Ranked]) -> Sources:
    passages = [item.passage for item in given]
    return Sources(passages, state["resolved"], context.now().date())


def _prompt(state: State, context: Context, given: Sequence[Ranked]) -> Prompt:
    fence = fence_for([state["resolved"], *(item.passage.text for item in given)])
    system = prompts.fill(
        "generate",
        fence=fence,
        language=language_name(state["language"]),
        hints=hints(given, state["grade"], state.get("parts", ())),
        today=today(context.now()),
    )
    user = f"{fenced(given, fence)}\n\n{asked(state['resolved'], fence)}"
    return Prompt("generate", system, user, context.limits.answer_tokens)


def _result(
    state: State, given: tuple[Ranked, ...], attempts: _Attempts, context: Context
) -> State:
    called = tuple(attempts.calls)
    text = bare_answer(attempts.text)
    if attempts.cut:
        text = without_loose_end(text)
    if attempts.error is None and text.strip():
        reason = insufficient(text) or admits_nothing(text)
        draft = Draft("" if reason else text, attempts.given, "model", reason)
        cut = attempts.cut and not reason
        return {"draft": draft, "calls": called, "notes": ("cut_answer",) if cut else ()}
    if isinstance(attempts.error, ModelRefused):
        return {"draft": Draft("", given, "model", REFUSED), "calls": called}
    note = _note(attempts.error, context)
    return {"draft": _quoted(state, given), "calls": called, "notes": (note,)}


def _note(error: ModelError | None, context: Context) -> str:
    """The sentence that tells the reader why a model's answer is missing."""
    if error is not None and error.retry_helps and calls.seconds_left(context) <= 0:
        return "deadline"
    match error:
        case ModelBusy():
            return "model_busy"
        case QuotaExhausted():
            return "quota"
        case ContentFiltered():
            return "model_filtered"
        case _:
            return "model_down"
