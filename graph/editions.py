"""Which of the given documents are older editions of others, so that old values do not win.

Three signs: the same file name with another year or version, a text that says it supersedes the
other, and the same title in the same folder with an earlier date.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import lru_cache
from pathlib import PurePosixPath
from types import MappingProxyType

from graph.model import Passage
from graph.text import content_words, fold, holds_any

_EDITION = re.compile(
    r"(?<![\d.])(?:v|ver|version|rev|ред|версия)[-_ .]?(\d+(?:[._]\d+)*)"
    r"|(?<!\d)((?:19|20)\d\d)(?![-_.]?\d)(?:q[1-4])?",
    re.IGNORECASE,
)
_SUPERSEDES = re.compile(
    r"(?:supersed(?:es|ing)|replac(?:es|ing)|obsoletes|заменяет|отменяет|взамен|вместо)\s+"
    r"([^\n.;]{1,120}(?:\.[a-z]{2,4}\b)?)",
    re.IGNORECASE,
)
_APART = timedelta(days=1)  # files of one checkout differ by less
_SIGNS = ("supersed", "replac", "obsoletes", "заменяет", "отменяет", "взамен", "вместо")
_SEPARATORS = re.compile(r"[\W_]+")
_TITLE_WORDS = 2  # a one-word title ("Overview") names no document


@dataclass(frozen=True, slots=True)
class _Edition:
    """What tells a document's edition."""

    place: tuple[str, str]  # source, document
    shelf: tuple[str, str]  # source, folder
    stem: str  # file name without its edition
    edition: tuple[int, ...]  # year or version in the file name; empty when there is none
    names: frozenset[str]  # by which another document may call it
    replaces: tuple[str, ...]  # names after "supersedes" and its like
    title: str
    updated_at: datetime | None


def older_editions(given: Sequence[Passage]) -> Mapping[int, int]:
    """For each older edition among `given` the index of the newest edition beside it."""
    return _older(
        tuple(
            _edition(item.source, item.document, item.title, item.text, item.updated_at)
            for item in given
        )
    )


@lru_cache(maxsize=64)
def _older(editions: tuple[_Edition, ...]) -> Mapping[int, int]:
    found: dict[int, int] = {}
    for old, older in enumerate(editions):
        newest = None
        for new, newer in enumerate(editions):
            if older.place == newer.place or not _is_newer(newer, older):
                continue
            if newest is None or _is_newer(newer, editions[newest]):
                newest = new
        if newest is not None:
            found[old] = newest
    return MappingProxyType(found)


@lru_cache(maxsize=512)
def _edition(
    source: str, document: str, title: str, text: str, updated_at: datetime | None
) -> _Edition:
    name = PurePosixPath(document)
    stem, edition = _named(name.stem)
    return _Edition(
        place=(source, document),
        shelf=(source, str(name.parent)),
        stem=stem,
        edition=edition,
        names=frozenset({fold(name.name), fold(name.stem), fold(title)} - {""}),
        replaces=_replaces(text),
        title=fold(title),
        updated_at=updated_at,
    )


def _named(name: str) -> tuple[str, tuple[int, ...]]:
    """The file name without its year or version, and that."""
    match = _EDITION.search(name)
    if match is None:
        return name.lower(), ()
    number = match.group(1) or match.group(2)
    rest = _SEPARATORS.sub(" ", name[: match.start()] + " " + name[match.end() :])
    return fold(rest).strip(), tuple(int(part) for part in re.split(r"[._]", number))


def _replaces(text: str) -> tuple[str, ...]:
    lower = text.lower()
    if not holds_any(lower, _SIGNS):
        return ()
    return tuple(fold(match.group(1)) for match in _SUPERSEDES.finditer(text))


def _is_newer(newer: _Edition, older: _Edition) -> bool:
    if newer.edition and older.edition and newer.stem == older.stem:
        return newer.edition > older.edition
    if _supersedes(newer, older):
        return True
    return _later(newer, older) and not _supersedes(older, newer)


def _supersedes(newer: _Edition, older: _Edition) -> bool:
    if not newer.replaces:
        return False
    version = ".".join(map(str, older.edition)) if newer.stem == older.stem else ""
    return any(
        (version and version in said) or any(_holds(said, name) for name in older.names)
        for said in newer.replaces
    )


def _holds(said: str, name: str) -> bool:
    """True when `said` has `name` as whole words."""
    return name in said and re.search(rf"(?<!\w){re.escape(name)}(?!\w)", said) is not None


def _later(newer: _Edition, older: _Edition) -> bool:
    """Pages of one name in two folders are about two things, however old each is."""
    if newer.updated_at is None or older.updated_at is None:
        return False
    if newer.title != older.title or newer.shelf != older.shelf:
        return False
    named = len(content_words(newer.title)) >= _TITLE_WORDS
    return named and newer.updated_at - older.updated_at >= _APART
