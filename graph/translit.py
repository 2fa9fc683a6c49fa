"""Names written in the other alphabet: Almaty and Алматы, grafana and графана.

One spelling each way is tried; a name that the index does not hold in that very spelling is
compared with its words as a misspelling (graph/spelling.py).
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

WORTH = 0.9
"""What a transliterated name is worth against the word itself."""

_TO_LATIN = (
    ("кс", "x"), ("щ", "sch"), ("ш", "sh"), ("ч", "ch"), ("ж", "zh"), ("ю", "yu"), ("я", "ya"),
    ("э", "e"), ("ё", "e"), ("ъ", ""), ("ь", ""), ("а", "a"), ("б", "b"), ("в", "v"), ("г", "g"),
    ("д", "d"), ("е", "e"), ("з", "z"), ("и", "i"), ("й", "y"), ("к", "k"), ("л", "l"), ("м", "m"),
    ("н", "n"), ("о", "o"), ("п", "p"), ("р", "r"), ("с", "s"), ("т", "t"), ("у", "u"), ("ф", "f"),
    ("х", "h"), ("ц", "c"), ("ы", "y"),
)  # fmt: skip
_TO_CYRILLIC = (
    ("sch", "щ"), ("sh", "ш"), ("ch", "ч"), ("zh", "ж"), ("kh", "х"), ("ph", "ф"), ("th", "т"),
    ("ck", "к"), ("qu", "кв"), ("yu", "ю"), ("ya", "я"), ("ts", "ц"), ("oo", "у"), ("ee", "и"),
    ("x", "кс"), ("a", "а"), ("b", "б"), ("c", "к"), ("d", "д"), ("e", "е"), ("f", "ф"),
    ("g", "г"), ("h", "х"), ("i", "и"), ("j", "дж"), ("k", "к"), ("l", "л"), ("m", "м"),
    ("n", "н"), ("o", "о"), ("p", "п"), ("q", "к"), ("r", "р"), ("s", "с"), ("t", "т"),
    ("u", "у"), ("v", "в"), ("w", "в"), ("z", "з"),
)  # fmt: skip


@lru_cache(maxsize=20_000)
def other_alphabet(word: str) -> str:
    """`word` (lower-case, one alphabet) in the other alphabet; empty for anything else."""
    if word.isascii() and word.isalpha():
        ending = "ы" if word.endswith("y") else ""
        return _spelt(word[: -1 if ending else None], (*_TO_CYRILLIC, ("y", "й"))) + ending
    if all("а" <= letter <= "я" or letter == "ё" for letter in word):
        return _spelt(word, _TO_LATIN)
    return ""


def _spelt(word: str, table: Sequence[tuple[str, str]]) -> str:
    found = []
    place = 0
    while place < len(word):
        source, target = next(
            (pair for pair in table if word.startswith(pair[0], place)), (word[place], word[place])
        )
        found.append(target)
        place += len(source)
    return "".join(found)
