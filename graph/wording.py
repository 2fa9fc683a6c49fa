"""Whether a model's wording of a question may stand for what the person asked."""

from __future__ import annotations

import re
from collections.abc import Sequence

from graph.mentions import is_telling, names, word_stems
from graph.model import Turn
from graph.pointers import is_correction, taken_back, without_correction
from graph.smalltalk import asks
from graph.text import WORD, fold, stem

_ROOM = 160  # characters beyond twice the message
_NEW_WORDS = 0.4  # share of the telling words that may be new; more is an answer, not a question
_PREFIX = 4  # letters by which a misspelt or inflected word is still recognised
_ANSWER = re.compile(r"(?:yes|no|sure|you (?:can|should|need)|да|нет|конечно)\b", re.IGNORECASE)


def is_faithful(worded: str, text: str, history: Sequence[Turn]) -> bool:
    """True when `worded` is one bounded question that says what `text` says and nothing new.

    It keeps the telling words of the message, and brings some of what was said before; its names
    and numbers, and most of its words, come from the conversation.
    """
    if not worded or "\n" in worded or len(worded) > 2 * len(text) + _ROOM:
        return False
    if _ANSWER.match(worded) or worded.count("?") > max(1, text.count("?")):
        return False
    if asks(text) and not asks(worded):
        return False
    earlier = " ".join(turn.text for turn in history)
    if not _keeps(worded, text) or not _brings(worded, text, earlier):
        return False
    return adds_nothing(worded, f"{text} {earlier}")


def _keeps(worded: str, text: str) -> bool:
    said = without_correction(text) if is_correction(text) else text
    denied = {stem(fold(word)) for word in taken_back(text)}
    if denied & word_stems(worded):
        return False
    wanted = [word for word in WORD.findall(said) if is_telling(word)]
    kept = [word for word in wanted if _occurs(word, worded)]
    exact = all(fold(name) in fold(worded) for name in names(said))
    return exact and 2 * len(kept) >= len(wanted)


def _brings(worded: str, text: str, earlier: str) -> bool:
    """Small models like to say the message again, which then still needs its context."""
    telling = (word for word in WORD.findall(worded) if is_telling(word))
    return any(_occurs(word, earlier) and not _occurs(word, text) for word in telling)


def adds_nothing(worded: str, conversation: str) -> bool:
    """True when names and numbers, and most telling words, of `worded` are in `conversation`."""
    said = fold(conversation)
    words = WORD.findall(worded)
    literals = [*names(worded), *(word for word in words if word.isdigit())]
    telling = [word for word in words if is_telling(word)]
    new = [word for word in telling if not _occurs(word, conversation)]
    known = all(fold(literal) in said for literal in literals)
    return known and len(new) <= _NEW_WORDS * len(telling)


def _occurs(word: str, text: str) -> bool:
    low, root = fold(word), stem(fold(word))
    return root in word_stems(text) or low in fold(text) or low[:_PREFIX] in fold(text)
