"""Which of the given documents are older editions of others, so that old values do not win.

Three signs: the same file name with another year or version, a text that says it supersedes the
other, and the same title in the same folder with an earlier date.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from datetime import timedelta
from pathlib import PurePosixPath

from graph.model import Passage
from graph.text import content_words, fold

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
_TITLE_WORDS = 2  # a one-word title ("Overview") names no document


def older_editions(given: Sequence[Passage]) -> Mapping[int, int]:
    """For each older edition among `given` the index of the newest edition beside it."""
    found: dict[int, int] = {}
    for old, older in enumerate(given):
        newest = None
        for new, newer in enumerate(given):
            if (older.source, older.document) == (newer.source, newer.document):
                continue
            better = newest is None or _is_newer(newer, given[newest])
            if _is_newer(newer, older) and better:
                newest = new
        if newest is not None:
            found[old] = newest
    return found


def _is_newer(newer: Passage, older: Passage) -> bool:
    stem, edition = _edition(newer)
    other_stem, other = _edition(older)
    if edition and other and stem == other_stem:
        return edition > other
    if _supersedes(newer, older):
        return True
    return _later(newer, older) and not _supersedes(older, newer)


def _edition(passage: Passage) -> tuple[str, tuple[int, ...]]:
    name = PurePosixPath(passage.document).stem
    match = _EDITION.search(name)
    if match is None:
        return name.lower(), ()
    number = match.group(1) or match.group(2)
    rest = re.sub(r"[\W_]+", " ", name[: match.start()] + " " + name[match.end() :])
    return fold(rest).strip(), tuple(int(part) for part in re.split(r"[._]", number))


def _supersedes(newer: Passage, older: Passage) -> bool:
    name = PurePosixPath(older.document)
    names = {fold(name.name), fold(name.stem), fold(older.title)} - {""}
    stem, edition = _edition(older)
    same_stem = stem == _edition(newer)[0]
    for match in _SUPERSEDES.finditer(newer.text):
        said = fold(match.group(1))
        if any(re.search(rf"(?<!\w){re.escape(known)}(?!\w)", said) for known in names):
            return True
        if same_stem and edition and ".".join(map(str, edition)) in said:
            return True
    return False


def _later(newer: Passage, older: Passage) -> bool:
    if newer.updated_at is None or older.updated_at is None:
        return False
    same_title = fold(newer.title) == fold(older.title)
    named = len(content_words(newer.title)) >= _TITLE_WORDS
    return (
        same_title
        and named
        and _shelf(newer) == _shelf(older)
        and newer.updated_at - older.updated_at >= _APART
    )


def _shelf(passage: Passage) -> tuple[str, PurePosixPath]:
    """Pages of one name in two folders are about two things, however old each is."""
    return passage.source, PurePosixPath(passage.document).parent
