"""A question as the scorer sees it: its words, what each may also be called, its vector."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from graph.model import Language
from graph.ports import Vector


@dataclass(frozen=True, slots=True)
class Word:
    """A content word of the question.

    `idf` weighs it in coverage. `reach` lists, for each chunk language, the stems that stand for
    it there with a worth in (0, 1]: the word itself 1, slang 0.9, a glossary neighbour its cosine.
    """

    text: str  # lower-case, as asked
    stem: str
    idf: float
    known: bool  # the stem occurs in the index
    reach: Mapping[Language, tuple[tuple[str, float], ...]]


@dataclass(frozen=True, slots=True)
class QuestionView:
    text: str
    language: Language
    vector: Vector | None  # of the main embedder, raw; None when embedding failed
    words: tuple[Word, ...]
    wholes: tuple[str, ...] = ()  # "=identifier" tokens
    unknown: tuple[str, ...] = ()  # words that no document mentions, as asked

    def coverage(self, stems: Iterable[str], language: Language) -> float:
        """The idf-weighted share of the question's words that a text of `language` covers.

        1 for the word's own stem, 0.7 x cosine for a neighbour in the same language,
        min(1, cosine + 0.15) for a translation; see docs/architecture.md. 0 without words.
        """
        present = frozenset(stems)
        total = sum(word.idf for word in self.words)
        if not total:
            return 0.0
        covered = 0.0
        for word in self.words:
            covered += word.idf * max(
                (
                    _worth(word, stem, worth, self.language == language)
                    for stem, worth in word.reach.get(language, ())
                    if stem in present
                ),
                default=0.0,
            )
        return covered / total


def _worth(word: Word, stem: str, worth: float, same_language: bool) -> float:
    if stem == word.stem or worth >= 1:
        return 1.0
    return 0.7 * worth if same_language else min(1.0, worth + 0.15)
