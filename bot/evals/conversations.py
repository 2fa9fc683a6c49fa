"""Labelled conversations: turns, a last message, and what it means. One JSON object a line."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bot.errors import SourceError
from bot.evals.rows import Fields, Part, load_objects, load_parts
from graph.followup import ASKER
from graph.model import Turn
from graph.text import fold, normalise

LONGEST = 2
"""A resolved question may be so many times as long as the labelled one: pasting all is no skill."""


@dataclass(frozen=True, slots=True)
class Conversation:
    """A last message with its history, and what its self-contained form has to say."""

    id: str
    kind: str
    lang: str
    history: tuple[Turn, ...]
    last: str
    standalone: str  # one good wording of the last message
    must_have: tuple[tuple[str, ...], ...]  # of each group one spelling
    must_not: tuple[str, ...]
    parts: tuple[Part, ...]  # what documents hold of the answer

    @property
    def stands_alone(self) -> bool:
        """True when the last message has to pass unchanged."""
        return same(self.standalone, self.last)

    def missing(self, resolved: str) -> tuple[str, ...]:
        """The first spelling of each group that `resolved` lacks; case and ё do not count."""
        said = fold(resolved)
        lacking = (group for group in self.must_have if not any(fold(w) in said for w in group))
        return tuple(group[0] for group in lacking)

    def forbidden(self, resolved: str) -> tuple[str, ...]:
        said = fold(resolved)
        return tuple(word for word in self.must_not if fold(word) in said)

    def too_long(self, resolved: str) -> bool:
        return not self.stands_alone and len(resolved) > LONGEST * len(self.standalone)


def same(first: str, second: str) -> bool:
    """True when two texts differ in nothing but their notation of white space and characters."""
    return normalise(first).split() == normalise(second).split()


def load_conversations(path: Path) -> list[Conversation]:
    """Raises SourceError naming the file and line of what cannot be read."""
    return [_conversation(item, path, line) for line, item in load_objects(path, "last", dict)]


def _conversation(item: dict[str, Any], path: Path, line: int) -> Conversation:
    place = f"{path}:{line}"
    fields = Fields(item, place)
    last = fields.object("last")
    asker, text = last.required("who"), last.required("text")
    turns = [(turn.required("who"), turn.text("text")) for turn in fields.objects("turns")]
    return Conversation(
        id=fields.text("id") or f"{path.stem}:{line}",
        kind=fields.text("kind") or "all",
        lang=fields.text("lang"),
        history=tuple(Turn(ASKER if who == asker else who, said) for who, said in turns),
        last=text,
        standalone=fields.required("standalone"),
        must_have=_groups(item.get("must_have") or [], place),
        must_not=tuple(fields.texts("must_not")),
        parts=load_parts(fields),
    )


def _groups(value: Any, place: str) -> tuple[tuple[str, ...], ...]:
    groups = value if isinstance(value, list) else [None]
    for group in groups:
        if not isinstance(group, list) or not all(isinstance(word, str) for word in group):
            raise SourceError(
                f'{place}: "must_have" must be a list of lists of texts', "correct the line"
            )
    return tuple(tuple(group) for group in groups if group)
