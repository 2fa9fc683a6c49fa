"""Sentences of the corpus that stand in for questions it does not answer.

A snippet asked of *other* documents is a hard negative: right vocabulary, wrong place. Only prose
counts: sentences of identifiers and commands are found by their identifiers alone.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from graph.model import LANGUAGES, Language, Passage
from graph.text import WORD, parts, tokens, trigrams

PER_LANGUAGE = 240
_SHORTEST, _LONGEST = 6, 18  # words: about as long as questions are
_IDENTIFIERS = 0.2  # at most this share of a sentence's words
_SHARED_TRIGRAMS, _SHARED_SHARE = 2, 0.4  # from here on a document holds the snippet's own text
_FENCE = re.compile(r"```.*?(?:```|\Z)|~~~.*?(?:~~~|\Z)", re.DOTALL)
_MARKUP = re.compile(r"^[\s>#*+\-|\d.)]+", re.MULTILINE)
_SENTENCE = re.compile(r"(?<=[.!?])\s+|\n\s*\n|\n(?=\s*[-*+|#\d])")


@dataclass(frozen=True, slots=True)
class Snippet:
    text: str
    language: Language
    document: str  # source and path, to exclude
    name: str  # the file name, to exclude copies of the document


def file_name(path: str) -> str:
    """The file name without folders and suffix, letters and digits only: copies share it."""
    stem_of_name = path.rsplit("/", 1)[-1].rsplit(".", 1)[0]
    return "".join(ch for ch in stem_of_name.lower() if ch.isalnum())


def sample(passages: Sequence[Passage], seed: int = 7) -> dict[Language, list[Snippet]]:
    """Up to 240 snippets a language, at most one from a chunk; the same for the same passages."""
    chosen: dict[Language, list[Snippet]] = {}
    for language in LANGUAGES:
        shuffled = [item for item in passages if item.language == language]
        random.Random(seed).shuffle(shuffled)  # noqa: S311 - a sample, not a secret
        found: list[Snippet] = []
        for passage in shuffled:
            if len(found) == PER_LANGUAGE:
                break
            sentences = list(prose(passage.text))
            if sentences:
                pick = sentences[len(found) % len(sentences)]
                key = f"{passage.source}/{passage.document}"
                found.append(Snippet(pick, language, key, file_name(passage.document)))
        chosen[language] = found
    return chosen


def prose(markdown: str) -> Iterable[str]:
    """Sentences of 6 to 18 words with few identifiers and no code."""
    for sentence in _SENTENCE.split(_FENCE.sub("\n\n", markdown)):
        clean = " ".join(_MARKUP.sub("", sentence).split())
        words = WORD.findall(clean)
        if "`" in clean or "|" in clean or not _SHORTEST <= len(words) <= _LONGEST:
            continue
        odd = sum(len(parts(word)) > 1 for word in words)
        if odd <= _IDENTIFIERS * len(words):
            yield clean


class Copies:
    """Tells whether a chunk holds a snippet's text, by shared stem trigrams (cached by chunk)."""

    def __init__(self, passages: Sequence[Passage]) -> None:
        self._passages = passages
        self._cache: dict[int, set[tuple[str, str, str]]] = {}

    def excluded(self, snippet: Snippet, row: int) -> bool:
        """True for the snippet's own document, a namesake of it, or a near-copy of its text."""
        passage = self._passages[row]
        if snippet.document == f"{passage.source}/{passage.document}":
            return True
        if snippet.name == file_name(passage.document):
            return True
        own = trigrams(tokens(snippet.text))
        shared = len(own & self._trigrams(row))
        return shared >= _SHARED_TRIGRAMS and shared >= _SHARED_SHARE * len(own)

    def _trigrams(self, row: int) -> set[tuple[str, str, str]]:
        if row not in self._cache:
            self._cache[row] = trigrams(tokens(self._passages[row].text))
        return self._cache[row]
