"""How telling a word is, from one document to a hundred thousand chunks.

In a large index this is Lucene's BM25 idf, ln((N + 1) / (df + 0.5)). A small index says little
about how common a word is, so `PRIOR` imaginary chunks that use words as runbooks in general do
(graph/words/common.json) are mixed in, and the scale is stretched to that of a large index: the
anchors shipped for small indexes were measured there.
"""

from __future__ import annotations

import json
from functools import lru_cache
from importlib.resources import files
from math import log

import numpy as np
import numpy.typing as npt

from graph.profile import Statistics
from graph.terms import term_hash, term_hashes

PRIOR = 30  # imaginary chunks
REFERENCE = 1500  # chunks of the index that the shipped anchors were measured on
_RARE = 0.002  # the share of chunks with a word that the table does not list


@lru_cache(maxsize=1)
def _common() -> dict[int, float]:
    text = files("graph").joinpath("words", "common.json").read_text(encoding="utf-8")
    return {term_hash(word): share for word, share in json.loads(text).items()}


def idf(terms: list[str], statistics: Statistics) -> npt.NDArray[np.float32]:
    """The weight of each term, about 0.2 (in every chunk) to 7 (nowhere). Shape: (terms,)."""
    hashes = term_hashes(terms)
    common = _common()
    shares = np.array([common.get(int(item), _RARE) for item in hashes], dtype=np.float32)
    seen = statistics.frequency(hashes)
    probability = (seen + 0.5 + PRIOR * shares) / (statistics.chunks + 1 + PRIOR)
    return (-np.log(np.minimum(probability, 0.9)) * stretch(statistics.chunks)).astype(np.float32)


def stretch(chunks: int) -> float:
    """Brings the logarithms of a small index to the scale of the reference; 1 from there on."""
    if chunks >= REFERENCE:
        return 1.0
    return log(REFERENCE + PRIOR) / log(chunks + 1 + PRIOR)
