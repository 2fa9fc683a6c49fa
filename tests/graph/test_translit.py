"""Names in the other alphabet: what people type when the keyboard is in the wrong language."""

from __future__ import annotations

import pytest

from graph.translit import other_alphabet


@pytest.mark.parametrize(
    ("latin", "cyrillic"),
    [
        ("almaty", "алматы"),
        ("grafana", "графана"),
        ("kubernetes", "кубернетес"),
        ("redis", "редис"),
        ("patroni", "патрони"),
        ("sberbank", "сбербанк"),
    ],
)
def test_a_name_is_spelt_the_same_both_ways(latin: str, cyrillic: str) -> None:
    assert other_alphabet(latin) == cyrillic
    assert other_alphabet(cyrillic) == latin


@pytest.mark.parametrize("word", ["", "db-01", "err4471", "café", "grафана"])
def test_what_is_no_plain_name_stays_alone(word: str) -> None:
    assert other_alphabet(word) == ""
