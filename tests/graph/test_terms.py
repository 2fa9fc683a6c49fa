"""Term counts: what a store keeps of the words of a chunk."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from graph.terms import Fields, TermCounts, counts_of, held, term_hash, term_hashes

WORDS = st.text("abcdeжзи0123=-", min_size=1, max_size=6)
FIELDS = st.builds(
    Fields,
    body=st.lists(WORDS, max_size=12).map(tuple),
    heading=st.lists(WORDS, max_size=4).map(tuple),
    name=st.lists(WORDS, max_size=3).map(tuple),
    folders=st.lists(WORDS, max_size=3).map(tuple),
)


def weighted(fields: Fields, word: str) -> float:
    return (
        fields.body.count(word)
        + 2 * fields.heading.count(word)
        + 2 * fields.name.count(word)
        + 0.5 * fields.folders.count(word)
    )


def test_a_word_in_the_heading_or_file_name_counts_twice_and_in_a_folder_half() -> None:
    counts = TermCounts.of(Fields(("disk", "disk"), ("disk",), ("disk",), ("disk",)))
    assert counts_of(term_hashes(["disk"]), [counts])[0, 0] == pytest.approx(2 + 2 + 2 + 0.5)
    assert counts.length == pytest.approx(2 + 1 + 1 + 0.5)


@given(st.lists(FIELDS, max_size=5), st.lists(WORDS, unique=True, max_size=8))
def test_counts_equal_a_plain_count(documents: list[Fields], wanted: list[str]) -> None:
    table = counts_of(term_hashes(wanted), [TermCounts.of(item) for item in documents])
    assert table.shape == (len(documents), len(wanted))
    for row, fields in enumerate(documents):
        assert list(table[row]) == [weighted(fields, word) for word in wanted]


@given(st.lists(FIELDS, max_size=5), st.lists(WORDS, unique=True, max_size=8))
def test_held_are_the_wanted_that_some_document_has(
    documents: list[Fields], wanted: list[str]
) -> None:
    found = held(wanted, [TermCounts.of(item) for item in documents])
    assert found == {word for word in wanted if any(weighted(item, word) for item in documents)}


@given(FIELDS)
def test_counts_survive_storage(fields: Fields) -> None:
    counts = TermCounts.of(fields)
    again = TermCounts.from_bytes(counts.to_bytes())
    assert np.array_equal(again.hashes, counts.hashes)
    assert np.array_equal(again.counts, counts.counts)
    assert again.length == counts.length


@given(FIELDS)
def test_hashes_are_sorted_and_unique(fields: Fields) -> None:
    hashes = TermCounts.of(fields).hashes
    assert list(hashes) == sorted(set(hashes.tolist()))


def test_a_hash_is_the_same_in_every_process() -> None:
    """Stored hashes must be found again: 8 bytes of BLAKE2b, little-endian."""
    from hashlib import blake2b

    expected = int.from_bytes(blake2b("узел".encode(), digest_size=8).digest(), "little")
    assert term_hash("узел") == expected
