"""Looking for a few stems in a text finds what reading the whole text would find."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graph.text import Stems, tokens

WORDS = [
    "dying",
    "lying",
    "tying",
    "skies",
    "news",
    "gently",
    "early",
    "only",
    "innings",
    "herrings",
    "carry",
    "replied",
    "sharing",
    "hopping",
    "usability",
    "relational",
    "authorization",
    "Pods",
    "PODs",
    "KubePodCrashLooping",
    "PgBouncer",
    "ERR-4471",
    "sha256",
    "node-exporter:9100",
    "k8s",
    "café",
    "naïve",
    "Ünder",
    "the",
    "of",
    "и",
    "не",
    "Ёлка",
    "ЁЛКА",
    "ель",
    "Перезапустить",
    "перезапуска",
    "поды",
    "КАФКА",
    "v1.2.3",
    "10.0.0.1",
    "foo_bar",
    "x",
    "Ы",
]


@pytest.mark.parametrize("word", WORDS)
def test_every_kind_of_word_is_found_by_its_own_tokens(word: str) -> None:
    own = frozenset(tokens(word))
    assert Stems(own).within(word) == own


@given(
    st.lists(st.sampled_from(WORDS) | st.text(max_size=8), max_size=12),
    st.lists(st.sampled_from(WORDS) | st.text(max_size=8), max_size=6),
)
def test_it_is_the_cut_of_wanted_and_present(text: list[str], wanted: list[str]) -> None:
    held = " ".join(text)
    stems = frozenset(tokens(" ".join(wanted)))
    search = Stems(stems)
    for word in text:
        assert search.within(word) == stems & frozenset(tokens(word))
    assert search.within(held) == stems & frozenset(tokens(held))
