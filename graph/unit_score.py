"""How well a unit of a passage answers a question, when no model words the answer."""

from __future__ import annotations

import re
from functools import lru_cache
from pathlib import PurePosixPath

from graph.model import Language, Passage, Ranked
from graph.quantities import amounts, spelled
from graph.units import Shape, Unit
from graph.view import Coverage, QuestionView

_OF_ITSELF, _IN_CONTEXT, _OF_PASSAGE, _ASKED_SHAPE = 0.4, 0.6, 0.5, 0.25
_AMID_STEPS = 0.5  # an amount among steps or commands is seldom the one that was asked for
_KEPT = 2048  # units and names that are remembered
_HOW = re.compile(
    r"\bhow (?:do|to|can|should|would)\b|\b(?:steps|procedure|commands?|restart|roll ?back|recover"
    r"|mitigate|fix)\b|\bwhat (?:do|should|can) (?:i|we)\b"
    r"|\bкак\b(?! (?:долго|часто|много))|команд|шаги|порядок действий|что делать|перезапус"
    r"|восстанов|откатить|почин",
    re.IGNORECASE,
)
_WHAT_IS = re.compile(
    r"\bmean(?:s|ing)?\b|\bdefin|что (?:такое|знач|означа)|\bзначени[ея] (?:ошибки|кода|алерта)"
    r"|^\W*what (?:is|are) (?:an? |the )?(?:error|alert|alarm|code|job|metric)\b",
    re.IGNORECASE,
)
_TELLS_WHAT = re.compile(
    r"\bmean|\bdefin|\bwhat (?:it|this|that) |что (?:это|знач|означа)|значени|\bsummary\b|описани",
    re.IGNORECASE,
)
_HOW_MUCH = re.compile(
    r"\bhow (?:long|many|much|often|big|old)\b|\b(?:port|threshold|timeout|limit|retention|percent"
    r"|number|version|window|when|capacity|size|default|interval|time)\b"
    r"|сколько|как (?:долго|часто)|порт|порог|лимит|таймаут|когда|верси|процент",
    re.IGNORECASE,
)


class UnitScore:
    """The score of units for one question."""

    def __init__(self, view: QuestionView) -> None:
        self._view = view
        self._coverages: dict[Language, Coverage] = {}
        self._above: dict[tuple[Language, str], frozenset[str]] = {}
        self._how_much = _HOW_MUCH.search(view.text) is not None
        self._how = _HOW.search(view.text) is not None
        self._what = _WHAT_IS.search(view.text) is not None

    def of(self, unit: Unit, item: Ranked) -> float:
        """Own words, words with the headings above, relevance of the passage, the asked shape."""
        passage = item.passage
        coverage = self._coverage(passage.language)
        own = coverage.found(f"{unit.lead}\n{unit.text}\n{' '.join(unit.columns)}")
        above = self._found_above(unit, passage)
        return (
            _OF_ITSELF * coverage.of(own)
            + _IN_CONTEXT * coverage.of(own | above)
            + _OF_PASSAGE * item.scores.relevance
            + _ASKED_SHAPE * self._fits(unit)
        )

    def _found_above(self, unit: Unit, passage: Passage) -> frozenset[str]:
        """The asked stems in the headings over a unit; many units stand under the same ones."""
        above = passage.language, "\n".join((*names(passage), *unit.heading))
        if above not in self._above:
            self._above[above] = self._coverage(passage.language).found(above[1])
        return self._above[above]

    def _coverage(self, language: Language) -> Coverage:
        if language not in self._coverages:
            self._coverages[language] = Coverage(self._view, language)
        return self._coverages[language]

    def _fits(self, unit: Unit) -> float:
        if self._what:
            return float(_tells_what(unit))
        if self._how_much:
            steps = unit.shape in (Shape.PROCEDURE, Shape.COMMANDS)
            return _holds_amount(unit) * (_AMID_STEPS if steps else 1.0)
        if self._how:
            return {Shape.PROCEDURE: 1.0, Shape.COMMANDS: 0.7}.get(unit.shape, 0.0)
        return 0.0


def names(passage: Passage) -> tuple[str, ...]:
    """What stands above a passage: title, headings, file name."""
    return passage.title, *passage.heading, _file_name(passage.document)


@lru_cache(maxsize=_KEPT)
def _file_name(document: str) -> str:
    return PurePosixPath(document).stem


@lru_cache(maxsize=_KEPT)
def _tells_what(unit: Unit) -> bool:
    """Whether a unit stands where a page says what its subject means: by heading or column."""
    return _TELLS_WHAT.search("\n".join((*unit.heading[-1:], *unit.columns))) is not None


@lru_cache(maxsize=_KEPT)
def _holds_amount(unit: Unit) -> bool:
    text = f"{unit.lead} {unit.text}"
    return any(True for _ in amounts(text)) or any(amount.unit for amount in spelled(text))
