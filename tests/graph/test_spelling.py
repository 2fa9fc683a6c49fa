"""Typing errors: a question's word finds the word of the index that was meant."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graph.spelling import distance, near_spellings, shelved

KNOWN = ("kubernet", "certif", "replica", "gateway", "postgr", "кластер", "сертификат", "db")


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("certfi", ["certif"]),  # two letters swapped
        ("replca", ["replica"]),
        ("gatewaay", ["gateway"]),
        ("kubernot", ["kubernet"]),
        ("кластр", ["кластер"]),
        ("сертефекат", ["сертификат"]),  # long words forgive two
        ("xateway", []),  # the first letter is nearly always right
        ("dbb", []),  # short words have too many neighbours
        ("replicating", []),
        ("gate2ay", []),  # identifiers are not words
        ("", []),
    ],
)
def test_a_word_one_slip_away_is_found(typed: str, meant: list[str]) -> None:
    assert near_spellings(typed, shelved(KNOWN)) == meant


WORDS = st.text("abc", max_size=7)


def plain_distance(left: str, right: str) -> int:
    """Optimal string alignment by its recursive definition."""
    if not left or not right:
        return len(left) + len(right)
    best = min(
        plain_distance(left[:-1], right) + 1,
        plain_distance(left, right[:-1]) + 1,
        plain_distance(left[:-1], right[:-1]) + (left[-1] != right[-1]),
    )
    if len(left) > 1 and len(right) > 1 and left[-2:] == right[-1] + right[-2]:
        best = min(best, plain_distance(left[:-2], right[:-2]) + 1)
    return best


@given(st.text("abc", max_size=5), st.text("abc", max_size=5), st.integers(0, 3))
def test_the_distance_is_exact_up_to_its_limit(left: str, right: str, limit: int) -> None:
    expected = plain_distance(left, right)
    found = distance(left, right, limit)
    assert found == expected if expected <= limit else found > limit


@given(WORDS, WORDS)
def test_the_distance_is_symmetric(left: str, right: str) -> None:
    assert distance(left, right, 7) == distance(right, left, 7)
