"""What a sync did, in words for people: reasons, problems, counts."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from bot.ports import Skipped
from bot.terminal import printable


class Reason(StrEnum):
    """Why a file was not indexed."""

    NO_TEXT = "no text found"
    BINARY = "binary"
    ENCODING = "encoding not recognised"
    TOO_LARGE = "too large"
    LFS_POINTER = "LFS content not fetched"
    UNSUPPORTED = "format not supported"
    UNREADABLE = "unreadable"
    OUTSIDE = "link leads out of the folder"
    LINK = "link to a file that is indexed anyway"
    HIDDEN = "hidden"
    PACKAGES = "installed packages"
    GIT_DATA = "git data"
    SECRET_FILE = "secret file"  # noqa: S105 - a reason, not a password
    SUBMODULE = "submodule not fetched"
    SAME_NAME = "another file has the same name"
    ENCRYPTED = "encrypted"
    MISNAMED = "content does not fit the name"
    BROKEN = "broken"
    UNSAFE = "unsafe"
    OVER_LIMIT = "over a limit"
    ATTACHMENT = "attachment of an export"


SETTLED = frozenset(Reason) - {
    Reason.BROKEN, Reason.OVER_LIMIT, Reason.TOO_LARGE, Reason.UNREADABLE, Reason.UNSAFE,
}  # fmt: skip
"""Reasons that lie in the content alone: neither a limit nor chance has a part in them."""


@dataclass(frozen=True, slots=True)
class Problem:
    """Something in an indexed file that its owner should know. `line` is 0 when none applies."""

    path: str
    line: int
    message: str

    def __str__(self) -> str:
        place = f"{self.path}:{self.line}" if self.line else self.path
        return f"{place}: {self.message}"


@dataclass(frozen=True, slots=True)
class SyncReport:
    """The result of one sync of one source.

    `chunks` were stored by this run, `duplicates` were found to be stored elsewhere already,
    `embedded` texts were sent to the embedder. `masked` names each place of a masked secret.
    `expanded` documents have lines of the chat model beside them now; `without_lines` should have,
    and the model was away.
    """

    source: str
    indexed: int = 0
    unchanged: int = 0
    removed: int = 0
    chunks: int = 0
    duplicates: int = 0
    embedded: int = 0
    expanded: int = 0
    without_lines: int = 0
    skipped: tuple[Skipped, ...] = ()
    problems: tuple[Problem, ...] = ()
    masked: tuple[Problem, ...] = ()
    decoded: tuple[Problem, ...] = ()  # files in another encoding than UTF-8
    seconds: float = 0.0

    @property
    def changed(self) -> bool:
        """True when the index is not what it was before."""
        return bool(self.indexed or self.removed)

    def summary(self) -> str:
        return (
            f"{self.source}: {self.indexed} indexed, {self.unchanged} unchanged, "
            f"{len(self.skipped)} skipped, {self.removed} removed; "
            f"{self.chunks} chunks stored, {self.embedded} embedded in {self.seconds:.1f} s"
        )

    def lines(self, limit: int = 5) -> Iterator[str]:
        """The report for a terminal; at most `limit` places under each heading, 0 for all."""
        yield from map(printable, self._lines(limit))

    def _lines(self, limit: int) -> Iterator[str]:
        yield self.summary()
        if self.expanded:
            yield f"  with lines of the model: {self.expanded}"
        if self.without_lines:
            why = "the model was away (see belay doctor), the next sync asks again"
            yield f"  without lines, {why}: {self.without_lines}"
        by_reason: dict[str, list[str]] = defaultdict(list)
        for item in self.skipped:
            by_reason[item.reason].append(item.path + (f" ({item.detail})" if item.detail else ""))
        for reason, paths in sorted(by_reason.items()):
            yield f"  skipped, {reason}: {len(paths)}"
            yield from _listed(paths, limit)
        for title, places in (
            ("problems", self.problems),
            ("secrets masked", self.masked),
            ("decoded", self.decoded),
        ):
            if places:
                yield f"  {title}: {len(places)}"
                yield from _listed([str(place) for place in places], limit)


@dataclass(slots=True)
class Tally:
    """What has happened so far in a sync."""

    indexed: int = 0
    unchanged: int = 0
    removed: int = 0
    chunks: int = 0
    duplicates: int = 0
    embedded: int = 0
    expanded: int = 0
    without_lines: int = 0
    skipped: dict[str, Skipped] = field(default_factory=dict)
    problems: list[Problem] = field(default_factory=list)
    masked: list[Problem] = field(default_factory=list)
    decoded: list[Problem] = field(default_factory=list)

    def report(self, source: str, seconds: float) -> SyncReport:
        return SyncReport(
            source=source,
            indexed=self.indexed,
            unchanged=self.unchanged,
            removed=self.removed,
            chunks=self.chunks,
            duplicates=self.duplicates,
            embedded=self.embedded,
            expanded=self.expanded,
            without_lines=self.without_lines,
            skipped=tuple(self.skipped.values()),
            problems=tuple(self.problems),
            masked=tuple(self.masked),
            decoded=tuple(self.decoded),
            seconds=seconds,
        )


def _listed(places: Sequence[str], limit: int) -> Iterator[str]:
    shown = places[:limit] if limit else places
    yield from (f"    {place}" for place in shown)
    if len(shown) < len(places):
        yield f"    and {len(places) - len(shown)} more"
