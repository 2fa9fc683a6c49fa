"""A scope as a filter that the server decides inside each search, before any limit."""

from __future__ import annotations

from weaviate.classes.query import Filter
from weaviate.collections.classes.filters import _Filters

from adapters.weaviate.rows import exact, moment
from graph.model import EVERYBODY, Scope, Status

Where = _Filters  # the client has no public name for a filter


def admitted(scope: Scope) -> Where:
    """The same rules as `Scope.admits`."""
    rules: list[Where] = [
        _is("tenant", scope.tenant),
        _is_one_of("audience", scope.levels),
        _is("status", Status.PUBLISHED),
        _is_one_of("place", {"", scope.place}),
        Filter.by_property("effective_from").less_or_equal(moment(scope.now)),
        Filter.by_property("effective_until").greater_than(moment(scope.now)),
    ]
    for labels in scope.readers:
        if EVERYBODY not in labels:
            rules.append(_is_one_of("labels", {EVERYBODY, *labels}))
    if scope.source_types is not None:
        rules.append(_is_one_of("source_type", scope.source_types))
    return Filter.all_of(rules)


def findable() -> Where:
    return Filter.by_property("findable").equal(True)


def _is(name: str, value: str) -> Where:
    return Filter.by_property(name).equal(exact(value))


def _is_one_of(name: str, values: frozenset[str] | set[str]) -> Where:
    """Of no values: nothing. The server refuses an empty list."""
    words = [exact(value) for value in sorted(values)] or ["nothing"]
    return Filter.by_property(name).contains_any(words)
