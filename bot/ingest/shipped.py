"""What ships with Belay for indexes too small to calibrate on themselves.

The numbers were measured on about 1,500 chunks of public runbooks (scripts/ship_profile.py). An
embedder without a shipped profile gets dense anchors from the probe questions alone.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files
from math import log
from typing import Any

import numpy as np

from graph.idf import REFERENCE
from graph.model import LANGUAGES, Language
from graph.profile import Anchor, Floats, Pair

_FALL = 0.15  # in u, for each e-fold fewer chunks


@dataclass(frozen=True, slots=True, eq=False)
class Shipped:
    """`passage_means`, `question_means` and `dense` belong to one embedder and may be missing."""

    passage_means: dict[Language, Floats | None]
    question_means: dict[Language, Floats | None]
    word_means: dict[Language, Floats | None]  # of the builtin embedder
    dense: dict[Pair, Anchor] | None
    lexical: dict[Pair, Anchor]
    final: dict[Language, Anchor]

    def final_for(self, language: Language, chunks: int) -> Anchor:
        """The final anchor for an index of `chunks` chunks.

        The best of few chunks scores lower than the best of many: on random parts of the
        reference a negative's best u falls by about 0.4 ln(reference / chunks). A small folder
        is narrower than a random part, so only some of that is allowed for.
        """
        anchor = self.final[language]
        fall = _FALL * log(max(REFERENCE / max(chunks, 1), 1.0))
        return Anchor(anchor.m - fall * anchor.g, anchor.g)


def shipped(embedder: str, words: str) -> Shipped:
    """The profile for an index under `embedder` whose glossary comes from `words`."""
    data = _load()
    own, of_words = data["embedders"].get(embedder), data["embedders"].get(words)
    return Shipped(
        _means(own, "passage_means"),
        _means(own, "question_means"),
        _means(of_words, "word_means"),
        _anchors(own["dense"]) if own else None,
        _anchors(data["lexical"]),
        {language: Anchor(*data["final"][language]) for language in LANGUAGES},
    )


@lru_cache(maxsize=1)
def probes() -> dict[Language, tuple[str, ...]]:
    """Everyday questions that no runbook answers: 60 in each language."""
    rows = json.loads(_text("probes.json"))
    return {language: tuple(row[language] for row in rows) for language in LANGUAGES}


def _means(own: dict[str, Any] | None, key: str) -> dict[Language, Floats | None]:
    if own is None or key not in own:
        return dict.fromkeys(LANGUAGES)
    return {language: np.array(own[key][language], dtype=np.float32) for language in LANGUAGES}


def _anchors(entries: dict[str, list[float]]) -> dict[Pair, Anchor]:
    return {
        (question, chunk): Anchor(*entries[f"{question}-{chunk}"])
        for question in LANGUAGES
        for chunk in LANGUAGES
    }


@lru_cache(maxsize=1)
def _load() -> dict[str, Any]:
    data: dict[str, Any] = json.loads(_text("profiles.json"))
    return data


def _text(name: str) -> str:
    return files("bot.ingest").joinpath("data", name).read_text(encoding="utf-8")
