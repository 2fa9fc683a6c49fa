"""decline: says honestly that the documents hold no answer, and what would help instead; or asks
which of several things is meant.

It names the nearest documents and who could know, tells an empty web search from one that failed,
and cites nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from langgraph.runtime import Runtime

from graph.choices import Option
from graph.model import Answer, Citation, Confidence, Language, Outcome, Passage, Ranked, SourceType
from graph.nodes.generate import REFUSED
from graph.phrases import listed, never_mentioned, say
from graph.smalltalk import courtesy
from graph.state import Context, Stage, State
from graph.text import question_language

_NEAREST = 3  # documents shown
_NOT_DOCUMENTS = (SourceType.WEB, SourceType.SESSION)
_MARKUP = re.compile(r"([\\`*\[\]<>|])")


async def decline(state: State, runtime: Runtime[Context]) -> State:
    """Sets the answer for small talk and for questions that the documents do not answer."""
    if "answer" in state:
        return {}
    runtime.stream_writer(Stage("decline"))
    question = state["question"]
    language = state.get("language") or question_language(question.text)
    answer = courtesy(question, language)
    if answer is None and state.get("options"):
        answer = _which_one(state, language)
    return {"answer": answer or _not_found(state, language, runtime.context)}


def _which_one(state: State, language: Language) -> Answer:
    """One question back, with what the documents say for each thing that may be meant."""
    options = state["options"]
    names = _told_apart([option.ranked.passage for option in options])
    lines = [
        f"- {name}{_quoted(option)} [{number}]"
        for number, (name, option) in enumerate(zip(names, options, strict=True), start=1)
    ]
    asked = say("which_one", language, options=listed(names, language, say("or", language)))
    return Answer(
        question_id=state["question"].id,
        outcome=Outcome.PARTIAL,
        text="\n".join((asked, "", *lines)),
        language=language,
        citations=tuple(
            Citation(number, option.ranked.passage, option.ranked.scores.relevance)
            for number, option in enumerate(options, start=1)
        ),
        nearest=tuple(option.ranked for option in options),
        confidence=Confidence.LOW,
        notes=tuple(dict.fromkeys(state.get("notes", ()))),
    )


def _told_apart(passages: Sequence[Passage]) -> list[str]:
    """Titles, with the place of the documents where they alone do not tell which is which."""
    titles = [_title(passage) for passage in passages]
    if len(set(titles)) == len(titles):
        return titles
    return [
        f"{title} (`{_plain(passage.document)}`)"
        for title, passage in zip(titles, passages, strict=True)
    ]


def _title(passage: Passage) -> str:
    return _escaped(passage.title or passage.document)


def _quoted(option: Option) -> str:
    """What a document answers, when it is one line; a procedure is left for the answer itself."""
    text = option.unit.text.strip()
    return "" if "\n" in text else f": {text.removeprefix('- ').removeprefix('* ')}"


def nearest_documents(state: State) -> tuple[Ranked, ...]:
    """The best passage of each of the nearest documents, best first."""
    ranked = (*state.get("ranked", ()), *state.get("considered", ()))
    found: dict[tuple[str, str], Ranked] = {}
    for item in ranked:
        if item.passage.source_type not in _NOT_DOCUMENTS:
            found.setdefault((item.passage.source, item.passage.document), item)
    return tuple(found.values())[:_NEAREST]


def _not_found(state: State, language: Language, context: Context) -> Answer:
    nearest = nearest_documents(state)
    paragraphs = [
        " ".join(_findings(state, language, context)),
        _nearest_list(nearest, language),
        _hand_off(nearest, language),
    ]
    return Answer(
        question_id=state["question"].id,
        outcome=Outcome.NOT_FOUND,
        text="\n\n".join(paragraph for paragraph in paragraphs if paragraph),
        language=language,
        nearest=nearest,
        notes=tuple(dict.fromkeys(state.get("notes", ()))),
    )


def _findings(state: State, language: Language, context: Context) -> Iterable[str]:
    draft, grade = state.get("draft"), state.get("grade")
    if draft is not None and draft.insufficient == REFUSED:
        yield say("refused", language)
        return
    close = draft is not None and draft.insufficient is not None and "web" not in state
    yield say("insufficient" if close else "not_found", language)
    if grade is not None and grade.unknown_terms:
        yield never_mentioned(grade.unknown_terms, language)
    types = state["question"].scope.source_types
    key = _web_key(state, context)
    if types is not None:
        kinds = listed([f"`{kind}`" for kind in sorted(types)], language)
        yield say("only_types", language, types=kinds)
    elif key:
        yield say(key, language)


def _web_key(state: State, context: Context) -> str | None:
    web = state.get("web")
    if web is None:
        allowed = context.policy.web and state["question"].web_allowed
        return None if allowed and context.ports.web is not None else "web_off"
    return {"failed": "web_failed", "empty": "web_empty", "found": "web_useless"}[web.status]


def _nearest_list(nearest: Iterable[Ranked], language: Language) -> str:
    items = [_item(ranked.passage, language) for ranked in nearest]
    return "\n".join([say("nearest", language), *items]) if items else ""


def _item(passage: Passage, language: Language) -> str:
    place = f"`{_plain(passage.document)}`"
    if passage.owner:
        place += f", {say('owner', language, owner=_escaped(passage.owner))}"
    return f"- {_title(passage)} ({place})"


def _hand_off(nearest: Iterable[Ranked], language: Language) -> str:
    owners = dict.fromkeys(_escaped(item.passage.owner) for item in nearest if item.passage.owner)
    sentences = [say("ask_person", language, people=", ".join(owners))] if owners else []
    return " ".join([*sentences, say("hand_off", language)])


def _escaped(text: str) -> str:
    """Document text as plain text inside Markdown."""
    return _MARKUP.sub(r"\\\1", " ".join(text.split()))


def _plain(text: str) -> str:
    """Document text that can stand inside a code span."""
    return " ".join(text.replace("`", "'").split())
