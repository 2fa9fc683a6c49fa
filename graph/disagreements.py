"""Two documents that say different things of one subject: both are shown, with their dates.

Only what can be told for sure counts: nearly the same words about a subject that both name, in
documents of one environment and about the same alert, host or year, with different quantities,
times, addresses or paths. An older edition (graph/editions.py) is no disagreement.
"""

from __future__ import annotations

import re
from collections.abc import Container, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import PurePosixPath

from graph.context import label
from graph.editions import older_editions
from graph.environment import asked_environments, named_environments
from graph.marks import escaped, without_marks
from graph.model import Language, Passage, SourceType
from graph.phrases import day, say
from graph.statements import alike, statement, values_differ
from graph.text import WORD, content_stems, fold
from graph.units import Shape, Unit, units

_SAYS_WHAT = 4  # words from which a statement names its own subject; fewer if they are the asked
_SAYS_A_NAME = 2  # beside a name
_ONE_TOPIC = 0.5  # share of common words of two titles
_NOT_DOCUMENTS = (SourceType.WEB, SourceType.SESSION)
_VALUE = re.compile(r"\d+|[\w.-]*/[\w./-]+")
_HAS_VALUE = re.compile(r"[\d/](?:(?<=\d)|(?=[\w./-]))")  # where _VALUE finds something
_EXAMPLE = re.compile(r"\W*(?:for example|e\.g\.|for instance|например)\b", re.IGNORECASE)
_IDENTIFIER = re.compile(r"\d|[a-z][A-Z]|[A-Z]{2}[a-z]|_")
_STAND_IN = re.compile(  # "the service": the document tells which
    r"\b(?:the|this|our|each|every|an?) (?:service|app|application|alert|component|system|host|node"
    r"|instance|cluster|pod|container|server|job|incident|outage)\b"
    r"|\b(?:сервис|приложени|алерт|компонент|систем|хост|уз(?:ел|л)|нод|сервер|кластер|задани"
    r"|инцидент)[а-я]*",
    re.IGNORECASE,
)
_UNDATED = datetime(1, 1, 1, tzinfo=UTC)


_SHOWN = 2  # disagreements; more would bury the answer


@dataclass(frozen=True, slots=True)
class Side:
    """One of two that disagree: a unit of the passage with this index among the given."""

    index: int
    unit: Unit


@dataclass(frozen=True, slots=True)
class Disagreement:
    """Two units that contradict each other; of equal age, the one given first is the newer."""

    newer: Side
    older: Side

    @property
    def sides(self) -> tuple[Side, Side]:
        return self.newer, self.older


def disagreements(
    given: Sequence[Passage], text: str, cited: Sequence[int], question: str = ""
) -> list[Disagreement]:
    """What the given passages disagree about, where an answer takes a value from a cited one.

    `cited`: indexes into the given.
    """
    said = frozenset(_VALUE.findall(text))
    told = [side for side in _sides(given, cited) if _is_told(side, said)] if said else []
    if not told:
        return []
    rivals = {index: _rivals(given, index) for index in {side.index for side in told}}
    asked = content_stems(question)
    found: dict[frozenset[int], Disagreement] = {}
    for first in told:
        for second in _sides(given, rivals[first.index]):
            pair = frozenset((first.index, second.index))
            if pair in found or not _resemble(first, second):
                continue
            if _contradict(first.unit, second.unit) and _one_subject(given, first, second, asked):
                found[pair] = _ordered(given, first, second)
    return list(found.values())


def _rivals(given: Sequence[Passage], index: int) -> frozenset[int]:
    """The passages that may be about the same as one: few of them need to be read closely."""
    one, older = given[index], older_editions(given)
    if index in older:
        return frozenset()
    identifiers = _identifiers(one)
    return frozenset(
        place
        for place, other in enumerate(given)
        if place not in older
        and (one.source, one.document) != (other.source, other.document)
        and _identifiers(other) == identifiers
    )


def _sides(given: Sequence[Passage], wanted: Container[int]) -> Iterator[Side]:
    for index, passage in enumerate(given):
        if index in wanted and passage.source_type not in _NOT_DOCUMENTS:
            yield from (Side(index, unit) for unit in units(passage.text) if _is_one(unit))


def _is_one(unit: Unit) -> bool:
    """A sentence, or a list of one line, that holds a value: it says one thing."""
    if unit.shape is not Shape.SENTENCE and (unit.shape is not Shape.LIST or "\n" in unit.text):
        return False
    return _HAS_VALUE.search(unit.text) is not None and not _EXAMPLE.match(unit.text)


def _is_told(side: Side, said: frozenset[str]) -> bool:
    return not said.isdisjoint(_VALUE.findall(side.unit.text))


def _resemble(first: Side, second: Side) -> bool:
    """A quick look before the close one: most units share hardly a word."""
    words = [frozenset(side.unit.text.lower().split()) for side in (first, second)]
    return 2 * len(words[0] & words[1]) >= max(map(len, words))


def _contradict(first: Unit, second: Unit) -> bool:
    mine, others = statement(first), statement(second)
    return (
        mine.names == others.names
        and alike(mine.stems, others.stems)
        and values_differ(mine, others)
    )


def _one_subject(
    given: Sequence[Passage], first: Side, second: Side, asked: frozenset[str]
) -> bool:
    one, other = given[first.index], given[second.index]
    if _environments(one, first.unit) != _environments(other, second.unit):
        return False
    said = statement(first.unit)
    if said.names:
        return len(said.stems) >= _SAYS_A_NAME
    if len(said.stems) < _SAYS_WHAT and not (asked and asked <= said.stems):
        return False
    titles = _title(one), _title(other)
    common = len(titles[0] & titles[1]) / max(len(titles[0] | titles[1]), 1)
    return common == 1 or (common >= _ONE_TOPIC and not _STAND_IN.search(first.unit.text))


def _identifiers(passage: Passage) -> frozenset[str]:
    """Alerts, hosts, years: what tells two documents of one kind apart."""
    name = PurePosixPath(passage.document).name
    text = " ".join((passage.title, *passage.heading, name.split(".")[0]))
    return frozenset(fold(word) for word in WORD.findall(text) if _IDENTIFIER.search(word))


def _environments(passage: Passage, unit: Unit) -> frozenset[str]:
    above = (passage.title, *passage.heading, *unit.heading, PurePosixPath(passage.document).stem)
    return asked_environments(f"{unit.lead} {unit.text}") | named_environments(" ".join(above))


def _title(passage: Passage) -> frozenset[str]:
    return content_stems(passage.title)


def _ordered(given: Sequence[Passage], first: Side, second: Side) -> Disagreement:
    dates = [given[side.index].updated_at or _UNDATED for side in (first, second)]
    return Disagreement(second, first) if dates[1] > dates[0] else Disagreement(first, second)


def side_by_side(
    text: str,
    cited: Sequence[int],
    given: Sequence[Passage],
    language: Language,
    question: str = "",
) -> tuple[str, tuple[int, ...]]:
    """`text` with what the documents disagree about, and what it cites then.

    Mark `[n]` points at `given[cited[n - 1]]`. A quotation that is one of two sides moves there.
    """
    if is_disputed(text, language):
        return text, tuple(cited)
    found = disagreements(given, text, cited, question)[:_SHOWN]
    numbers = list(cited)
    shown: list[str] = []
    for item in found:
        for side in item.sides:
            if side.index not in numbers:
                numbers.append(side.index)
            shown.append(_line(side, given[side.index], numbers.index(side.index) + 1, language))
    if not shown:
        return text, tuple(cited)
    block = "\n".join((say("disagree", language), "", *dict.fromkeys(shown)))
    quoted = {side.unit.text for item in found for side in item.sides}
    pieces = text.split("\n\n")
    kept = [piece for piece in pieces if without_marks(piece).strip() not in quoted]
    ordered = [*kept, block] if len(kept) == len(pieces) else [block, *kept]
    return "\n\n".join(ordered), tuple(numbers)


def is_disputed(text: str, language: Language) -> bool:
    """True when an answer shows what the documents disagree about."""
    return say("disagree", language) in text


def _line(side: Side, passage: Passage, number: int, language: Language) -> str:
    title = escaped(label(passage.title) or PurePosixPath(passage.document).name)
    quote = " ".join(side.unit.text.removeprefix("- ").removeprefix("* ").split())
    return f"- {quote} [{number}] ({title}, {day(passage.updated_at, language)})"
