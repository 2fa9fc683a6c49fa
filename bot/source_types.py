"""The types of sources that a person asks of: words of a command line, or `type:repo` in a chat.

A type narrows the scope of a question, so it is a filter inside every query of the index.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from bot.errors import SettingsError
from graph.model import Scope, SourceType

DOCUMENT_TYPES = tuple(
    kind for kind in SourceType if kind not in (SourceType.SESSION, SourceType.WEB)
)
"""What a team's documents come from."""

_NAMED = r"(?:type|тип):([\w,;-]+)"
_FIRST = re.compile(rf"\s*{_NAMED}(?:\s+|\Z)", re.IGNORECASE)
_LAST = re.compile(rf"\s+{_NAMED}\s*\Z", re.IGNORECASE)
_BETWEEN = re.compile(r"[\s,;]+")


@dataclass(frozen=True, slots=True)
class Types:
    """Types that were named. `unknown` are words that name none."""

    known: frozenset[SourceType] = frozenset()
    unknown: tuple[str, ...] = ()

    @classmethod
    def named(cls, words: Iterable[str]) -> Types:
        """Each word is a type, or several with commas."""
        names = [name for word in words for name in _BETWEEN.split(word) if name]
        folded = {name: name.casefold() for name in names}
        known = frozenset(SourceType(folded[name]) for name in names if _is_type(folded[name]))
        return cls(known, tuple(name for name in names if not _is_type(folded[name])))

    def over(self, scope: Scope) -> Scope:
        """`scope` with documents of these types alone; never wider than it was."""
        if not self.known:
            return scope
        types = self.known if scope.source_types is None else self.known & scope.source_types
        return replace(scope, source_types=types)

    def before(self, question: str) -> str:
        """The question as it would be typed in a chat."""
        return f"type:{','.join(sorted(self.known))} {question}" if self.known else question


def named_types(words: Sequence[str]) -> Types:
    """The types of sources that a person named. Raises SettingsError."""
    types = Types.named(words)
    if types.unknown:
        known = ", ".join(sorted(DOCUMENT_TYPES))
        raise SettingsError(
            f"There is no type of source {types.unknown[0]!r}.", f"Use one of: {known}."
        )
    return types


def document_types(words: Sequence[str]) -> frozenset[SourceType]:
    """The types that a person named, or all types of documents. Raises SettingsError."""
    return named_types(words).known or frozenset(DOCUMENT_TYPES)


def split_types(text: str) -> tuple[str, Types]:
    """A question without `type:repo` in front of it or behind it, and what that named.

    What stands behind a question and names no type is a part of it.
    """
    names: list[str] = []
    while found := _FIRST.match(text):
        names.append(found[1])
        text = text[found.end() :]
    while (found := _LAST.search(text)) and not Types.named([found[1]]).unknown:
        names.append(found[1])
        text = text[: found.start()]
    return text.strip() if names else text, Types.named(names)


def _is_type(name: str) -> bool:
    return name in DOCUMENT_TYPES
