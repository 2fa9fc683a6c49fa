"""Dense search: exact cosines over the vectors of the index, kept in memory.

A Snapshot never changes, so searches run on it without a lock while the next one is made.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass, replace
from threading import Lock

import numpy as np
import numpy.typing as npt

from adapters.sqlite.rows import ids_json
from graph.model import LANGUAGES
from graph.ports import Matrix, Vector

Ints = npt.NDArray[np.int64]
Rows = npt.NDArray[np.intp]

_GONE = 0  # access ids start at 1
_BLOCK = 1024  # rows that are scored, or loaded, at a time: a copy of them stays in the cache
_SPARE = 4  # a grown matrix leaves room for a quarter more rows
_COMPACT = 4  # a matrix is packed once a quarter of its rows are gone


@dataclass(frozen=True, slots=True)
class Snapshot:
    """The chunks of one revision: a vector each, and what stands beside it."""

    revision: int
    ids: Ints
    access: Ints  # 0 for a chunk that is gone
    languages: Ints  # places in LANGUAGES
    space: Matrix  # begins with the vectors; may have room for more, shared with later snapshots

    @classmethod
    def empty(cls, dimension: int) -> Snapshot:
        none = np.zeros(0, dtype=np.int64)
        return cls(-1, none, none, none, np.zeros((0, dimension), dtype=np.float32))

    @property
    def vectors(self) -> Matrix:
        """Shape (chunks, dimension)."""
        return self.space[: len(self.ids)]

    def nearest(self, vector: Vector, admitted: Sequence[int], limit: int) -> list[int]:
        """Ids of the `limit` nearest chunks of each language; what is not admitted has no score."""
        visible = np.isin(self.access, np.asarray(admitted, dtype=np.int64))
        cosines = self._cosines(vector, visible)
        found: list[int] = []
        for code in range(len(LANGUAGES)):
            rows = np.flatnonzero(visible & (self.languages == code))
            found.extend(self.ids[_best(rows, cosines, limit)].tolist())
        return found

    def _cosines(self, vector: Vector, visible: npt.NDArray[np.bool_]) -> npt.NDArray[np.float32]:
        cosines = np.zeros(len(self.ids), dtype=np.float32)
        vectors = self.vectors
        for start in range(0, len(self.ids), _BLOCK):
            block = slice(start, start + _BLOCK)
            wanted = visible[block]
            if wanted.all():
                cosines[block] = vectors[block] @ vector
            elif wanted.any():
                cosines[block][wanted] = vectors[block][wanted] @ vector
        return cosines


def _best(rows: Rows, cosines: npt.NDArray[np.float32], limit: int) -> Rows:
    if len(rows) <= limit:
        return rows
    return rows[np.argpartition(-cosines[rows], limit)[:limit]]


class Vectors:
    """Keeps the snapshot in step with the file, whoever writes to it. Raises sqlite3.Error."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._snapshot = Snapshot.empty(0)

    def current(self, connection: sqlite3.Connection) -> Snapshot:
        """The chunks that the connection's transaction sees; reads only what is new since the last
        call. To be the first read of its transaction: then no newer snapshot was made before it."""
        with self._lock:
            self._snapshot = _refreshed(self._snapshot, connection)
            return self._snapshot


def _refreshed(old: Snapshot, connection: sqlite3.Connection) -> Snapshot:
    revision, dimension = connection.execute("SELECT revision, dimension FROM meta").fetchone()
    if revision == old.revision:
        return old
    if dimension != old.space.shape[1]:
        old = Snapshot.empty(dimension)
    present = _present(connection)
    kept = _without_gone(old, present)
    fresh = np.setdiff1d(present, kept.ids, assume_unique=True)
    return _with_fresh(kept, fresh, revision, connection)


def _without_gone(old: Snapshot, present: Ints) -> Snapshot:
    alive = np.isin(old.ids, present, assume_unique=True)
    gone = len(alive) - int(alive.sum())
    if gone * _COMPACT <= len(alive):
        return replace(old, access=np.where(alive, old.access, _GONE))
    return Snapshot(
        revision=old.revision,
        ids=old.ids[alive],
        access=old.access[alive],
        languages=old.languages[alive],
        space=old.vectors[alive],
    )


def _with_fresh(
    kept: Snapshot, fresh: Ints, revision: int, connection: sqlite3.Connection
) -> Snapshot:
    """`kept` with the chunks `fresh` behind it. They are written behind all that older snapshots
    see of the shared space, so those do not change."""
    start, end = len(kept.ids), len(kept.ids) + len(fresh)
    space = kept.space
    if end > len(space):
        space = np.empty((end + end // _SPARE, space.shape[1]), dtype=np.float32)
        space[:start] = kept.vectors
    access, languages = _load(connection, fresh, space[start:end])
    return Snapshot(
        revision=revision,
        ids=np.concatenate([kept.ids, fresh]),
        access=np.concatenate([kept.access, access]),
        languages=np.concatenate([kept.languages, languages]),
        space=space,
    )


def _present(connection: sqlite3.Connection) -> Ints:
    """Ids of all findable chunks; as one value, because 100,000 rows take twice as long."""
    (ids,) = connection.execute(
        "SELECT json_group_array(id) FROM chunks WHERE duplicate = 0"
    ).fetchone()
    return np.array(json.loads(ids), dtype=np.int64)


def _load(connection: sqlite3.Connection, ids: Ints, space: Matrix) -> tuple[Ints, Ints]:
    """Writes the vectors of `ids` into `space`; returns their access ids and languages."""
    access = np.zeros(len(ids), dtype=np.int64)
    languages = np.zeros(len(ids), dtype=np.int64)
    for start in range(0, len(ids), _BLOCK):
        block = slice(start, min(start + _BLOCK, len(ids)))
        rows = connection.execute(
            "SELECT access_id, language, vector FROM json_each(?) "
            "CROSS JOIN chunks ON chunks.id = value JOIN vectors ON chunk = value ORDER BY key",
            (ids_json(ids[block].tolist()),),
        ).fetchall()
        access[block] = [row[0] for row in rows]
        languages[block] = [LANGUAGES.index(row[1]) for row in rows]
        joined = b"".join(row[2] for row in rows)
        space[block] = np.frombuffer(joined, dtype="<f4").reshape(len(rows), -1)
    return access, languages
