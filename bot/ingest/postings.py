"""All term counts of an index, turned round: for a term, the chunks that hold it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from graph.profile import Floats, Statistics
from graph.terms import Hashes, TermCounts


class Postings:
    """Built once for a calibration run; about 16 bytes for each distinct term of each chunk."""

    def __init__(self, documents: Sequence[TermCounts]) -> None:
        self._documents = documents
        self.lengths: Floats = np.array([item.length for item in documents], dtype=np.float32)
        sizes = [len(item.hashes) for item in documents]
        hashes = np.concatenate([np.zeros(0, np.uint64), *(item.hashes for item in documents)])
        order = np.argsort(hashes, kind="stable")
        self._hashes: Hashes = hashes[order]
        self._rows = np.repeat(np.arange(len(documents)), sizes)[order]
        self._counts = np.concatenate(
            [np.zeros(0, np.float32), *(item.counts for item in documents)]
        )[order]

    def counts(self, wanted: Hashes) -> Floats:
        """Field-weighted counts. Shape: (chunks, wanted)."""
        table = np.zeros((len(self.lengths), len(wanted)), dtype=np.float32)
        starts = np.searchsorted(self._hashes, wanted, side="left")
        ends = np.searchsorted(self._hashes, wanted, side="right")
        for column, (start, end) in enumerate(zip(starts, ends, strict=True)):
            table[self._rows[start:end], column] = self._counts[start:end]
        return table

    def terms(self, row: int) -> Hashes:
        """The distinct terms of one chunk."""
        return self._documents[row].hashes

    def statistics(self) -> Statistics:
        """Document frequencies of every term, and the mean length."""
        hashes, frequencies = np.unique(self._hashes, return_counts=True)
        mean = float(self.lengths.mean()) if len(self.lengths) else 1.0
        return Statistics(len(self.lengths), mean, hashes, frequencies.astype(np.float32))
