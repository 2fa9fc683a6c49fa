"""When a question fits two services or two environments and names neither: which one is meant?

Asked only where the documents are siblings (`db-prod` and `db-staging`, "Payments queue" and
"Orders queue"), both answer, their answers differ, and the question speaks of what they share.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath

from graph.environment import named_environments
from graph.model import LANGUAGES, Passage, QueryType, Ranked
from graph.split import split
from graph.statements import statement
from graph.text import content_words, fold, stem
from graph.unit_score import UnitScore
from graph.units import Unit, units
from graph.view import QuestionView

_OPTIONS = 4
_AS_GOOD = 0.85  # share of the best relevance
_SIMILAR = 0.5  # share of common words of two answers
_AS_MUCH = 0.1  # of coverage, less than the best document's
_PIECE = re.compile(r"[^\W_]+")
_OF_EACH = re.compile(
    r"\b(?:all|each|every|both|any|list|compare|differ\w*|which (?:one|service|environment)s?"
    r"|versus|vs|вс[её]|всех|всем|всеми|кажд\w+|об[ае]|обоих|люб\w+|сравни\w*|отлича\w+|разниц\w+|перечисли\w*)\b",
    re.IGNORECASE,
)
_LOCALES = frozenset(LANGUAGES)


@dataclass(frozen=True, slots=True)
class Option:
    """A document that may be meant, with what it answers."""

    ranked: Ranked
    unit: Unit


def choice(
    view: QuestionView, ranked: Sequence[Ranked], query_type: QueryType
) -> tuple[Option, ...]:
    """The documents between which the asker has to choose, best first; none when it is clear."""
    several = _OF_EACH.search(view.text) or len(split(view.text, _OPTIONS)) > 1
    if not ranked or query_type is QueryType.SYNTHESIS or several:
        return ()
    first = ranked[0]
    others = [item for item in _as_good(ranked) if _are_siblings(first.passage, item.passage, view)]
    best = _answer(view, first) if others else None
    if best is None:
        return ()
    found = [option for item in others if (option := _answer(view, item)) is not None]
    apart = [option for option in found if _differ(best, option)]
    return (best, *apart)[:_OPTIONS] if apart else ()


def _as_good(ranked: Sequence[Ranked]) -> Iterator[Ranked]:
    """The best passage of each other document that fits about as well as the best."""
    first = ranked[0]
    seen = {(first.passage.source, first.passage.document)}
    for item in ranked[1:]:
        scores, key = item.scores, (item.passage.source, item.passage.document)
        relevant = scores.relevance >= _AS_GOOD * first.scores.relevance
        if key not in seen and relevant and scores.coverage >= first.scores.coverage - _AS_MUCH:
            yield item
        seen.add(key)


def _answer(view: QuestionView, item: Ranked) -> Option | None:
    score = UnitScore(view)
    found = max(units(item.passage.text), key=lambda unit: score.of(unit, item), default=None)
    return None if found is None else Option(item, found)


def _are_siblings(one: Passage, other: Passage, view: QuestionView) -> bool:
    names = _name(one), _name(other)
    environments = [named_environments(" ".join(name)) for name in names]
    shared = [word for word in _stem(one) if word in _stem(other)]
    if environments[0] != environments[1]:
        shared += [word for word in _words(one.title) if word in _words(other.title)]
    if not _mentions(view, shared):
        return False  # what they share is not what is asked about
    if environments[0] != environments[1]:
        if not all(environments) or view.environments:
            return False
        names = _without(names[0], environments[0]), _without(names[1], environments[1])
        return set(names[0]) == set(names[1])
    apart = _apart(names)
    return apart is not None and not _mentions(view, apart)


def _name(passage: Passage) -> tuple[str, ...]:
    """The words of the path, language and file type left out."""
    return _words(str(PurePosixPath(passage.document).parent)) + _stem(passage)


def _stem(passage: Passage) -> tuple[str, ...]:
    """The words of the file name."""
    return _words(PurePosixPath(passage.document).name.split(".")[0])


def _words(path: str) -> tuple[str, ...]:
    return tuple(fold(word) for word in _PIECE.findall(path) if fold(word) not in _LOCALES)


def _without(name: tuple[str, ...], environments: frozenset[str]) -> tuple[str, ...]:
    return tuple(word for word in name if not named_environments(word) & environments)


def _apart(names: tuple[tuple[str, ...], tuple[str, ...]]) -> tuple[str, str] | None:
    """The one pair of words in which two names differ; None when they differ otherwise."""
    if len(names[0]) != len(names[1]):
        return None
    pairs = [pair for pair in zip(*names, strict=True) if pair[0] != pair[1]]
    return pairs[0] if len(pairs) == 1 and all(map(str.isalpha, pairs[0])) else None


def _mentions(view: QuestionView, words: Sequence[str]) -> bool:
    stems = {stem(word) for word in words}
    reached = {item for word in view.words for lang in LANGUAGES for item in word.worths(lang)}
    return bool(stems & reached) or any(word in fold(view.text) for word in words)


def _differ(first: Option, second: Option) -> bool:
    """True when two documents answer in the same form and in similar words, differently."""
    mine, others = statement(first.unit), statement(second.unit)
    if mine == others or first.unit.text == second.unit.text:
        return False
    own = [_own_words(option.ranked.passage) for option in (first, second)]
    stems = mine.stems - own[0], others.stems - own[1]
    similar = len(stems[0] & stems[1]) >= _SIMILAR * max(len(stems[0] | stems[1]), 1)
    return first.unit.shape is second.unit.shape and (similar or "\n" in first.unit.text)


def _own_words(passage: Passage) -> frozenset[str]:
    """What the words of a document say of itself, not of what it answers."""
    named = " ".join((passage.title, *_name(passage)))
    return frozenset(item for _, item in content_words(named))
