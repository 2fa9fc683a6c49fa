"""A question as the scorer sees it: its words, what each may also be called, its vector."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from graph import spelling
from graph.model import Language
from graph.ports import Vector
from graph.text import Stems

_CYRILLIC = re.compile(r"[а-я]")


@dataclass(frozen=True, slots=True)
class Word:
    """A content word of the question.

    `reach` lists, for each chunk language, the stems that stand for it in keyword search, with a
    worth in (0, 1]: the word itself 1, slang 0.9, a translation its cosine. `neighbours` are near
    words of its own language: they count for coverage, not for keyword search.
    """

    text: str  # lower-case, as asked
    stem: str
    idf: float  # its weight in coverage
    known: bool  # the stem occurs in the index
    reach: Mapping[Language, tuple[tuple[str, float], ...]]
    neighbours: tuple[tuple[str, float], ...] = ()

    def stand_ins(self) -> frozenset[str]:
        """Other spellings, slang and the name in the other alphabet: as good as the word."""
        return frozenset(
            item
            for pairs in self.reach.values()
            for item, worth in pairs
            if item != self.stem and worth >= spelling.WORTH
        )

    def worths(self, language: Language) -> dict[str, float]:
        """What each stem is worth for covering this word in a text of `language`, 0 to 1."""
        crosses = 0.15 if _script(self.stem) != language else 0.0
        found = {item: 0.7 * cosine for item, cosine in self.neighbours}
        found.update((item, min(1.0, worth + crosses)) for item, worth in self.reach[language])
        found[self.stem] = 1.0
        return found


@dataclass(frozen=True, slots=True)
class QuestionView:
    text: str
    language: Language
    vector: Vector | None  # of the main embedder, raw; None when embedding failed
    words: tuple[Word, ...]
    wholes: tuple[str, ...] = ()  # "=identifier" tokens
    unknown: tuple[str, ...] = ()  # words that no document mentions, as asked
    named: tuple[str, ...] = ()  # the things the question names: identifiers, proper names
    unknown_names: tuple[str, ...] = ()  # those of `named` that no document of the scope mentions
    environments: frozenset[str] = frozenset()  # asked for: "prod", "staging", "test", "dev"

    def coverage(self, stems: Iterable[str], language: Language) -> float:
        """The idf-weighted share of the question's words that a text of `language` covers.

        1 for the word's own stem, 0.7 x cosine for a neighbour in the same language,
        min(1, cosine + 0.15) for a translation (docs/architecture.md). 0 without words.
        """
        return Coverage(self, language).of(frozenset(stems))


class Coverage:
    """QuestionView.coverage, prepared for many texts of one language."""

    def __init__(self, view: QuestionView, language: Language) -> None:
        self._idf = [word.idf for word in view.words]
        self._total = sum(self._idf)
        self._worths: dict[str, list[tuple[int, float]]] = {}  # by stem: places of words, worths
        for place, word in enumerate(view.words):
            for stem, worth in word.worths(language).items():
                self._worths.setdefault(stem, []).append((place, worth))
        self._stems = Stems(self._worths)

    def found(self, text: str) -> frozenset[str]:
        """The stems of `text` that cover a word of the question."""
        return self._stems.within(text)

    def of(self, stems: frozenset[str]) -> float:
        present = stems & self._worths.keys()
        if not present or not self._total:
            return 0.0
        best = [0.0] * len(self._idf)
        for stem in present:
            for place, worth in self._worths[stem]:
                best[place] = max(best[place], worth)
        covered = sum(idf * worth for idf, worth in zip(self._idf, best, strict=True))
        return covered / self._total


def _script(stem: str) -> Language:
    return "ru" if _CYRILLIC.search(stem) else "en"
