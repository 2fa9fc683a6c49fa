"""Sections that a page announces and nobody has written: "## Mitigation", then TODO or nothing.

Such a page is found by its name, and what it says of the alert is no answer to what to do about it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise
from typing import NamedTuple

from graph.blocks import Block, Kind, blocks
from graph.model import Passage

_LATER = re.compile(
    r"\W*(?:todo|tbd|tba|fixme|wip|n/a|coming soon|under construction"
    r"|(?:to|will) be (?:added|defined|described|documented|determined|written)"
    r"|дописать|будет (?:добавлен|дополнен|описан)\w*|в разработке|заполнить позже)\b.{0,40}",
    re.IGNORECASE,
)


class _Matter(NamedTuple):
    """What a section may be for: how people ask for it, and what it is called."""

    asked: re.Pattern[str]
    called: re.Pattern[str]


def _matter(asked: str, called: str) -> _Matter:
    return _Matter(re.compile(asked, re.IGNORECASE), re.compile(called, re.IGNORECASE))


_MATTERS = (
    _matter(
        r"\b(?:mitigat|remediat|resolve|resolution|workaround)|\bsteps\b|\bhow (?:do|to|can|should)"
        r"\b.{0,12}\b(?:fix|repair|recover|solve)\b|\bwhat (?:do|should|can|must) (?:i|we) do\b"
        r"|\bwhat to do\b|что (?:\w+ )?делать|как (?:\w+ )?(?:исправ|устран|почин|восстан|решить)"
        r"|\bшаги\b|какие действия",
        r"\b(?:mitigat|remediat|resol|fix|solution|recover|procedure|steps|actions?|workaround"
        r"|what to do|how to)|устран|решени|исправ|действи|что делать|порядок|восстанов",
    ),
    _matter(
        r"\b(?:diagnos|investigat|troubleshoot|debug)|диагно|расследов|как (?:понять|выяснить)",
        r"\b(?:diagnos|investigat|troubleshoot|debug)|диагно|расследов",
    ),
    _matter(
        r"\bimpact\b|\bconsequences?\b|\bhow (?:bad|severe)\b|влияни|последстви|чем .{0,9}грозит",
        r"\b(?:impact|consequence|severity)|влияни|последстви",
    ),
)


def is_unwritten(text: str) -> bool:
    """True for a text that only says that somebody will write it."""
    return _LATER.fullmatch(text.strip()) is not None


def unwritten_section(question: str, page: Passage) -> str:
    """The title of the section that a question asks for and a page leaves empty, or "".

    A page that has another section for the same matter, with text in it, leaves nothing open. The
    text under the last heading of a longer document may be in the next passage.
    """
    cut = page.document_chunks > 1 and blocks(page.text.rstrip())[-1].kind is Kind.HEADING
    sections = list(_sections(page.text))[: -1 if cut else None]
    for matter in _MATTERS:
        if matter.asked.search(question):
            named = [item for item in sections if matter.called.search(item.title)]
            if named and not any(item.written for item in named):
                return named[0].title
    return ""


class _Section(NamedTuple):
    title: str
    written: bool


def _sections(text: str) -> Iterator[_Section]:
    """The sections of a page; one with sections below it counts as written."""
    found = blocks(text)
    places = [place for place, block in enumerate(found) if block.kind is Kind.HEADING]
    for start, end in pairwise([*places, len(found)]):
        holds = any(map(_says_something, found[start + 1 : end]))
        below = end < len(found) and found[end].level > found[start].level
        yield _Section(found[start].text.strip(" #"), holds or below)


def _says_something(block: Block) -> bool:
    return block.kind is not Kind.BLANK and not is_unwritten(block.text)
