"""verify: nothing leaves that the cited passages do not hold.

Marks and literals are checked; problems of a model's draft get one repair call; what still fails is
removed, or marked where its absence would mislead. A draft without a valid citation is no answer.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from langgraph.runtime import Runtime

from graph import calls, prompts
from graph.admissions import admits_nothing
from graph.bare_answer import bare_answer
from graph.blocks import Kind, blocks
from graph.context import asked, fence_for, fenced, key_of, language_name, selected
from graph.disagreements import is_disputed, side_by_side
from graph.extract import extract
from graph.gate import insufficient
from graph.literals import Claim, literals
from graph.marks import escaped, in_prose
from graph.model import (
    Answer,
    Citation,
    Confidence,
    Outcome,
    Ranked,
    SourceType,
    Verdict,
)
from graph.nodes.generate import source_label, sources_of
from graph.phrases import listed, never_mentioned, say
from graph.policy import confidence
from graph.ports import Completion, Prompt
from graph.proof import Problem, Proven, prepared, problems, proven
from graph.state import Context, Draft, ModelCall, Removal, Stage, State

_NEAREST = 3  # documents named beside a partial answer
_PROBLEMS = 20  # told to the model
_TYPED = re.compile(  # commands that stand in a sentence without being marked as code
    r"\|\s*(?:sudo\s+)?(?:ba|z|da)?sh\b|(?<![\w-])(?:sudo|curl|wget|iwr|iex|bash|sh|python3?|perl)"
    r"\s+(?:-\w|[\w.-]*[./:][\w/])|\b(?:rm|chmod|chown|dd|mkfs|kill|git|docker|kubectl|helm|npm|pip3?"
    r"|apt(?:-get)?|yum|brew|systemctl|powershell)\s+(?:-\w|\w+\s+[\w./-]*[-./]\w"
    r"|install|run|exec|delete|apply|restart|stop|push|reset)"
)
_LONGEST_PART = 200  # characters of a part that is missing


async def verify(state: State, runtime: Runtime[Context]) -> State:
    """Sets the answer, or marks the draft insufficient so that the question is declined."""
    runtime.stream_writer(Stage("verify"))
    draft = state["draft"]
    if draft.insufficient is not None:
        return {}
    context = runtime.context
    draft = replace(draft, text=_unframed(draft.text, state))
    draft, called = await _repaired(draft, state, context)
    result = proven(draft.text, sources_of(state, context, draft.given), state["language"])
    removed = result.removed
    if not result.stands and state["grade"].verdict is Verdict.RELEVANT:
        draft, result = _fallback(draft, state, context)
        removed += result.removed
    if not result.stands:
        gone = (Removal(draft.text.strip(), "no citation"),) if draft.text.strip() else ()
        failed = replace(draft, insufficient="no statement of the draft stands in the sources")
        return {"draft": failed, "removed": removed + gone, "calls": called}
    passages = [item.passage for item in draft.given]
    text, cited = side_by_side(
        result.text, result.cited, passages, state["language"], state["resolved"]
    )
    answer = _answer(state, draft, replace(result, text=text, cited=cited))
    return {"draft": draft, "answer": answer, "removed": removed, "calls": called}


def _fallback(draft: Draft, state: State, context: Context) -> tuple[Draft, Proven]:
    """Quotations from the same passages, and from those that the model was not given."""
    known = {key_of(item.passage) for item in draft.given}
    others = selected(state["ranked"], {}, context.policy)
    given = draft.given + tuple(item for item in others if key_of(item.passage) not in known)
    query_type = state["decision"].query_type
    text = extract(state["view"], given, query_type, state.get("parts", ()))
    quoted = Draft(text, given, "extract")
    return quoted, proven(text, sources_of(state, context, given), state["language"])


# Repair


async def _repaired(
    draft: Draft, state: State, context: Context
) -> tuple[Draft, tuple[ModelCall, ...]]:
    """The draft after one repair call, when it needs one and there is a model and time."""
    model = context.ports.model
    if model is None or draft.by != "model" or calls.seconds_left(context) <= 0:
        return draft, ()
    sources = sources_of(state, context, draft.given)
    found = problems(prepared(draft.text, sources), sources)
    if not found:
        return draft, ()
    prompt = _repair_prompt(draft, state, context, found)
    reply, call = await calls.complete(model, prompt, context)
    text = bare_answer(reply.text) if isinstance(reply, Completion) and not reply.cut else ""
    if not text.strip() or insufficient(text) or admits_nothing(text):
        return draft, (call,)
    better = prepared(text, sources)
    worse = len(problems(better, sources)) > len(found)
    if worse or not proven(better, sources, state["language"]).stands:
        return draft, (call,)
    return replace(draft, text=better), (call,)


def _repair_prompt(
    draft: Draft, state: State, context: Context, found: Sequence[Problem]
) -> Prompt:
    texts = [item.passage.text for item in draft.given]
    fence = fence_for([state["resolved"], draft.text, *texts])
    system = prompts.fill("repair", fence=fence, language=language_name(state["language"]))
    user = "\n\n".join(
        (
            fenced(draft.given, fence),
            asked(state["resolved"], fence),
            f"<<<ANSWER {fence}>>>\n{draft.text.strip()}\n<<<END {fence}>>>",
            f"<<<PROBLEMS {fence}>>>\n{_told(found)}\n<<<END {fence}>>>",
        )
    )
    return Prompt("repair", system, user, context.limits.answer_tokens)


def _told(found: Sequence[Problem]) -> str:
    return "\n".join(_line(problem) for problem in found[:_PROBLEMS])


def _line(problem: Problem) -> str:
    if problem.reason == "unknown mark":
        return f"- {problem.text} is no given passage"
    return f'- not in the cited passages: {", ".join(problem.missing)} (in "{problem.text}")'


# The answer


@dataclass(frozen=True, slots=True)
class _Frame:
    """What the machine itself says around the verified text."""

    head: str = ""
    tail: str = ""


def _answer(state: State, draft: Draft, result: Proven) -> Answer:
    cited = [draft.given[index] for index in result.cited]
    web = _all_of(cited, SourceType.WEB)
    partial = state["grade"].verdict is Verdict.PARTIAL or bool(_missing(state))
    frame = _frame(state, source_label(cited, state["language"]))
    outcome = Outcome.WEB if web else Outcome.PARTIAL if partial else Outcome.ANSWERED
    text = "\n\n".join(piece for piece in (frame.head, result.text, frame.tail) if piece)
    return Answer(
        question_id=state["question"].id,
        outcome=outcome,
        text=text,
        language=state["language"],
        citations=tuple(
            Citation(number, item.passage, item.scores.relevance)
            for number, item in enumerate(cited, start=1)
        ),
        nearest=_nearest(state) if partial else (),
        confidence=_confidence(state, cited, result.text),
        missing=_missing(state),
        notes=_notes(state, result.text, web=web),
    )


def _confidence(state: State, cited: Sequence[Ranked], text: str) -> Confidence:
    if state["grade"].verdict is Verdict.PARTIAL:
        return Confidence.LOW
    level = confidence(max(item.scores.relevance for item in cited))
    doubtful = _all_of(cited, SourceType.SESSION) or is_disputed(text, state["language"])
    if level is Confidence.HIGH and doubtful:
        return Confidence.MEDIUM  # people remember, documents state; two of them disagree
    return level


def _all_of(cited: Sequence[Ranked], kind: SourceType) -> bool:
    return all(item.passage.source_type is kind for item in cited)


def _missing(state: State) -> tuple[str, ...]:
    return tuple(
        part.text
        for part in state.get("parts", ())
        if part.grade is None or part.grade.verdict is Verdict.NONE
    )


def _nearest(state: State) -> tuple[Ranked, ...]:
    best: dict[tuple[str, str], Ranked] = {}
    for item in state["ranked"]:
        best.setdefault((item.passage.source, item.passage.document), item)
    return tuple(best.values())[:_NEAREST]


def _notes(state: State, text: str, *, web: bool) -> tuple[str, ...]:
    risky = ("risky_web",) if web and _has_commands(text) else ()
    return tuple(dict.fromkeys((*state.get("notes", ()), *risky)))


def _has_commands(text: str) -> bool:
    for block in blocks(text):
        if block.kind is Kind.FENCE or _TYPED.search(block.text):
            return True
        if any(item.kind in (Claim.CODE, Claim.OPTION) for item in literals(block)):
            return True
    return False


def _frame(state: State, label: str) -> _Frame:
    """`label` is that of an answer from the web, or from an earlier conversation."""
    language = state["language"]
    if label:
        return _Frame(head=label)
    missing, unknown = _missing(state), never_mentioned(state["grade"].unknown_terms, language)
    if missing:
        parts = listed([_quoted_part(part) for part in missing], language)
        tail = " ".join([say("part_missing", language, parts=parts), unknown]).strip()
        return _Frame(say("partial_intro", language), tail)
    if state["grade"].verdict is Verdict.PARTIAL:
        return _Frame(say("low_confidence", language), unknown)
    return _Frame()


def _quoted_part(part: str) -> str:
    """A part of the question as data: one line, no marks, no markup."""
    line = " ".join(part.split())[:_LONGEST_PART].rstrip("?!. ")
    return escaped(in_prose(line, lambda text: text.replace("<", "&lt;")))


def _unframed(text: str, state: State) -> str:
    """The text without what an earlier verification put around it, so that twice is once."""
    for label in (source_label(state["draft"].given, state["language"]), ""):
        frame = _frame(state, label)
        if frame.head and text.startswith(f"{frame.head}\n\n"):
            text = text.removeprefix(f"{frame.head}\n\n").removesuffix(f"\n\n{frame.tail}")
    return text
