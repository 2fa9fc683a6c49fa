"""Whether somebody asks who is on call, and for what: rules, so that no model ever answers it.

Only a question about nothing else is one: "who is on call for payments tonight?". Whatever else
stands in it ("and what do they do when the database is down?") leaves it to the documents.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, datetime

from bot.oncall import Watch
from bot.when import parse

_POLITE = (
    r"(?:(?:hey|hi|hello|ok|so|and|please|pls|tell\s+me|can\s+you\s+tell\s+me|do\s+you\s+know"
    r"|does\s+anyone\s+know|i\s+wonder|привет|скажи(?:те)?|подскажи(?:те)?|а|и|ну|пожалуйста"
    r"|не\s+подскаж\w+|кто-нибудь\s+знает)[\s,:!]+)*"
)
_ENGLISH = re.compile(
    rf"\s*{_POLITE}(?:is\s+(?:any|some)(?:one|body)"
    r"|who(?:\s*(?:['’]s|['’]ll\s+be|s|is|are|was|were|will\s+be|would\s+be))?)\s+"
    r"(?P<before>(?:[^\s?!.]+\s+){0,4}?)on[\s\-]?(?:call|duty)\b(?P<after>.*)",
    re.IGNORECASE | re.DOTALL,
)
_RUSSIAN = re.compile(
    rf"\s*{_POLITE}кто\s+(?P<before>(?:[^\s?!.]+\s+){{0,5}}?)"
    r"(?:(?:будет|был|была|были)\s+)?"
    r"(?:дежурит|дежурят|дежурить|дежурил[аи]?|дежурн(?:ый|ая|ые|ым|ой)"
    r"|на\s+дежурстве|(?:на|в)\s+смене)(?!\w)(?P<after>.*)",
    re.IGNORECASE | re.DOTALL,
)
_FILLER = re.compile(
    r"(?<![\w-])(?:the|our|a|person|people|engineer|engineers|guy|shift|right|here|please|pls"
    r"|today's|current|next|upcoming|rn|atm|primary|secondary|instead|then"
    r"|(?:at\s+the|this|в\s+данный)\s+(?:moment|момент)|у\s+нас|же|там|тут|инженер|человек"
    r"|следующ\w+|текущ\w+|основной|смен[аеуы]|пожалуйста|будет|был)(?![\w-])",
    re.IGNORECASE,
)
_FOR = re.compile(
    r"(?:for|of|in|on|at|from|with|по|за|в|во|на|у|для|из)\s+(?P<team>.+)",
    re.IGNORECASE | re.DOTALL,
)
_MARKS = re.compile(r"[?!.,;:«»\"“”]+(?=\s|$)|(?<!\S)[«\"“]+")
_UNKNOWN = 3  # words of a name that no schedule has
_ANY_TIME = datetime(2000, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Inquiry:
    """`team` as it was written, "" when none was; `text` is where the time is read from; `unread`
    are words in the place of a time that are none."""

    team: str
    text: str
    unread: str = ""


def inquiry(text: str, watch: Watch) -> Inquiry | None:
    """What a question asks of the roster; None when it asks for something else too."""
    match = _ENGLISH.fullmatch(text) or _RUSSIAN.fullmatch(text)
    if match is None:
        return None
    pieces = [without_time(match[side]) for side in ("before", "after")]
    team = " ".join(piece for piece in pieces if piece)
    if not team or watch.named(bare(team)) is not None:
        return Inquiry(bare(team), text)
    unknown = _FOR.fullmatch(team)
    if unknown is None or len(unknown["team"].split()) > _UNKNOWN:
        return None
    return Inquiry(unknown["team"], text)


def without_time(words: str) -> str:
    """`words` without times, marks, and words that say nothing."""
    plain = " ".join(_MARKS.sub(" ", words).split())
    rest = parse(plain, _ANY_TIME, UTC).rest
    return " ".join(_FILLER.sub(" ", rest).split())


def bare(team: str) -> str:
    """A team's name without the preposition before it."""
    match = _FOR.fullmatch(team)
    return match["team"] if match else team
