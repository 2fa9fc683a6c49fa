"""Documents that are translations of each other: the asker's language is quoted, once.

Two paths that differ in a language code alone (`vpn.en.md` and `vpn.ru.md`, `en/vpn.md` and
`ru/vpn.md`) are one document twice. A translation older than its twin may lag behind it: then both
are quoted.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from graph.model import LANGUAGES, Language, Passage

_CODE = re.compile(rf"(?<![^\W_])(?:{'|'.join(LANGUAGES)})(?![^\W_])", re.IGNORECASE)


def translated(given: Sequence[Passage], language: Language) -> frozenset[int]:
    """Which of the given passages, by index, need no quoting: their twin is in `language`."""
    own = {_place(item): item for item in given if item.language == language}
    return frozenset(
        index
        for index, item in enumerate(given)
        if item.language != language
        and (twin := own.get(_place(item))) is not None
        and _CODE.search(item.document)
        and not _lags(twin, item)
    )


def _place(passage: Passage) -> tuple[str, str]:
    return passage.source, _CODE.sub("*", passage.document)


def _lags(twin: Passage, other: Passage) -> bool:
    if twin.updated_at is None or other.updated_at is None:
        return False
    return twin.updated_at.date() < other.updated_at.date()
