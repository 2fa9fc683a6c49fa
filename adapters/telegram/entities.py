"""Text with entities, as Telegram wants them: offsets in UTF-16 units, nested or apart."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace

from adapters.telegram.inert import live_ranges

_OPAQUE = frozenset({"code", "pre"})  # may stand in nothing but a quotation
_QUOTE = "blockquote"


@dataclass(frozen=True, slots=True)
class Entity:
    """One of Telegram's message entities. The unit of `offset` and `length` is UTF-16."""

    type: str
    offset: int
    length: int
    url: str = ""
    language: str = ""

    @property
    def end(self) -> int:
        return self.offset + self.length

    def as_dict(self) -> dict[str, str | int]:
        """In the form of the Bot API."""
        fields: dict[str, str | int] = {
            "type": self.type,
            "offset": self.offset,
            "length": self.length,
        }
        extra = {"url": self.url, "language": self.language}
        return {**fields, **{name: value for name, value in extra.items() if value}}


@dataclass(frozen=True, slots=True)
class FormattedText:
    text: str
    entities: tuple[Entity, ...] = ()

    @property
    def units(self) -> int:
        """Its length as Telegram counts it."""
        return utf16(self.text)


def utf16(text: str) -> int:
    """The length of a text in UTF-16 units."""
    return len(text) + sum(char > "\uffff" for char in text)


class TextBuilder:
    """Collects text and the entities over it."""

    def __init__(self) -> None:
        self._pieces: list[str] = []
        self._entities: list[Entity] = []
        self._at = 0

    @property
    def at(self) -> int:
        """The length so far, in UTF-16 units."""
        return self._at

    def add(self, text: str) -> None:
        self._pieces.append(text)
        self._at += utf16(text)

    def cover(self, kind: str, start: int, *, url: str = "", language: str = "") -> None:
        """An entity from `start` to the end of the text so far; none over nothing."""
        if self._at > start:
            self._entities.append(Entity(kind, start, self._at - start, url, language))

    @contextmanager
    def covered(self, kind: str, *, language: str = "") -> Iterator[None]:
        start = self._at
        yield
        self.cover(kind, start, language=language)

    def build(self) -> FormattedText:
        """The text with entities that Telegram takes as they are; nothing else in it is live."""
        text = "".join(self._pieces)
        raw = text.encode("utf-16-le")
        entities = [e for e in _resolved(text, self._entities) if _covers_words(raw, e)]
        return FormattedText(text, tuple(sorted(entities, key=_order)))


def _covers_words(raw: bytes, entity: Entity) -> bool:
    return bool(raw[2 * entity.offset : 2 * entity.end].decode("utf-16-le").strip())


def _order(entity: Entity) -> tuple[int, int, str]:
    return entity.offset, -entity.length, entity.type


def _resolved(text: str, entities: Sequence[Entity]) -> list[Entity]:
    code = [entity for entity in entities if entity.type in _OPAQUE]
    links = [entity for entity in entities if entity.type == "text_link"]
    code = [entity for entity in code if not _meets(entity, links) or entity.type == "pre"]
    code += [entity for entity in _inert(text) if not _meets(entity, [*code, *links])]
    result = [*code, *links]
    for kind in sorted({entity.type for entity in entities} - _OPAQUE - {"text_link"}):
        ranges = _united([entity for entity in entities if entity.type == kind])
        result += ranges if kind == _QUOTE else _without(ranges, code)
    return result


def _inert(text: str) -> Iterator[Entity]:
    offsets = [0]
    for char in text:
        offsets.append(offsets[-1] + (2 if char > "\uffff" else 1))
    for start, end in live_ranges(text):
        yield Entity("code", offsets[start], offsets[end] - offsets[start])


def _meets(entity: Entity, others: Iterable[Entity]) -> bool:
    return any(entity.offset < other.end and other.offset < entity.end for other in others)


def _united(entities: Sequence[Entity]) -> list[Entity]:
    """Entities of one type, those that overlap as one."""
    result: list[Entity] = []
    for entity in sorted(entities, key=_order):
        if result and entity.offset <= result[-1].end:
            end = max(result[-1].end, entity.end)
            result[-1] = replace(result[-1], length=end - result[-1].offset)
        else:
            result.append(entity)
    return result


def _without(entities: Sequence[Entity], holes: Sequence[Entity]) -> Iterator[Entity]:
    """What is left of entities around `holes`: bold text cannot contain code."""
    ordered = sorted(holes, key=_order)
    for entity in entities:
        start = entity.offset
        for hole in ordered:
            if hole.end <= start or hole.offset >= entity.end:
                continue
            if hole.offset > start:
                yield replace(entity, offset=start, length=hole.offset - start)
            start = hole.end
        if start < entity.end:
            yield replace(entity, offset=start, length=entity.end - start)
