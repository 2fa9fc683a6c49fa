"""Labelled questions, one JSON object a line."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bot.errors import SourceError


@dataclass(frozen=True, slots=True)
class Part:
    """One fact that the answer needs: any of `documents` holds it."""

    documents: frozenset[str]
    quote: str = ""


@dataclass(frozen=True, slots=True)
class Row:
    """A question with what a right answer needs. Paths are relative to the documents' folder."""

    id: str
    question: str
    lang: str
    category: str
    answerable: bool
    coverage: str  # "full", "half" or "none": how much of the question the documents answer
    parts: tuple[Part, ...]
    type: str = ""
    gate: str = ""  # "must_answer" or "must_abstain": a release may not get these wrong

    @property
    def full(self) -> bool:
        return self.answerable and self.coverage != "half"


def load_rows(path: Path) -> list[Row]:
    """Raises SourceError naming the file and line of what cannot be read."""
    return [_row(item, path, line) for line, item in load_objects(path)]


def load_objects(
    path: Path, needed: str = "question", kind: type = str
) -> list[tuple[int, dict[str, Any]]]:
    """(line number, object) for each line of a JSONL file.

    Raises SourceError, also for a line without the field `needed` of this kind.
    """
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise SourceError(f"cannot read {path}: {error}", "name a JSONL file in UTF-8") from None
    found: list[tuple[int, dict[str, Any]]] = []
    for number, line in enumerate(text.split("\n"), 1):  # U+2028 in a text ends no line
        if line.strip():
            found.append((number, _object(line, path, number, needed, kind)))
    if not found:
        raise SourceError(f"{path} holds no questions", "one JSON object a line is expected")
    return found


def _object(line: str, path: Path, number: int, needed: str, kind: type) -> dict[str, Any]:
    try:
        item = json.loads(line)
    except ValueError as error:
        raise SourceError(f"{path}:{number}: {error}", "one JSON object a line") from None
    if not isinstance(item, dict) or not isinstance(item.get(needed), kind):
        raise SourceError(f'{path}:{number}: no "{needed}"', f'every line needs a "{needed}"')
    return item


def _row(item: dict[str, Any], path: Path, line: int) -> Row:
    fields = Fields(item, f"{path}:{line}")
    parts = load_parts(fields)
    answerable = fields.flag("answerable", bool(parts))
    return Row(
        id=fields.text("id") or f"{path.stem}:{line}",
        question=fields.text("question"),
        lang=fields.text("lang"),
        category=fields.text("category"),
        answerable=answerable,
        coverage=fields.text("coverage") or ("full" if answerable else "none"),
        parts=parts,
        type=fields.text("type"),
        gate=fields.text("gate"),
    )


def load_parts(fields: Fields) -> tuple[Part, ...]:
    """The facts that an answer needs, from `gold_parts` or from `gold_docs`."""
    if facts := fields.objects("gold_parts"):
        return tuple(
            Part(frozenset((fact.required("doc"), *fact.texts("alt_docs"))), fact.text("quote"))
            for fact in facts
        )
    alternatives = fields.texts("alt_docs")
    return tuple(Part(frozenset((path, *alternatives))) for path in fields.texts("gold_docs"))


class Fields:
    """The fields of one JSON object. Raises SourceError at `place` for a value of another kind."""

    def __init__(self, item: dict[str, Any], place: str) -> None:
        self._item, self._place = item, place

    def text(self, name: str) -> str:
        value = self._item.get(name)
        if value is None:
            return ""
        return str(self._checked(name, value, isinstance(value, str | int), "a text"))

    def required(self, name: str) -> str:
        value = self.text(name)
        self._checked(name, value, bool(value), "a text")
        return value

    def flag(self, name: str, default: bool) -> bool:
        value = self._item.get(name)
        value = default if value is None else value
        return bool(self._checked(name, value, isinstance(value, bool), "true or false"))

    def texts(self, name: str) -> list[str]:
        values = self._item.get(name) or []
        right = isinstance(values, list) and all(isinstance(value, str) for value in values)
        return list(self._checked(name, values, right, "a list of texts"))

    def object(self, name: str) -> Fields:
        value = self._item.get(name)
        return Fields(self._checked(name, value, isinstance(value, dict), "an object"), self._place)

    def objects(self, name: str) -> list[Fields]:
        values = self._item.get(name) or []
        right = isinstance(values, list) and all(isinstance(value, dict) for value in values)
        self._checked(name, values, right, "a list of objects")
        return [Fields(value, self._place) for value in values]

    def _checked(self, name: str, value: Any, right: bool, wanted: str) -> Any:
        if not right:
            raise SourceError(f'{self._place}: "{name}" must be {wanted}', "correct the line")
        return value
