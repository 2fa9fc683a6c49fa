"""Operations slang: small groups of words that stand for each other in both languages."""

from __future__ import annotations

from functools import lru_cache
from importlib.resources import files

from graph.text import fold, parts, stem

WORTH = 0.9
"""What a slang word is worth against the word itself (1): under an exact hit, over a neighbour."""


@lru_cache(maxsize=1)
def groups() -> dict[str, frozenset[str]]:
    """stem -> the other stems of its groups."""
    text = files("graph").joinpath("words", "slang.txt").read_text(encoding="utf-8")
    found: dict[str, set[str]] = {}
    for line in text.splitlines():
        if line.startswith("#"):
            continue
        stems = {_token(word) for word in line.split()}
        for item in stems:
            found.setdefault(item, set()).update(stems - {item})
    return {item: frozenset(others) for item, others in found.items()}


def _token(word: str) -> str:
    """The token that stands for `word` in an index: words of several parts are kept whole."""
    return "=" + fold(word) if len(parts(word)) > 1 else stem(fold(word))


def alike(item: str) -> frozenset[str]:
    """Stems that stand for the stem `item`; empty for words outside the list."""
    return groups().get(item, frozenset())
