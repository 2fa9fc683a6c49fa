"""Labelled questions of people in places, and what must not be shown to them.

One JSON object a line: who asks where and when, the members of the place, the outcomes that are
right, and strings of documents that somebody there may not read.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from bot.audience import DEFAULT_TENANT, Reader
from bot.errors import SourceError
from bot.evals.rows import Fields, load_objects
from graph.text import fold

_SPACE = re.compile(r"[\s\u00a0\u202f]+")


@dataclass(frozen=True, slots=True)
class Member:
    name: str
    reader: Reader


@dataclass(frozen=True, slots=True)
class Spot:
    """Where it is asked. `private`: one person and the bot."""

    id: str
    private: bool
    members: tuple[Member, ...]


@dataclass(frozen=True, slots=True)
class Case:
    """`share`: the asker got the answer in private and posts it to `place`. Documents are paths
    under the folder, or "session:ID" for an earlier conversation."""

    id: str
    category: str
    lang: str
    share: bool
    asker: Member
    place: Spot
    at: datetime
    question: str
    hidden: tuple[str, ...]
    expected: str  # outcome
    accepted: tuple[str, ...]
    sources: tuple[str, ...]
    other_sources: tuple[str, ...]  # any of them will do as well
    must_contain: tuple[tuple[str, ...], ...]  # of each group one spelling

    def lacking(self, text: str) -> tuple[str, ...]:
        """The first spelling of each group that the answer lacks."""
        said = plain(text)
        groups = (g for g in self.must_contain if not any(plain(word) in said for word in g))
        return tuple(group[0] for group in groups)

    def well_sourced(self, cited: Iterable[str]) -> bool:
        """Whether all that the answer needs is cited, or something that holds it as well."""
        found = set(cited)
        return found >= set(self.sources) or bool(found & set(self.other_sources))


def leaked(hidden: Iterable[str], texts: Iterable[str]) -> tuple[str, ...]:
    """Those of `hidden` that stand in any of `texts`, whatever their case and white space. A
    number counts only as a whole."""
    patterns = [(word, _pattern(word)) for word in hidden if word.strip()]
    found: dict[str, None] = {}
    for text in texts:
        said = plain(text)
        found.update((word, None) for word, pattern in patterns if pattern.search(said))
    return tuple(found)


def _pattern(word: str) -> re.Pattern[str]:
    wanted = plain(word)
    before = r"(?<!\d)(?<!\d[.,])" if wanted[0].isdigit() else ""
    after = r"(?!\d)" if wanted[-1].isdigit() else ""
    return re.compile(before + re.escape(wanted) + after)


def plain(text: str) -> str:
    return fold(_SPACE.sub(" ", text))


def load_cases(path: Path) -> list[Case]:
    """Raises SourceError naming the file and line of what cannot be read."""
    return [_case(item, path, line) for line, item in load_objects(path)]


def _case(item: dict[str, Any], path: Path, line: int) -> Case:
    place = f"{path}:{line}"
    fields = Fields(item, place)
    names = ("must_not_reveal", "must_not_variants", "must_not_derive")
    expected = fields.required("expected_outcome")
    return Case(
        id=fields.text("id") or f"{path.stem}:{line}",
        category=fields.text("category") or "all",
        lang=fields.text("lang"),
        share=fields.text("action") == "share",
        asker=member(fields.object("asker")),
        place=_spot(fields.object("place")),
        at=moment(fields.required("at"), place),
        question=fields.required("question"),
        hidden=tuple(dict.fromkeys(word for name in names for word in fields.texts(name))),
        expected=expected,
        accepted=tuple(fields.texts("accept_outcomes")) or (expected,),
        sources=tuple(fields.texts("expected_source")),
        other_sources=tuple(fields.texts("alt_sources")),
        must_contain=tuple(_groups(item.get("answer_must_contain") or [], place)),
    )


def _spot(fields: Fields) -> Spot:
    members = tuple(member(item) for item in fields.objects("members"))
    return Spot(fields.required("id"), fields.text("kind") == "dm", members)


def member(fields: Fields) -> Member:
    reader = Reader(
        fields.required("level"),
        frozenset(fields.texts("labels")),
        fields.text("tenant") or DEFAULT_TENANT,
        fields.flag("guest", False),
    )
    return Member(fields.required("name"), reader)


def moment(text: str, place: str) -> datetime:
    try:
        found = datetime.fromisoformat(text)
    except ValueError:
        raise SourceError(f"{place}: {text!r} is no moment", "as in 2026-09-15T03:10Z") from None
    return found if found.tzinfo else found.replace(tzinfo=UTC)


def _groups(value: Any, place: str) -> Iterator[tuple[str, ...]]:
    for group in value if isinstance(value, list) else [None]:
        if not isinstance(group, list) or not all(isinstance(word, str) for word in group):
            raise SourceError(
                f'{place}: "answer_must_contain" must be a list of lists of texts',
                "correct the line",
            )
        if group:
            yield tuple(group)
