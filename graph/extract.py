"""Answers without a model: the best units of the evidence, quoted word for word, with marks.

Nothing is reworded or merged. A procedure keeps its steps, a table row the names of its columns;
the asked environment wins; of two editions the newer is quoted first, the older with its date.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import PurePosixPath

from graph.blocks import blocks, join
from graph.context import key_of, label
from graph.editions import older_editions
from graph.environment import asked_environments, named_environments
from graph.marks import escaped
from graph.model import Language, Passage, QueryType, Ranked, Verdict
from graph.phrases import day, say
from graph.quantities import amounts
from graph.state import SubQuestion
from graph.text import content_stems, tokens
from graph.translations import translated
from graph.unit_score import UnitScore, names
from graph.units import Shape, Unit, units
from graph.view import QuestionView

FACTUAL_LENGTH, LENGTH = 900, 1800  # characters
_PROCEDURE_LENGTH = 2400  # a procedure is cut only beyond this
_MORE = "[…]"
_STEP = re.compile(r"\s*(\d{1,3})[.)]\s")
_UNITS = {QueryType.FACTUAL: 3, QueryType.ANALYTICAL: 5, QueryType.SYNTHESIS: 7}
_CLOSE = {QueryType.FACTUAL: 0.8, QueryType.ANALYTICAL: 0.65, QueryType.SYNTHESIS: 0.55}
_COMPARABLE = 0.6  # share of the best relevance that a passage needs to be quoted


@dataclass(frozen=True, slots=True)
class _Quote:
    unit: Unit
    number: int  # of the passage, from 1
    score: float


def extract(
    view: QuestionView,
    given: Sequence[Ranked],
    query_type: QueryType,
    parts: Sequence[SubQuestion] = (),
) -> str:
    """The extractive answer as Markdown; mark `[n]` points at `given[n - 1]`. "" without text."""
    quotes = _quotes(given, view.language)
    answered = [part for part in parts if part.grade and part.grade.verdict is not Verdict.NONE]
    limit = FACTUAL_LENGTH if query_type is QueryType.FACTUAL else LENGTH
    if len(answered) < 2:  # noqa: PLR2004
        return _written(_chosen(view, given, quotes, query_type, limit), view, given)
    sections: list[str] = []
    used: set[tuple[int, int]] = set()
    for part in answered:
        own = _of_part(part, given, quotes)
        fresh = [quote for quote in own if (quote.number, quote.unit.place) not in used]
        part_view = _narrowed(view, part.text)
        part_type = part.decision.query_type if part.decision else query_type
        chosen = _chosen(part_view, given, fresh or own, part_type, limit // len(answered))
        used |= {(quote.number, quote.unit.place) for quote in chosen}
        heading = escaped(label(part.text))
        sections.append(f"### {heading}\n\n{_written(chosen, part_view, given)}")
    return "\n\n".join(sections)


def _quotes(given: Sequence[Ranked], language: Language) -> list[_Quote]:
    twins = translated([item.passage for item in given], language)
    best = max((item.scores.relevance for item in given), default=0.0)
    return [
        _Quote(unit, number, 0.0)
        for number, item in enumerate(given, start=1)
        if item.scores.relevance >= _COMPARABLE * best and number - 1 not in twins
        for unit in units(item.passage.text)
    ]


def _of_part(
    part: SubQuestion, given: Sequence[Ranked], quotes: Sequence[_Quote]
) -> Sequence[_Quote]:
    found = {key_of(item.passage) for item in part.ranked[: len(given)]}
    own = [quote for quote in quotes if key_of(given[quote.number - 1].passage) in found]
    return own or quotes


def _narrowed(view: QuestionView, text: str) -> QuestionView:
    """The view of a part of the question: only its own words count."""
    stems = content_stems(text)
    words = tuple(word for word in view.words if word.stem in stems)
    return replace(view, text=text, words=words or view.words)


# Choosing


def _chosen(
    view: QuestionView,
    given: Sequence[Ranked],
    quotes: Sequence[_Quote],
    query_type: QueryType,
    limit: int,
) -> list[_Quote]:
    kept = _of_environment(view.text, given, quotes)
    score = UnitScore(view)
    scored = [
        _Quote(quote.unit, quote.number, score.of(quote.unit, given[quote.number - 1]))
        for quote in kept
    ]
    scored.sort(key=lambda quote: -quote.score)
    chosen: list[_Quote] = []
    left = limit
    for quote in scored:
        near = quote.score >= _CLOSE[query_type] * scored[0].score
        length = len(quote.unit.text) + len(quote.unit.lead)
        if not chosen or (near and length <= left and not _repeats(quote, chosen)):
            chosen.append(quote)
            left -= length
        if len(chosen) == _UNITS[query_type]:
            break
    in_reading_order = query_type is not QueryType.FACTUAL
    chosen = _with_newer_editions(_without_leads(chosen), scored, given)
    return _in_order(chosen, given, in_reading_order)


def _of_environment(
    question: str, given: Sequence[Ranked], quotes: Sequence[_Quote]
) -> Sequence[_Quote]:
    """Without what belongs to another environment than the asked, unless nothing else is there."""
    asked = asked_environments(question)
    if not asked:
        return quotes
    kept = [quote for quote in quotes if _may_concern(asked, given, quote)]
    return kept or quotes


def _may_concern(asked: frozenset[str], given: Sequence[Ranked], quote: _Quote) -> bool:
    unit = quote.unit
    own = asked_environments(f"{unit.lead} {unit.text}") | named_environments(
        " ".join((*unit.heading, *unit.columns))
    )
    named = own or named_environments(" ".join(names(given[quote.number - 1].passage)))
    return not named or bool(named & asked)


def _repeats(quote: _Quote, chosen: Iterable[_Quote]) -> bool:
    text = quote.unit.text
    return any(text in _whole(other.unit) or other.unit.text in text for other in chosen)


def _whole(unit: Unit) -> str:
    return f"{unit.lead}\n{unit.text}"


def _without_leads(chosen: Sequence[_Quote]) -> list[_Quote]:
    """A sentence that also introduces a chosen block of commands is said once."""
    leads = [quote.unit.lead for quote in chosen if quote.unit.lead]
    return [quote for quote in chosen if not any(quote.unit.text in lead for lead in leads)]


def _with_newer_editions(
    chosen: list[_Quote], scored: Sequence[_Quote], given: Sequence[Ranked]
) -> list[_Quote]:
    """An older edition is quoted only beside the newer, and only where it says something else."""
    older = older_editions([item.passage for item in given])
    for quote in list(chosen):
        newer = older.get(quote.number - 1)
        if newer is None:
            continue
        same = next((other for other in chosen if other.number == newer + 1), None)
        best = same or next((other for other in scored if other.number == newer + 1), None)
        if best is not None and same is None:
            chosen.append(best)
        if best is not None and _says_the_same(quote.unit, best.unit):
            chosen.remove(quote)
    return chosen


def _says_the_same(first: Unit, second: Unit) -> bool:
    def values(unit: Unit) -> set[frozenset[str]]:
        return {amount.values for amount in amounts(unit.text)}

    return " ".join(first.text.split()) == " ".join(second.text.split()) or (
        bool(values(first)) and values(first) == values(second)
    )


def _in_order(
    chosen: Sequence[_Quote], given: Sequence[Ranked], in_reading_order: bool
) -> list[_Quote]:
    """Passages by their best quote, older editions last; inside, as read or the best first."""
    older = older_editions([item.passage for item in given])
    best: dict[int, float] = {}
    for quote in chosen:
        best[quote.number] = max(best.get(quote.number, 0.0), quote.score)
    return sorted(
        chosen,
        key=lambda quote: (
            quote.number - 1 in older,
            -best[quote.number],
            quote.number,
            quote.unit.place if in_reading_order else -quote.score,
        ),
    )


# Writing


def _written(chosen: Sequence[_Quote], view: QuestionView, given: Sequence[Ranked]) -> str:
    older = older_editions([item.passage for item in given])
    shown: list[str] = []
    told: set[int] = set()
    before: _Quote | None = None
    for quote in chosen:
        passage = given[quote.number - 1].passage
        if before is not None and _same_list(before, quote):
            shown[-1] += f"\n{quote.unit.text}"
            continue
        before = quote
        if quote.number - 1 in older and quote.number not in told:
            told.add(quote.number)
            shown.append(_older(passage, quote.number, view.language))
        goes_on = any(_continues(quote.unit, passage, item.passage) for item in given)
        shown.append(_shown(quote, view, passage) + (f"\n\n{_MORE}" if goes_on else ""))
    return "\n\n".join(shown)


def _same_list(before: _Quote, quote: _Quote) -> bool:
    same = (before.number, before.unit.lead) == (quote.number, quote.unit.lead)
    return same and bool(quote.unit.lead) and before.unit.shape is quote.unit.shape is Shape.LIST


def _older(passage: Passage, number: int, language: Language) -> str:
    title = escaped(label(passage.title) or PurePosixPath(passage.document).name)
    date = day(passage.updated_at, language)
    return f"{say('older_edition', language, title=title, date=date)} [{number}]"


def _shown(quote: _Quote, view: QuestionView, passage: Passage) -> str:
    unit, mark = quote.unit, f"[{quote.number}]"
    if unit.shape is Shape.SENTENCE:
        return f"{unit.text} {mark}"
    if unit.shape is Shape.ROW:
        return f"- {_row(unit, view, passage.language)} {mark}"
    if unit.shape is Shape.LIST and not unit.lead:
        return _marked_item(unit.text, mark)
    title = (*passage.heading, *unit.heading)[-1:] or (passage.title,)
    lead = unit.lead.rstrip() or f"{escaped(label(title[0])) or passage.document}:"
    text = _from_asked_step(unit.text, view, passage.language)
    before = f"{_MORE}\n\n" if unit.shape is Shape.PROCEDURE and _step(text) > 1 else ""
    return f"{_marked(lead, mark)}\n\n{before}{_bounded(text)}"


def _from_asked_step(text: str, view: QuestionView, language: Language) -> str:
    """A procedure that will be cut, from the step that was asked for if that would be cut off."""
    if len(text) <= _PROCEDURE_LENGTH:
        return text
    found = list(blocks(text))
    starts = [
        at
        for at, block in enumerate(found)
        if _STEP.match(block.text) and not block.text[:1].isspace()
    ]
    steps = [join(found[start:end]) for start, end in pairwise((*starts, len(found)))]
    if not steps:
        return text
    covered = [view.coverage(tokens(step), language) for step in steps]
    asked = max(range(len(steps)), key=covered.__getitem__)
    shown = len(join(found[: (*starts, len(found))[asked + 1]])) <= _PROCEDURE_LENGTH
    return text if shown else join(found[starts[asked] :])


def _continues(unit: Unit, passage: Passage, other: Passage) -> bool:
    """Whether the section of `passage`, cut between two steps, goes on in `other`."""
    same = (passage.source, passage.document, passage.heading)
    if unit.shape is not Shape.PROCEDURE or _bounded(unit.text) != unit.text:
        return False
    if same != (other.source, other.document, other.heading):
        return False
    lines = [line for line in unit.text.split("\n") if not line[:1].isspace()]
    last = max(map(_step, lines), default=0)
    return other.lines[0] > passage.lines[1] and _step(other.text) == last + 1


def _step(text: str) -> int:
    """The number of the step that `text` begins with; 0 for none."""
    match = _STEP.match(text)
    return int(match[1]) if match else 0


def _row(unit: Unit, view: QuestionView, language: Language) -> str:
    """The cells under the columns that were asked for, after the first, which names the row."""
    if not unit.columns:
        return unit.text
    pairs = list(zip(unit.columns, unit.cells, strict=False))
    worth = [view.coverage(tokens(column), language) for column, _ in pairs]
    asked = max(worth[1:], default=0.0)
    kept = [
        (column, cell)
        for place, (column, cell) in enumerate(pairs)
        if cell and (place == 0 or not asked or worth[place] >= asked)
    ]
    return ", ".join(f"{column}: {cell}" if column else cell for column, cell in kept)


def _marked_item(text: str, mark: str) -> str:
    """The mark goes behind the words of the item, before what is nested under it."""
    first, *nested = blocks(text)
    return "\n".join((_marked(first.text, mark), *(block.text for block in nested)))


def _marked(text: str, mark: str) -> str:
    text = text.rstrip()
    return f"{text[:-1]} {mark}:" if text.endswith(":") else f"{text} {mark}"


def _bounded(text: str) -> str:
    """`text`, cut between blocks when it is longer than a procedure may be.

    What is missing is marked, also behind a step whose commands are in the next passage.
    """
    if len(text) <= _PROCEDURE_LENGTH:
        return f"{text}\n\n{_MORE}" if text.rstrip().endswith(":") else text
    kept = list(blocks(text))
    while len(kept) > 1 and len(join(kept)) > _PROCEDURE_LENGTH:
        kept.pop()
    return f"{join(kept).rstrip()}\n\n{_MORE}"
