"""What an index says, wherever it is stored, when it was built with other tools than are in use."""

from __future__ import annotations

from zipfile import BadZipFile

from bot.errors import IndexIncompatible
from graph.errors import IndexMismatch
from graph.profile import Profile

_REBUILD = "Run `belay sync --rebuild` to build the index again with what is configured now."

Tools = tuple[str, int, str]
"""Embedder, dimension and chunker."""


def other_tools(built_with: Tools, wanted: Tools) -> IndexIncompatible:
    return IndexIncompatible(
        f"The index was built with {_named(*built_with)}; "
        f"what is configured now is {_named(*wanted)}.",
        _REBUILD,
    )


def other_vectors(dimension: int, given: int) -> IndexIncompatible:
    """For chunks of `given` dimensions."""
    return IndexIncompatible(
        f"The index has vectors of {dimension} dimensions, the embedder gave {given}.", _REBUILD
    )


def other_question(dimension: int, given: int) -> IndexMismatch:
    """For a question of `given` dimensions."""
    return IndexMismatch(
        f"The index has vectors of {dimension} dimensions, the question has {given}. {_REBUILD}"
    )


def profile_of(data: bytes) -> Profile:
    """A stored profile. Raises IndexMismatch for one that another version has written."""
    try:
        return Profile.from_bytes(data)
    except (ValueError, KeyError, BadZipFile) as error:
        raise IndexMismatch(f"The index has a profile of another version. {_REBUILD}") from error


def _named(embedder: str, dimension: int, chunker: str) -> str:
    return f"the embedder {embedder!r} ({dimension} dimensions) and the chunker {chunker!r}"
