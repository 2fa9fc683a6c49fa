"""Keyword search: FTS5 over the analyzer's tokens, inside the admitted access rules.

The weights are those of graph/terms.py; FTS5's own BM25 only picks candidates.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence

from adapters.sqlite.rows import ids_json
from graph.terms import BODY_WEIGHT, FOLDER_WEIGHT, HEADING_WEIGHT, NAME_WEIGHT

# The filter on `chunks` is decided row by row before bm25() is computed for the sorting;
# `ORDER BY rank` would score every match first. CROSS JOIN keeps the matches as the outer loop.
_BEST = """
SELECT words.rowid FROM words CROSS JOIN chunks ON chunks.id = words.rowid
WHERE words MATCH ? AND access_id IN (SELECT value FROM json_each(?))
ORDER BY bm25(words, ?, ?, ?, ?) LIMIT ?
"""
_ANY = """
SELECT 1 FROM words CROSS JOIN chunks ON chunks.id = words.rowid
WHERE words MATCH ? AND access_id IN (SELECT value FROM json_each(?)) LIMIT 1
"""
_WEIGHTS = (BODY_WEIGHT, HEADING_WEIGHT, NAME_WEIGHT, FOLDER_WEIGHT)


def best_matches(
    connection: sqlite3.Connection, terms: Sequence[str], admitted: Sequence[int], limit: int
) -> list[int]:
    """Ids of the `limit` best chunks that hold at least one of `terms`."""
    query = " OR ".join(_phrase(term) for term in dict.fromkeys(terms) if term)
    if not query or limit < 1:
        return []
    rows = connection.execute(_BEST, (query, ids_json(admitted), *_WEIGHTS, limit))
    return [row[0] for row in rows]


def mentioned_terms(
    connection: sqlite3.Connection, terms: Sequence[str], admitted: Sequence[int]
) -> frozenset[str]:
    """Those of `terms` that an admitted chunk holds."""
    readable = ids_json(admitted)
    return frozenset(
        term
        for term in dict.fromkeys(terms)
        if term and connection.execute(_ANY, (_phrase(term), readable)).fetchone()
    )


def _phrase(term: str) -> str:
    """Quoted, so that nothing in it is query syntax; FTS5 would end at a NUL."""
    return '"' + term.replace("\0", " ").replace('"', '""') + '"'
