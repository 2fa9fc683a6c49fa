"""What a sentence, an item or a row states: its words, and the values they come with.

Two statements contrast when they say the same of different values: "kept for 35 days" and "kept
for 21 days". Quantities of one dimension are compared as such: 24 hours are a day.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

from graph import quantities
from graph.literals import Claim, Literal, fold, of_text, plain
from graph.mentions import names
from graph.text import content_words
from graph.units import Unit

_KEPT = 2048  # units that are remembered
_ALIKE = 0.8  # share of common words
_VALUES = frozenset(
    (Claim.EMAIL, Claim.ADDRESS, Claim.HOST, Claim.PATH, Claim.DATE, Claim.TIME, Claim.NUMBER)
)
_DIGIT = re.compile(r"\d")
_DIMENSIONS: Mapping[str, tuple[str, float]] = {
    "us": ("time", 1e-6), "ms": ("time", 1e-3), "s": ("time", 1), "min": ("time", 60),
    "h": ("time", 3600), "d": ("time", 86_400), "w": ("time", 604_800),
    "b": ("size", 1), "kb": ("size", 1e3), "mb": ("size", 1e6), "gb": ("size", 1e9),
    "tb": ("size", 1e12), "ki": ("size", 2**10), "mi": ("size", 2**20), "gi": ("size", 2**30),
    "ti": ("size", 2**40),
}  # fmt: skip

Value = frozenset[str]
"""The readings of one value."""


@dataclass(frozen=True, slots=True)
class Statement:
    """`names`: identifiers, code and links. `values`: by dimension or kind, in no order."""

    stems: frozenset[str]
    names: frozenset[str]
    values: Mapping[str, frozenset[Value]]


@lru_cache(maxsize=_KEPT)
def statement(unit: Unit) -> Statement:
    """What a unit of a passage states."""
    return _statement(f"{unit.lead} {unit.text}")


def _statement(text: str) -> Statement:
    values: dict[str, set[Value]] = {}
    own: set[str] = set()
    left = fold(plain(text))
    for item in sorted(of_text(text), key=lambda item: -len(item.text)):
        left = left.replace(item.text, " ")
        if item.kind in _VALUES or _is_path(item):
            kind, value = _value(item)
            values.setdefault(kind, set()).add(value)
        else:
            own.add(item.text.lower())
    own |= {name.lower() for name in names(left)}
    stems = {stem for _, stem in content_words(left) if not _DIGIT.search(stem)}
    frozen = {kind: frozenset(found) for kind, found in values.items()}
    return Statement(frozenset(stems), frozenset(own), frozen)


def _is_path(item: Literal) -> bool:
    return item.kind is Claim.CODE and item.text.startswith(("/", "~/")) and " " not in item.text


def _value(item: Literal) -> tuple[str, Value]:
    if item.kind is Claim.NUMBER:
        for amount in quantities.amounts(item.text):
            return _measure(amount.values, amount.unit)
    if item.kind is Claim.TIME:
        clocks = {str(clock) for moment in quantities.times(item.text) for clock in moment.clocks}
        return item.kind, frozenset(clocks)
    if item.kind is Claim.DATE:
        days = {str(day) for moment in quantities.dates(item.text) for day in moment.days}
        return item.kind, frozenset(days)
    kind = Claim.PATH if item.kind is Claim.CODE else item.kind
    return kind, frozenset({item.text.rstrip("/").lower()})


def _measure(readings: frozenset[str], unit: str) -> tuple[str, Value]:
    dimension, factor = _DIMENSIONS.get(unit, (unit or "number", 1))
    return dimension, frozenset(_scaled(reading, factor) for reading in readings)


def _scaled(reading: str, factor: float) -> str:
    try:
        return f"{float(reading) * factor:.9g}"
    except ValueError:  # a version
        return reading


def alike(first: frozenset[str], second: frozenset[str]) -> bool:
    """True when two sets of words are nearly the same."""
    return len(first & second) >= _ALIKE * max(len(first | second), 1)


def values_differ(first: Statement, second: Statement) -> bool:
    """True when both have values of the same kinds, as many, and some are on one side only."""
    if first.values.keys() != second.values.keys() or not first.values:
        return False
    counts = [(first.values[kind], second.values[kind]) for kind in first.values]
    if any(len(mine) != len(others) for mine, others in counts):
        return False
    return any(not all(_among(value, others) for value in mine) for mine, others in counts)


def _among(value: Value, others: frozenset[Value]) -> bool:
    return any(value & other for other in others)
