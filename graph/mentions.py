"""What a text names by itself, weighed: identifiers, proper names, telling words.

A name weighs 2, another content word 1, a word that only asks about something else ("step",
"default", "reason") 0. The sum tells a question that stands alone from one that leans on another.
"""

from __future__ import annotations

import re
from functools import lru_cache
from importlib.resources import files

from graph.text import WORD, fold, parts, stem, stop_words

NAME_WEIGHT = 2

ACRONYMS = frozenset(
    [
        "api",
        "cpu",
        "dns",
        "id",
        "ip",
        "ok",
        "os",
        "ram",
        "sla",
        "slo",
        "ssh",
        "tls",
        "ui",
        "url",
        "vm",
    ]
)
"""Acronyms so common that in capitals or amid Russian they are words, not names."""

_CYRILLIC = re.compile(r"[А-Яа-яЁё]")
_CODE_SHAPE = re.compile(r"[^\W_][_\-./:]+[^\W_]|[a-z][A-Z]|[A-Z]{2}[a-z]{2}|[^\W\d_]\d|\d[^\W\d_]")
_SENTENCE_START = re.compile(r"(?:^|[.!?:])\s*$")


def word_file(name: str) -> frozenset[str]:
    """The words of a list in graph/words, folded."""
    text = files("graph").joinpath("words", name).read_text(encoding="utf-8")
    lines = [line for line in text.splitlines() if not line.startswith("#")]
    return frozenset(fold(word) for line in lines for word in line.split())


def weight(text: str) -> int:
    """How much `text` names: 2 for each name, 1 for each other telling word, repetitions once."""
    seen: dict[str, int] = {}
    for match in WORD.finditer(text):
        key = stem(fold(match.group()))
        seen[key] = max(seen.get(key, 0), word_weight(match, text))
    return sum(seen.values())


def word_weight(match: re.Match[str], text: str) -> int:
    """The weight of one word, where it stands in `text`."""
    return NAME_WEIGHT if _is_name(match, text) else int(is_telling(match.group()))


def names(text: str) -> list[str]:
    """The identifiers, proper names, and Latin terms amid Russian, as written, once each."""
    found = (match.group() for match in WORD.finditer(text) if _is_name(match, text))
    return list(dict.fromkeys(found))


def is_telling(word: str) -> bool:
    """False for stop words and for words that only ask about something else."""
    low = fold(word)
    return low not in stop_words() and stem(low) not in _attributes() and not low.isdigit()


def word_stems(text: str) -> set[str]:
    """The stems of all words of `text`, identifiers whole."""
    return {stem(fold(word)) for word in WORD.findall(text)}


def _is_name(match: re.Match[str], text: str) -> bool:
    word = match.group()
    if fold(word) in ACRONYMS or not is_telling(word):
        return False
    if _CODE_SHAPE.search(word):
        return not _CYRILLIC.search(word) and _is_identifier(word)
    if word.isascii() and word.isalpha() and _CYRILLIC.search(text):
        return True
    if len(word) > 1 and word.isupper() and word.isalpha():
        return True
    return word[0].isupper() and not _SENTENCE_START.search(text[: match.start()])


def _is_identifier(word: str) -> bool:
    pieces = parts(word)
    if fold(pieces[0]) in stop_words() and "-" in word:  # in-cluster, off-peak
        return False
    return any(is_telling(piece) for piece in pieces)


@lru_cache(maxsize=1)
def _attributes() -> frozenset[str]:
    return frozenset(map(stem, word_file("attribute_en.txt") | word_file("attribute_ru.txt")))
