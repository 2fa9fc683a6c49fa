"""Term counts of a chunk, in a form that any store can keep as bytes.

Terms are hashed to 64 bits, so no store needs a dictionary of its own. With 10^6 distinct terms
the chance of one collision is about 3e-8.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from hashlib import blake2b

import numpy as np
import numpy.typing as npt

Hashes = npt.NDArray[np.uint64]
Counts = npt.NDArray[np.float32]

BODY_WEIGHT, HEADING_WEIGHT, NAME_WEIGHT, FOLDER_WEIGHT = 1.0, 2.0, 2.0, 0.5


@lru_cache(maxsize=200_000)
def term_hash(term: str) -> int:
    return int.from_bytes(blake2b(term.encode(), digest_size=8).digest(), "little")


def term_hashes(terms: Iterable[str]) -> Hashes:
    return np.fromiter((term_hash(term) for term in terms), dtype=np.uint64)


@dataclass(frozen=True, slots=True)
class Fields:
    """The analyzed fields of a chunk: tokens in reading order, "=" tokens included."""

    body: tuple[str, ...]
    heading: tuple[str, ...] = ()  # title and heading path
    name: tuple[str, ...] = ()  # file name without its suffix
    folders: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class TermCounts:
    """Field-weighted term frequencies: 1 body + 2 heading + 2 name + 0.5 folders.

    `hashes` is sorted and unique, `counts` stands beside it; `length` is body + heading + name +
    0.5 folders in tokens, without weights (the BM25 document length).
    """

    hashes: Hashes
    counts: Counts
    length: float

    @classmethod
    def of(cls, fields: Fields) -> TermCounts:
        weighted: dict[int, float] = defaultdict(float)
        for tokens, weight in (
            (fields.body, BODY_WEIGHT),
            (fields.heading, HEADING_WEIGHT),
            (fields.name, NAME_WEIGHT),
            (fields.folders, FOLDER_WEIGHT),
        ):
            for token in tokens:
                weighted[term_hash(token)] += weight
        hashes = np.fromiter(sorted(weighted), dtype=np.uint64, count=len(weighted))
        counts = np.array([weighted[int(item)] for item in hashes], dtype=np.float32)
        length = len(fields.body) + len(fields.heading) + len(fields.name)
        return cls(hashes, counts, length + FOLDER_WEIGHT * len(fields.folders))

    def to_bytes(self) -> bytes:
        head = np.array([self.length], dtype="<f4").tobytes()
        return head + self.hashes.astype("<u8").tobytes() + self.counts.astype("<f4").tobytes()

    @classmethod
    def from_bytes(cls, data: bytes) -> TermCounts:
        size = (len(data) - 4) // 12
        length = float(np.frombuffer(data, "<f4", 1)[0])
        return cls(
            np.frombuffer(data, "<u8", size, 4),
            np.frombuffer(data, "<f4", size, 4 + 8 * size),
            length,
        )


def held(terms: Collection[str], documents: Sequence[TermCounts]) -> frozenset[str]:
    """Those of `terms` that occur in one of the documents."""
    if not terms or not documents:
        return frozenset()
    by_hash = {term_hash(term): term for term in terms}
    wanted = np.array(sorted(by_hash), dtype=np.uint64)
    hashes = np.concatenate([document.hashes for document in documents])
    places = np.minimum(np.searchsorted(wanted, hashes), len(wanted) - 1)
    found = np.unique(hashes[wanted[places] == hashes])
    return frozenset(by_hash[int(item)] for item in found)


def counts_of(wanted: Hashes, documents: Sequence[TermCounts]) -> Counts:
    """Counts of `wanted` (unique, any order) in each document: shape (documents, wanted)."""
    table = np.zeros((len(documents), len(wanted)), dtype=np.float32)
    if not len(documents) or not len(wanted):
        return table
    order = np.argsort(wanted)
    ordered = wanted[order]
    hashes = np.concatenate([document.hashes for document in documents])
    counts = np.concatenate([document.counts for document in documents])
    rows = np.repeat(np.arange(len(documents)), [len(d.hashes) for d in documents])
    places = np.minimum(np.searchsorted(ordered, hashes), len(ordered) - 1)
    hit = ordered[places] == hashes
    table[rows[hit], order[places[hit]]] = counts[hit]
    return table
