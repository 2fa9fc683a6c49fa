"""Words that some write apart and some together: roll back and rollback, web hook and webhook.

What the documents write decides. A question may use the other form, with a hyphen or inflected.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from graph.profile import Statistics
from graph.text import fold, stem, stop_words

WORTH = 0.9
"""What the other form is worth against the word itself (1)."""

_PARTICLES = frozenset({"up", "down", "over", "out", "in", "off", "on", "back", "through"})
_PAIR = re.compile(r"(?<![^\W_])([^\W\d_]{2,})(?=[ -]([^\W\d_]{2,})(?![^\W_]))")
_SHORTEST = 5  # letters of a compound
_SHORTEST_VERB = 3  # letters


def together(text: str, statistics: Statistics) -> Mapping[str, frozenset[str]]:
    """For words of `text`, in lower case, the stems of the documents that join them with the word
    before or after."""
    found: dict[str, set[str]] = {}
    for match in _PAIR.finditer(text):
        first, second = fold(match[1]), fold(match[2])
        if first in stop_words() or (second in stop_words() and second not in _PARTICLES):
            continue
        for whole in {stem(first + second), stem(stem(first) + second)}:
            if len(whole) >= _SHORTEST and statistics.known(whole):
                for word in (first, second):
                    found.setdefault(word, set()).add(whole)
    return {word: frozenset(stems) for word, stems in found.items()}


def apart(word: str, statistics: Statistics) -> frozenset[str]:
    """The stem of the verb in a compound that the documents write in two words, if they have it:
    set for setup, fail for failover."""
    for particle in _PARTICLES:
        verb = word.removesuffix(particle)
        if verb != word and len(verb) >= _SHORTEST_VERB and statistics.known(stem(verb)):
            return frozenset({stem(verb)})
    return frozenset()
