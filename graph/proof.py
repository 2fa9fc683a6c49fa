"""Holds an answer against the passages it cites: what is not in them leaves, visibly or not.

A statement is a sentence, a list item, a table row or a block of commands. Its literals must stand
in passages that the answer cites. Removing a statement may remove a citation, so the check runs
until nothing changes; the result therefore passes the same check unchanged.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import date
from typing import Literal as OneOf

from graph.blocks import LISTED, Block, Kind, blocks, code_spans, join, sentences
from graph.code_signs import typeable
from graph.evidence import Evidence, unsupported
from graph.literals import URL, Claim, Literal, fold, literals, may_command
from graph.marks import normalise_marks, renumbered, used, without_marks
from graph.markup import cleaned
from graph.model import Language, Passage
from graph.phrases import say
from graph.prohibitions import announced_by, recommended, reverses
from graph.remains import STEP_REMOVED, without_remains
from graph.state import Removal
from graph.text import content_words, has_words

_ORDINAL = re.compile(r"\s*(?:>\s*)*\d{1,3}[.)]\s+|\s*[-*+•]\s+")
_WORTH_KEEPING = 3  # content words that a sentence needs to say something without its link
_FROM_QUESTION = (Claim.NUMBER, Claim.NAME, Claim.DATE, Claim.TIME, Claim.HOST)


@dataclass(frozen=True, slots=True)
class Problem:
    """A statement that its sources do not hold. `missing` is empty for an unknown mark."""

    text: str
    missing: tuple[str, ...]
    reason: OneOf["unknown mark", "unsupported literal", "foreign url"]


@dataclass(slots=True)
class Sources:
    """The passages that were given, numbered from 1, and what else the prompt held."""

    given: Sequence[Passage]
    question: str = ""
    today: date | None = None
    _known: dict[frozenset[int], Evidence] = field(default_factory=dict)

    def evidence(self, numbers: Iterable[int]) -> Evidence:
        """What the passages with these numbers support; unknown numbers support nothing."""
        cited = frozenset(number for number in numbers if self.holds(number))
        if cited not in self._known:
            passages = [self.given[number - 1] for number in sorted(cited)]
            self._known[cited] = Evidence.of(passages, self.question, self.today)
        return self._known[cited]

    def all(self) -> Evidence:
        return self.evidence(range(1, len(self.given) + 1))

    def holds(self, number: int) -> bool:
        return 1 <= number <= len(self.given)


@dataclass(frozen=True, slots=True)
class Proven:
    """What is left of an answer. Mark `[n]` points at `cited[n - 1]`, an index into the given."""

    text: str
    cited: tuple[int, ...]
    removed: tuple[Removal, ...]

    @property
    def stands(self) -> bool:
        """False when nothing is said or nothing is cited."""
        bare = re.sub(r"\[[^\]\n]*\]", "", without_marks(self.text))
        return bool(self.cited) and has_words(bare)


def prepared(text: str, sources: Sources) -> str:
    """`text` with marks in one style, without images, HTML and foreign links, and its commands in
    the signs that a shell takes."""
    marked = normalise_marks(text)
    clean = cleaned(marked, lambda url: sources.all().links_to(url.rstrip(".,;:!?)/")))
    marked = clean if clean == marked == text else normalise_marks(clean)
    return _trimmed(typeable(marked, sources.all().writes))


def _trimmed(text: str) -> str:
    """Without blank lines around it; the first line keeps its indent, which may mean code."""
    return re.sub(r"\A(?:[ \t]*\n)+", "", text).rstrip()


def problems(text: str, sources: Sources) -> list[Problem]:
    """Everything in a prepared answer that its cited passages do not hold."""
    found = [
        Problem(f"[{number}]", (), "unknown mark")
        for number in used(text)
        if not sources.holds(number)
    ]
    evidence = sources.evidence(used(text))
    whole = blocks(text)
    for place, block in enumerate(whole):
        for piece in _statements(block):
            missing = _missing(block, piece, evidence, sources.question, announced_by(whole, place))
            if missing:
                found.append(_problem(piece, missing))
    return found


def proven(text: str, sources: Sources, language: Language) -> Proven:
    """The answer with every statement removed or marked that its sources do not hold."""
    text = prepared(text, sources)
    removed = [
        Removal(f"[{number}]", "unknown mark") for number in used(text) if not sources.holds(number)
    ]
    text = renumbered(text, {n: n for n in used(text) if sources.holds(n)})
    before = ""
    while text != before:
        before = text
        text, gone = _pruned(text, sources, language)
        removed += gone
    order = used(text)
    numbers = {old: new for new, old in enumerate(order, start=1)}
    text = _trimmed(renumbered(text, numbers))
    return Proven(text, tuple(number - 1 for number in order), tuple(removed))


def statement_holds(block: Block, piece: str, sources: Sources) -> bool:
    """True when the given passages (cited or not) hold a piece of an answer, marks included."""
    known = all(sources.holds(number) for number in used(piece))
    return known and not _missing(block, piece, sources.all(), sources.question)


def _statements(block: Block) -> list[str]:
    if block.kind in (Kind.PROSE, *LISTED):
        return sentences(block.text)
    return [] if block.kind in (Kind.BLANK, Kind.RULE) else [block.text]


def _missing(
    block: Block, piece: str, evidence: Evidence, question: str, lead: str = ""
) -> list[Literal]:
    quoted = block.kind is not Kind.FENCE and evidence.quotes(piece)
    if quoted and not (may_command(piece) and evidence.may_forbid):
        return []
    claimed = literals(block, piece)
    forbidden = recommended(f"{lead}\n{piece}", claimed, [item.flat for item in evidence.passages])
    if forbidden or quoted:
        return forbidden
    found = unsupported(claimed, evidence)
    said = evidence.may_forbid and block.kind is not Kind.FENCE
    if said and reverses(piece, [item.text for item in evidence.passages]):
        found.append(Literal(Claim.COMMENT, piece.strip()))
    if block.kind is Kind.HEADING:  # a heading repeats what was asked
        asked = fold(question).lower()
        return [
            item
            for item in found
            if item.kind not in _FROM_QUESTION or item.text.lower() not in asked
        ]
    return found


def _problem(piece: str, missing: Sequence[Literal]) -> Problem:
    foreign = all(item.kind is Claim.URL for item in missing)
    texts = tuple(dict.fromkeys(item.text for item in missing))
    return Problem(piece.strip(), texts, "foreign url" if foreign else "unsupported literal")


def _pruned(text: str, sources: Sources, language: Language) -> tuple[str, list[Removal]]:
    evidence = sources.evidence(used(text))
    before = blocks(text)
    removed: list[Removal] = []
    after: list[Block | None] = []
    for place, block in enumerate(before):
        kept, gone = _kept(
            block,
            evidence,
            sources.question,
            announced_by(before, place),
            steps=_in_procedure(before, place),
            language=language,
        )
        removed += gone
        after.append(kept)
    if not removed:
        return text, []
    return _trimmed(re.sub(r"\n{3,}", "\n\n", join(without_remains(before, after)))), removed


def _kept(
    block: Block, evidence: Evidence, question: str, lead: str, *, steps: bool, language: Language
) -> tuple[Block | None, list[Removal]]:
    pieces: list[str] = []
    removed: list[Removal] = []
    for piece in _statements(block):
        missing = _missing(block, piece, evidence, question, lead)
        if not missing:
            pieces.append(piece)
            continue
        problem = _problem(piece, missing)
        rest = _without_urls(piece) if problem.reason == "foreign url" else ""
        removed.append(Removal(piece.strip(), _reason(problem)))
        pieces.append(rest or (_marker(block, piece, language) if steps else _left_over(piece)))
    if not removed:
        return block, []
    return _rebuilt(block, pieces), removed


def _reason(problem: Problem) -> OneOf["unsupported literal", "foreign url"]:
    return "foreign url" if problem.reason == "foreign url" else "unsupported literal"


def _rebuilt(block: Block, pieces: list[str]) -> Block | None:
    text = "".join(pieces).rstrip()
    ordinal = _ORDINAL.match(text + " ")
    body = text[ordinal.end() :] if ordinal and block.kind in LISTED else text
    if not has_words(without_marks(body)):
        return None
    kind = Kind.PROSE if block.kind is Kind.FENCE else block.kind
    return Block(kind, text)


def _left_over(piece: str) -> str:
    """The bullet of a removed first sentence stays for the sentences after it."""
    ordinal = _ORDINAL.match(piece)
    return ordinal.group() if ordinal else ""


def _marker(block: Block, piece: str, language: Language) -> str:
    words = f"[{STEP_REMOVED[language]}: {say('unsupported', language)}]"
    if block.kind is Kind.FENCE:
        return " " * block.indent + words
    trailing = piece[len(piece.rstrip()) :]
    return f"{_left_over(piece)}{words}{trailing}"


def _without_urls(piece: str) -> str:
    """A sentence without its bare links, or "" when nothing is left of it."""
    rest = re.sub(r"[ \t]+(?=[.,;:!?]|$)", "", URL.sub(_tail, piece))
    rest = re.sub(r"\(\s*\)|<\s*>", "", rest)
    words = content_words(without_marks(rest))
    return rest if len(words) >= _WORTH_KEEPING else ""


def _tail(match: re.Match[str]) -> str:
    url = match.group()
    return url[len(url.rstrip(".,;:!?")) :]


def _in_procedure(found: Sequence[Block], place: int) -> bool:
    """Is the block a step, or a command of one, so that its absence must be seen?"""
    block = found[place]
    if block.kind is Kind.STEP:
        return True
    if block.kind is not Kind.FENCE:
        return False
    if any(_commands(other) for other in (*found[:place], *found[place + 1 :])):
        return True
    for earlier in reversed(found[:place]):
        if earlier.kind is Kind.BLANK or (earlier.indent and earlier.kind is not Kind.STEP):
            continue
        return earlier.kind is Kind.STEP
    return False


def _commands(block: Block) -> bool:
    spans = (content for _, _, content in code_spans(block.text))
    return block.kind is Kind.FENCE or any(" " in content for content in spans)
