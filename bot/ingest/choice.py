"""Which paths of a tree belong to a source: patterns of the owner, and what no source offers."""

from __future__ import annotations

from collections.abc import Sequence
from fnmatch import fnmatchcase
from pathlib import PurePosixPath

from bot.ingest.report import Reason
from bot.ingest.secrets import is_secret_file

GIT = ".git"
_PACKAGES = frozenset({"node_modules", "__pycache__", "bower_components"})


class Choice:
    """`include` and `exclude` are patterns over relative paths and names, where `*` also matches
    "/"; what they leave out is not part of the source."""

    def __init__(self, include: Sequence[str] = (), exclude: Sequence[str] = ()) -> None:
        self._include, self._exclude = tuple(include), tuple(exclude)

    def __call__(self, path: str) -> bool:
        if any(_matches(path, pattern) for pattern in self._exclude):
            return False
        return not self._include or any(_matches(path, pattern) for pattern in self._include)


def refused_name(name: str, *, folder: bool) -> Reason | None:
    """Why what has this name is not looked at."""
    if name == GIT:
        return Reason.GIT_DATA
    if not folder and is_secret_file(name):
        return Reason.SECRET_FILE
    if name.startswith("."):
        return Reason.HIDDEN
    return Reason.PACKAGES if folder and name in _PACKAGES else None


def _matches(path: str, pattern: str) -> bool:
    pattern = pattern.rstrip("/")
    return (
        fnmatchcase(path, pattern)
        or fnmatchcase(path, f"{pattern}/*")
        or fnmatchcase(PurePosixPath(path).name, pattern)
    )
