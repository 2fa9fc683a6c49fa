"""What stands beside a question: the people it is also meant for, and a link that comes with it.

To search for "@anna" finds nothing, and would make a question that the documents answer one about
somebody whom they never mention.
"""

from __future__ import annotations

import re

from graph.mentions import weight
from graph.text import WORD, fold

# People and channels whose name Slack keeps to itself.
_ID = r"[@#](?=[UWCG][A-Z]*\d)[UWCG][A-Z0-9]{6,}\b"
# As people are called; `@Retryable`, `@angular/core` and `x@example.org` are things.
_NAME = rf"(?<![\w@./-])(?:{_ID}|@(?![A-Z][A-Za-z]+\b)\w[\w-]{{1,31}}(?![\w/@]|\.\w))"
_COPY = r"(?:\b(?i:cc|fyi|ping|кк|копия|пинг)\b[\s:,]*)?"
_OPENING = re.compile(rf"\A(?:\s*{_NAME}[\s,;:—–-]*)+")
_CLOSING = re.compile(rf"(?:[\s,;(—–-]*{_COPY}{_NAME})+[\s).!]*\Z")
_BETWEEN = re.compile(rf"\s*(?<![\w@./-]){_ID}(?=\W*\w)")
_LINK = r"<?https?://[^\s<>]+>?"
_LINK_FIRST = re.compile(rf"\A(?:\s*{_LINK}[\s,;:—–-]+)+(?=\S)")
_LINK_LAST = re.compile(rf"(?<=[?!.:;)\n])\s*(?:{_LINK}\s*)+\Z")
_ENOUGH = 2  # of the weight of words: they name what they ask about
_LEANING = (
    "a about and are at by did do does for from have has in is not of on or than the to was were "
    "who whose with без в для до за и или к как кем кому кто на не о об от по про с со у что "
    "это"
)
_LEANS = frozenset(_LEANING.split())
"""Words that what follows belongs to: "who is @anna" asks about her."""


def without_asides(words: str) -> str:
    """A message without the people it is also said to (those named before it, behind it, and by
    an id that nobody types), and without a link before or behind what asks enough alone."""
    said = _without_people(words)
    alone = _LINK_LAST.sub("", _LINK_FIRST.sub("", said))
    return alone if weight(alone) >= _ENOUGH else said


def _without_people(words: str) -> str:
    rest = _OPENING.sub("", words)
    closing = _CLOSING.search(rest)
    if closing is not None and not _leans(rest[: closing.start()]):
        rest = rest[: closing.start()]
    return _BETWEEN.sub("", rest)


def _leans(before: str) -> bool:
    last = WORD.findall(before)[-1:]
    return bool(last) and before.rstrip().endswith(last[0]) and fold(last[0]) in _LEANS
