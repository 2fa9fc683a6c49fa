"""Names of alerts, services and documents, however they are typed.

KubePodCrashLooping, kube-pod-crash-looping and "kube pod crash looping" are one name: case and
separators do not count, nor do words that only say what kind of thing it is.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from enum import IntEnum
from pathlib import PurePosixPath

from graph.model import Passage
from graph.text import WORD, fold, normalise, parts, stem, tokens

_KINDS = frozenset(
    [
        *("runbook", "runbooks", "playbook", "alert", "alerts", "service", "the", "a", "for"),
        *("ранбук", "инструкция", "алерт", "сервис", "алерта", "сервиса", "по", "для"),
    ]
)
_JOINERS = ("", "-", "_", ".", "/", ":")
_LANGUAGES = frozenset({"en", "ru"})  # suffixes of file names
_SHORTEST, _LONGEST, _MOST = 2, 20, 12  # letters of a word inside a name, and words in it
_NAME = 60  # letters; longer "names" are hashes and dumps
_HEADINGS = " · "  # between the names of sections that share a chunk


class Fit(IntEnum):
    """How a document bears a name, best first."""

    TITLE = 0  # the whole title or file name
    HEADING = 1  # the whole heading of a section
    PART = 2  # within a title, a file name or a heading
    TEXT = 3  # an identifier in the text


@dataclass(frozen=True, slots=True)
class Name:
    """`pieces` are lower-case words and parts of words."""

    pieces: tuple[str, ...]

    @classmethod
    def of(cls, text: str) -> Name:
        found = tuple(_pieces(text))
        telling = tuple(piece for piece in found if piece not in _KINDS)
        return cls(telling or found)

    def cut(self, known: Callable[[str], bool]) -> Name:
        """A name typed as one word, cut into `known` words: kubepodcrashlooping."""
        if len(self.pieces) != 1 or len(self.pieces[0]) > _NAME:
            return self
        found = _cut(self.pieces[0], known)
        return Name(found) if found else self

    @property
    def terms(self) -> tuple[str, ...]:
        """The analyzer's tokens for every way in which documents may write the name."""
        spelt = [joiner.join(self.pieces) for joiner in _JOINERS]
        wholes = [f"={word}" for word in spelt if len(word) > _SHORTEST]
        return tuple(dict.fromkeys([*wholes, *tokens(" ".join(self.pieces))]))

    @property
    def distinct(self) -> bool:
        """More than one plain word, so that its mention in a text tells something."""
        return len(self.pieces) > 1 or any(ch.isdigit() for ch in "".join(self.pieces))

    def fits(self, passage: Passage) -> Fit | None:
        if not self.pieces:
            return None
        titles = (passage.title, _file_name(passage.document))
        sections = [part for name in passage.heading for part in name.split(_HEADINGS)]
        if any(self._is(title) for title in titles):
            return Fit.TITLE
        if any(self._is(section) for section in sections):
            return Fit.HEADING
        if any(self._within(tuple(_pieces(name))) for name in (*titles, *sections)):
            return Fit.PART
        if self.distinct and self._within(tuple(_pieces(passage.text))):
            return Fit.TEXT
        return None

    def _is(self, text: str) -> bool:
        other = Name.of(text)
        return "".join(other.pieces) == "".join(self.pieces) or _stems(other.pieces) == _stems(
            self.pieces
        )

    def _within(self, pieces: Sequence[str]) -> bool:
        """Whether neighbouring pieces spell the name."""
        return _spells(pieces, "".join(self.pieces)) or _spells(
            [stem(piece) for piece in pieces], _stems(self.pieces)
        )


def _pieces(text: str) -> Iterator[str]:
    for word in WORD.findall(normalise(text)):
        yield from map(fold, parts(word))


def _stems(pieces: Sequence[str]) -> str:
    return "".join(map(stem, pieces))


def _spells(pieces: Sequence[str], wanted: str) -> bool:
    for start, first in enumerate(pieces):
        spelt, place = first, start + 1
        while len(spelt) < len(wanted) and place < len(pieces) and wanted.startswith(spelt):
            spelt += pieces[place]
            place += 1
        if spelt == wanted:
            return True
    return False


def _cut(word: str, known: Callable[[str], bool]) -> tuple[str, ...]:
    """`word` as the fewest known words, () when it is none."""
    best: list[tuple[str, ...] | None] = [()]
    for end in range(1, len(word) + 1):
        options = [
            (*before, word[start:end])
            for start in range(max(0, end - _LONGEST), end - _SHORTEST + 1)
            if (before := best[start]) is not None
            and len(before) < _MOST
            and known(stem(word[start:end]))
        ]
        best.append(min(options, key=len, default=None))
    return best[-1] or ()


def _file_name(document: str) -> str:
    name = PurePosixPath(document)
    stem_, _, language = name.stem.rpartition(".")
    return stem_ if stem_ and language in _LANGUAGES else name.stem


_CLEANED = re.compile(
    r"^(?:(?:for|on|about|to|the|для|по|про|о|об)\s+)+|[\"'`«»“”?!.,;:\s]+$|^[\"'`«»“”\s:]+",
    re.IGNORECASE,
)


def asked_name(text: str) -> str:
    """What somebody asks for, without the words and marks around it: "for `redis`?"."""
    before = ""
    while text != before:
        before, text = text, _CLEANED.sub("", text)
    return text
