"""What one passage says, read once: its commands, links, numbers, dates and times.

The same passages are given for question after question, so readings are kept, the least recently
used go first.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache

from graph import quantities
from graph.blocks import Kind, blocks, code_spans
from graph.literals import command_lines, fold, plain
from graph.marks import MARK
from graph.model import Passage

URL_TAIL = ".,;:!?)/*_"
"""Characters that end a sentence around an address rather than the address."""

_KEPT = 256  # readings; each holds its passage a few times over
_ADDRESS = re.compile(r"[a-zA-Z][\w+.-]*:(?://)?[^\s<>\"'`\]|]+|www\.[^\s<>\"'`\]|]+")
_NAMED_NUMBER = re.compile(r"[^\W\d_][\w.]*-\d[\w.-]*")
_INSIDE_NAME = re.compile(r"(\d)(?<=[^\W\d_]\d)|_")


@dataclass(frozen=True, eq=False)  # no slots: each part is read when it is first asked for
class Reading:
    """A passage with everything that its reader sees. All parts are folded (graph/literals.py)."""

    text: str

    @cached_property
    def flat(self) -> str:
        """The text in one line."""
        return fold(self.text)

    @cached_property
    def prose(self) -> str:
        """The text in one line, without emphasis."""
        return " ".join(self._readable.split())

    @cached_property
    def commands(self) -> tuple[str, ...]:
        """Lines of fences, and inline code."""
        return tuple(dict.fromkeys(_commands(self.text)))

    @cached_property
    def urls(self) -> frozenset[str]:
        return frozenset(_urls(self.text))

    def links_to(self, url: str) -> bool:
        return url in self.text and url in self.urls

    @cached_property
    def amounts(self) -> Mapping[str, frozenset[str]]:
        """Numbers with their units; the digits of dates and names have the unit "part"."""
        found: dict[str, set[str]] = {}
        text = self._readable
        for amount in (*quantities.amounts(self._free_standing()), *quantities.spelled(text)):
            for value in amount.values:
                found.setdefault(value, set()).add(amount.unit)
        for amount in quantities.amounts(_INSIDE_NAME.sub(r" \1", text)):
            for value in amount.values:
                found.setdefault(value, set()).add("part")
        return {value: frozenset(units) for value, units in found.items()}

    @cached_property
    def days(self) -> frozenset[quantities.Day]:
        return frozenset(day for moment in self._dates for day in moment.days)

    @cached_property
    def clocks(self) -> frozenset[quantities.Clock]:
        return frozenset(clock for moment in self._times for clock in moment.clocks)

    @cached_property
    def _readable(self) -> str:
        return plain(MARK.sub(r"\\[\1\\]", self.text))

    @cached_property
    def _dates(self) -> tuple[quantities.Moment, ...]:
        return tuple(quantities.dates(self._readable))

    @cached_property
    def _times(self) -> tuple[quantities.Moment, ...]:
        return tuple(quantities.times(self._readable))

    def _free_standing(self) -> str:
        text = self._readable
        for moment in (*self._dates, *self._times):
            end = moment.start + len(moment.text)
            text = text[: moment.start] + " " * len(moment.text) + text[end:]
        return "\n".join(
            _NAMED_NUMBER.sub(" ", line) if "-" in line else line for line in text.split("\n")
        )


def reading(passage: Passage) -> Reading:
    """Everything of a passage that its reader sees: text, headings, place, owner, version, day."""
    updated = f"{passage.updated_at:%Y-%m-%d}" if passage.updated_at else ""
    heading = (passage.title, *passage.heading, passage.document, passage.uri, passage.owner)
    return _read("\n\n".join([passage.text, *heading, passage.version, updated]))


@lru_cache(maxsize=_KEPT)
def _read(text: str) -> Reading:
    return Reading(text)


def _commands(text: str) -> Iterator[str]:
    for block in blocks(text):
        if block.kind is Kind.FENCE:
            yield from (fold(line) for line in command_lines(block.code))
        else:
            yield from (fold(content) for _, _, content in code_spans(block.text))


def _urls(text: str) -> Iterator[str]:
    for match in _ADDRESS.finditer(text):
        yield match.group().rstrip(URL_TAIL)
        yield match.group().split(")")[0].rstrip(URL_TAIL)
