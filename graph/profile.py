"""What is known about an index as a whole: term statistics, calibration, glossary.

A Profile is made by ingestion (bot/ingest/), kept by the store as bytes, and read by
graph/relevance.py. It belongs to one embedder and one revision of the index.
"""

from __future__ import annotations

import io
import json
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from itertools import compress
from typing import Any
from zipfile import BadZipFile

import numpy as np
import numpy.typing as npt

from graph.model import LANGUAGES, Language
from graph.terms import Hashes, term_hash, term_hashes

Floats = npt.NDArray[np.float32]
Pair = tuple[Language, Language]  # (question language, chunk language)

COVERAGE = 1.0
"""What a chunk that covers all words of a question gains over the mean of x and y."""


@dataclass(frozen=True, slots=True)
class Anchor:
    """The scale of negatives: `m` is their median, `g` an upper quantile minus it.

    The quantile is .85 for cosine and keywords and .75 for their fusion (bot/ingest/calibrate.py),
    so (score - m) / g says how unusual a score is for an unrelated question.
    """

    m: float
    g: float

    def scale(self, value: float) -> float:
        return (value - self.m) / self.g


@dataclass(frozen=True, slots=True)
class Statistics:
    """Document frequencies over the whole index; `frequencies` stands beside sorted `hashes`."""

    chunks: int
    mean_length: float
    hashes: Hashes
    frequencies: npt.NDArray[np.float32]

    def frequency(self, wanted: Hashes) -> Floats:
        """How many chunks hold each term; 0 for terms that no chunk holds."""
        if not len(self.hashes) or not len(wanted):
            return np.zeros(len(wanted), dtype=np.float32)
        places = np.minimum(np.searchsorted(self.hashes, wanted), len(self.hashes) - 1)
        found = self.hashes[places] == wanted
        return np.where(found, self.frequencies[places], 0).astype(np.float32)

    def known(self, term: str) -> bool:
        wanted = np.uint64(term_hash(term))
        place = int(self.hashes.searchsorted(wanted))
        return place < len(self.hashes) and bool(
            self.hashes[place] == wanted and self.frequencies[place] > 0
        )

    def known_among(self, terms: Collection[str]) -> frozenset[str]:
        """Those of `terms` that some chunk holds."""
        ordered = list(terms)
        found = self.frequency(term_hashes(ordered)) > 0
        return frozenset(compress(ordered, found))


EMPTY_STATISTICS = Statistics(0, 1.0, np.zeros(0, np.uint64), np.zeros(0, np.float32))


@dataclass(frozen=True, slots=True, eq=False)
class Vocabulary:
    """The corpus words of one language: stems and the unit vectors of their commonest spelling,
    minus `mean` (the mean vector of all words of that language). Shape of `vectors`: (stems, d)."""

    stems: tuple[str, ...]
    vectors: Floats
    mean: Floats


@dataclass(frozen=True, slots=True)
class Calibration:
    """Anchors and means for one embedder and index (DESIGN section 5)."""

    passage_means: Mapping[Language, Floats]
    question_means: Mapping[Language, Floats]
    dense: Mapping[Pair, Anchor]
    lexical: Mapping[Pair, Anchor]
    final: Mapping[Language, Anchor]  # by question language
    chunks: int  # of the index when this was fitted
    fitted_at: datetime
    origin: str = "fitted"  # "fitted", "shipped", or "blended" for a small index
    negatives: Mapping[Language, Floats] = field(default_factory=dict)  # u of each negative
    coverage: float = COVERAGE  # weight of its square in what `final` scales; 0 in older indexes

    @property
    def outdated(self) -> bool:
        """True when the anchors were fitted to the formula of another version."""
        return self.coverage != COVERAGE


@dataclass(frozen=True, slots=True)
class Profile:
    embedder: str
    dimension: int
    revision: int
    statistics: Statistics
    calibration: Calibration
    vocabularies: Mapping[Language, Vocabulary]

    def to_bytes(self) -> bytes:
        """A compressed numpy archive: arrays by name, everything else in one JSON entry."""
        c = self.calibration
        arrays: dict[str, Any] = {
            "df_hashes": self.statistics.hashes,
            "df_counts": self.statistics.frequencies,
        }
        for lang in LANGUAGES:
            arrays[f"passage_mean_{lang}"] = c.passage_means[lang]
            arrays[f"question_mean_{lang}"] = c.question_means[lang]
            arrays[f"negatives_{lang}"] = c.negatives.get(lang, np.zeros(0, np.float32))
            arrays[f"words_{lang}"] = self.vocabularies[lang].vectors
            arrays[f"word_mean_{lang}"] = self.vocabularies[lang].mean
        meta = {
            "embedder": self.embedder,
            "dimension": self.dimension,
            "revision": self.revision,
            "chunks": self.statistics.chunks,
            "mean_length": self.statistics.mean_length,
            "stems": {lang: self.vocabularies[lang].stems for lang in LANGUAGES},
            "dense": {f"{q}-{d}": (a.m, a.g) for (q, d), a in c.dense.items()},
            "lexical": {f"{q}-{d}": (a.m, a.g) for (q, d), a in c.lexical.items()},
            "final": {lang: (a.m, a.g) for lang, a in c.final.items()},
            "fitted_chunks": c.chunks,
            "fitted_at": c.fitted_at.isoformat(),
            "origin": c.origin,
            "coverage": c.coverage,
        }
        arrays["meta"] = np.frombuffer(json.dumps(meta).encode(), np.uint8)
        buffer = io.BytesIO()
        np.savez(buffer, **arrays)
        return buffer.getvalue()

    @classmethod
    def from_bytes(cls, data: bytes) -> Profile:
        """Raises ValueError or KeyError when `data` is not a profile of this version."""
        with _opened(data) as arrays:
            meta = json.loads(arrays["meta"].tobytes())
            calibration = Calibration(
                passage_means={lang: arrays[f"passage_mean_{lang}"] for lang in LANGUAGES},
                question_means={lang: arrays[f"question_mean_{lang}"] for lang in LANGUAGES},
                dense=_pairs(meta["dense"]),
                lexical=_pairs(meta["lexical"]),
                final={lang: Anchor(*meta["final"][lang]) for lang in LANGUAGES},
                chunks=meta["fitted_chunks"],
                fitted_at=datetime.fromisoformat(meta["fitted_at"]),
                origin=meta["origin"],
                negatives={lang: arrays[f"negatives_{lang}"] for lang in LANGUAGES},
                coverage=meta.get("coverage", 0.0),
            )
            statistics = Statistics(
                meta["chunks"], meta["mean_length"], arrays["df_hashes"], arrays["df_counts"]
            )
            vocabularies = {
                lang: Vocabulary(
                    tuple(meta["stems"][lang]), arrays[f"words_{lang}"], arrays[f"word_mean_{lang}"]
                )
                for lang in LANGUAGES
            }
        return cls(
            meta["embedder"],
            meta["dimension"],
            meta["revision"],
            statistics,
            calibration,
            vocabularies,
        )


def _opened(data: bytes) -> Any:
    try:
        archive = np.load(io.BytesIO(data), allow_pickle=False)
    except (BadZipFile, EOFError) as error:
        raise ValueError("these bytes are no archive of arrays") from error
    if not isinstance(archive, np.lib.npyio.NpzFile):
        raise ValueError("these bytes are one array, not an archive")
    return archive


def _pairs(entries: Mapping[str, tuple[float, float]]) -> dict[Pair, Anchor]:
    anchors: dict[Pair, Anchor] = {}
    for question in LANGUAGES:
        for document in LANGUAGES:
            anchors[question, document] = Anchor(*entries[f"{question}-{document}"])
    return anchors
