"""When words said to the bot are a command: after a mention nobody writes a slash.

"runbook redis oom" is one, "runbook is outdated, who owns it?" is a question. In doubt it is a
question: a question that was taken for a command is not answered, a command that was taken for a
question is at least looked up. Each rule gets what follows the command's name.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from graph.smalltalk import asks
from graph.text import WORD, fold

Rule = Callable[[str], bool]

_POLITE = frozenset({"please", "pls", "now", "пожалуйста", "плиз", "плз", "сейчас"})
_OPENERS = re.compile(
    r"(?:is|isn't|isnt|are|aren't|was|wasn't|were|has|hasn't|have|had|does|doesn't|do|did|didn't"
    r"|can|can't|could|should|must|will|won't|would|may|might|says|said|tells|told|needs|needed"
    r"|works|worked|fails|failed|and|or|vs|versus|in|of|to|at|by|that|which|who|whose|where|when"
    r"|why|how|what|есть|был|была|были|будет|где|как|кто|что|какой|какая|какие|почему|зачем|когда"
    r"|сколько|не|нет|и|или|в|во|из|говорит|нужен|нужна|нужно|устарел|устарела|лежит|находится)\b",
    re.IGNORECASE,
)
_KEY = re.compile(r"(?:[A-Z2-9]{4}[- ]?[A-Z2-9]{4}|[a-z]+:-?\w+(?::[a-z]+)?)(?:\s.*)?")


def spelled(roots: Mapping[str, str], platform: str, command: str) -> str:
    """A command as people of this platform type it: `/help`, `/belay help`. `roots` names the
    platforms whose commands are sub-words of one slash command."""
    root = roots.get(platform)
    return f"/{root} {command}" if root else f"/{command}"


def alone(rest: str) -> bool:
    """Nothing follows but politeness and punctuation."""
    return _only(rest, _POLITE)


def with_only(*words: str) -> Rule:
    """Nothing follows but these words: "forget everything", "mute this thread"."""
    allowed = _POLITE | frozenset(words)
    return lambda rest: _only(rest, allowed)


def unasked(rest: str) -> bool:
    """Alone, and no question: "why" is a command, "why?" goes on from what was said."""
    return "?" not in rest and alone(rest)


def anything(rest: str) -> bool:
    return WORD.search(rest) is not None


def about(*compounds: str) -> Rule:
    """Nothing follows, or a name or a description, but no question. `compounds` are words that
    make one thing together with the command's name: an "incident report" is none."""
    together = frozenset(compounds)

    def rule(rest: str) -> bool:
        words = _words(rest)
        if (words and words[0] in together) or _OPENERS.match(rest.lstrip(" :,—–-")):
            return False
        return not ("?" in rest and asks(rest.replace("?", " ")))

    return rule


def a_key(rest: str) -> bool:
    """A code as `Access` gives it out, or the key of a person or a place."""
    return _KEY.fullmatch(rest.strip()) is not None


def never(_: str) -> bool:
    return False


def _only(rest: str, allowed: frozenset[str]) -> bool:
    return all(word in allowed for word in _words(rest))


def _words(text: str) -> list[str]:
    return [fold(word) for word in WORD.findall(text)]
