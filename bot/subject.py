"""What a thread or an alert is about, in a few of its own words.

A question in the middle of a thread leans on it: "how do we roll that back?". What it is about is
told by the names in the first message, often an alert, and by what was said last. Authors are
nobody here: their names are neither searched for nor shown to a model.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from bot.asides import without_asides
from bot.chat import Quote
from graph.followup import cut
from graph.mentions import is_telling, names
from graph.smalltalk import is_blank, is_small_talk
from graph.text import WORD, fold, normalise, parts, stem, stop_words

_MARKUP = re.compile(r"<[@#!][^>\n]*>|<?(?:https?|mailto):[^\s>|]+(?:\|([^>\n]*)>)?>?")
_ALERT_WORDS = frozenset(
    map(
        stem,
        (
            *("firing", "resolved", "alert", "alerts", "alertname", "alertmanager", "severity"),
            *("critical", "warning", "page", "triggered", "status", "state", "summary"),
            *("description", "labels", "annotations", "info", "true", "false", "value", "values"),
            *("source", "silence", "link", "utc", "am", "pm", "p1", "p2", "p3", "p4", "sev1"),
            *("sev2", "sev3", "urgent", "acknowledged", "fires", "алерт", "сработал", "сработала"),
        ),
    )
)
_TIME = re.compile(r"\b\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d)?\S*)?|\b\d\d:\d\d:\d\d\S*")
_TROUBLE = re.compile(
    r"error|fatal|panic|exception|fail|critical|denied|refused|timed? ?out|timeout|kill|oom"
    r"|exit code|cannot|unable|no space|ошибк|сбой|отказ|не удалось",
    re.IGNORECASE,
)
_HUMPS = 2  # from which a name in one word is that of an alert


@dataclass(frozen=True, slots=True)
class SubjectBounds:
    """Counts of words, messages and characters."""

    first: int = 5  # words of the first message
    later: int = 4  # words of each of the last ones
    last: int = 3  # messages
    words: int = 10  # in all
    paste: int = 6  # lines from which a message is a log
    gist: int = 3  # lines of trouble that tell what a log is about
    message: int = 200  # characters of one message in the transcript
    transcript: int = 600  # characters; a model is shown no more of one turn


def subject(quotes: Sequence[Quote], bounds: SubjectBounds | None = None) -> str:
    """A line of at most `bounds.words` words, the names of an alert first; "" for idle talk."""
    bounds = bounds or SubjectBounds()
    texts = [_gist(text, bounds) for text in map(_plain, quotes) if not _is_idle(text)]
    if not texts:
        return ""
    known: set[str] = set()
    first = list(_telling(texts[0], bounds.first, known))
    rest = texts[1:][-bounds.last :]
    newest = [list(_telling(text, bounds.later, known)) for text in reversed(rest)]
    room = bounds.words - len(first)
    kept: list[list[str]] = []
    for words in newest:
        kept.insert(0, words[: max(room, 0)])
        room -= len(words)
    return " ".join([*first, *(word for words in kept for word in words)])


def alert_names(text: str) -> list[str]:
    """The identifiers that `text` names, those shaped like alerts first."""
    found = [name for name in names(_plain(Quote(text))) if not _is_noise(name)]
    return sorted(found, key=lambda name: not _is_alert(name))


def transcript(quotes: Sequence[Quote], bounds: SubjectBounds | None = None) -> str:
    """The messages as they were said, a line each: the first one and the newest that fit."""
    bounds = bounds or SubjectBounds()
    lines = [cut(" ".join(_plain(quote).split()), bounds.message) for quote in quotes]
    lines = [line for line in lines if line]
    kept: list[str] = []
    room = bounds.transcript - len("".join(lines[:1]))
    for line in reversed(lines[1:]):
        room -= len(line) + 1
        if room < 0:
            break
        kept.insert(0, line)
    return "\n".join([*lines[:1], *kept])


def _plain(quote: Quote) -> str:
    text = without_asides(normalise(quote.text))
    return _MARKUP.sub(lambda match: match[1] or " ", text).strip()


def _gist(text: str, bounds: SubjectBounds) -> str:
    """Of a pasted log or a file the first lines that tell of trouble, without their times."""
    text = _TIME.sub(" ", text)
    lines = [line for line in text.splitlines() if line.strip()]
    if len(lines) < bounds.paste:
        return text
    trouble = [line for line in lines if _TROUBLE.search(line)]
    return "\n".join(trouble[: bounds.gist]) or text


def _is_idle(text: str) -> bool:
    return is_blank(text) or is_small_talk(text)


def _telling(text: str, limit: int, known: set[str]) -> Iterator[str]:
    """The most telling words of a message in reading order, none of them `known` before."""
    named = names(text)
    fresh: list[str] = []
    for word in WORD.findall(text):
        low = fold(word)
        if stem(low) in known or low in stop_words() or _is_noise(word):
            continue
        if word in named or is_telling(word) or any(ch.isdigit() for ch in word):
            known.add(stem(low))
            fresh.append(word)
    ranked = sorted(
        fresh, key=lambda word: (not (word in named and _is_alert(word)), word not in named)
    )
    picked = ranked[:limit]
    return (word for word in fresh if word in picked)


def _is_alert(name: str) -> bool:
    """CamelCase of several words, as alerts are named."""
    return name.isalpha() and len(parts(name)) > _HUMPS - 1 and not name.isupper()


def _is_noise(word: str) -> bool:
    """A word of every alert; a bare number is kept only by whoever looks for one."""
    pieces = [fold(piece) for piece in parts(word)]
    return all(stem(piece) in _ALERT_WORDS or piece.isdigit() for piece in pieces) and not (
        word.isdigit() and len(word) > _HUMPS
    )
